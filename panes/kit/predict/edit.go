package predict

// An edit applies a key to a line, as line editors do.
type edit struct {
	*Predictor
	s    Screen
	mark uint64
}

// shownCell returns the predicted content of a cell in the cursor's row.
func (e edit) shownCell(x int) Cell {
	if g, ok := e.guesses[Position{x, e.cursor.Y}]; ok {
		return g.Cell
	}
	return e.s.Cell(x, e.cursor.Y)
}

func (e edit) setGuess(x int, c Cell, pushed bool) {
	at := Position{x, e.cursor.Y}
	if e.guesses == nil {
		e.guesses = make(map[Position]guess)
	}
	e.guesses[at] = guess{c, cellAt(e.s, at).Text, e.mark, pushed}
}

// textEnd returns the column after the text that starts at x. The text ends at a gap of blanks.
func (e edit) textEnd(x int) int {
	cols, _ := e.s.Size()
	end := x
	for i := x; i < cols && i < end+gap; i++ {
		if e.shownCell(i).Text != " " {
			end = i + 1
		}
	}
	return end
}

// copyCells copies the cells from x to end.
func (e edit) copyCells(x, end int) []Cell {
	var cells []Cell
	for ; x < end; x++ {
		cells = append(cells, e.shownCell(x))
	}
	return cells
}

// typeText inserts a character. At the right margin the program may continue in the next
// row or scroll the line, so nothing is guessed there.
func (e edit) typeText(text string, width int) (told bool) {
	cols, _ := e.s.Size()
	x := e.cursor.X
	end := x
	if !e.overtype {
		end = e.textEnd(x)
	}
	if x+width > cols || (end > x && end+width >= cols) || (e.overtype && width > 1) {
		return false
	}
	rest := e.copyCells(x, end)
	e.setGuess(x, Cell{text, e.s.Pen()}, false)
	if width > 1 {
		e.setGuess(x+1, Cell{"", e.s.Pen()}, false)
	}
	for i, c := range rest {
		e.setGuess(x+width+i, c, true)
	}
	e.cursor.X += width
	if e.cursor.X == cols {
		e.RecordUnknown(e.mark)
	}
	return true
}

// eraseBack deletes the character before the cursor.
func (e edit) eraseBack() (told bool) {
	x := e.cursor.X
	end := x
	if !e.overtype {
		end = e.textEnd(x)
	}
	cols, _ := e.s.Size()
	// The line may continue in the next row.
	if end == cols || !e.moveLeft() {
		return false
	}
	width := x - e.cursor.X
	for i, c := range e.copyCells(x, end) {
		e.setGuess(e.cursor.X+i, c, true)
	}
	for i := end - width; i < end; i++ {
		e.setGuess(i, Cell{" ", e.s.Pen()}, true)
	}
	return true
}

// moveLeft moves the cursor left, but not before the start of the input.
func (e edit) moveLeft() (told bool) {
	x := e.cursor.X - 1
	if x > 0 && e.shownCell(x).Text == "" {
		x--
	}
	if e.cursor.Y != e.lineStart.Y || x < e.lineStart.X {
		return false
	}
	e.cursor.X = x
	return true
}

// moveRight moves the cursor right, but not beyond the text.
func (e edit) moveRight() (told bool) {
	x := e.cursor.X + 1
	end := e.textEnd(e.cursor.X)
	if x < end && e.shownCell(x).Text == "" {
		x++
	}
	if cols, _ := e.s.Size(); e.overtype || x > end || x >= cols {
		return false
	}
	e.cursor.X = x
	return true
}
