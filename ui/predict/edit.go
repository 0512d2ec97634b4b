package predict

// An edit is a key in a line, as editors of lines do it.
type edit struct {
	*Predictor
	s    Screen
	mark uint64
}

// cell is what a cell of the cursor's row will show.
func (e edit) cell(x int) Cell {
	if g, ok := e.guesses[Place{x, e.cursor.Y}]; ok {
		return g.Cell
	}
	return e.s.Cell(x, e.cursor.Y)
}

func (e edit) set(x int, c Cell, pushed bool) {
	at := Place{x, e.cursor.Y}
	if e.guesses == nil {
		e.guesses = make(map[Place]guess)
	}
	e.guesses[at] = guess{c, cellAt(e.s, at).Text, e.mark, pushed}
}

// end is the column behind the text that stands from x on, up to a gap.
func (e edit) end(x int) int {
	cols, _ := e.s.Size()
	end := x
	for i := x; i < cols && i < end+gap; i++ {
		if e.cell(i).Text != " " {
			end = i + 1
		}
	}
	return end
}

// rest copies the cells from x to end.
func (e edit) rest(x, end int) []Cell {
	var cells []Cell
	for ; x < end; x++ {
		cells = append(cells, e.cell(x))
	}
	return cells
}

// print types a character. At the right margin the program may go on in the next
// row, or scroll the line: that is not guessed.
func (e edit) print(text string, width int) (told bool) {
	cols, _ := e.s.Size()
	x := e.cursor.X
	end := x
	if !e.overtype {
		end = e.end(x)
	}
	if x+width > cols || end > x && end+width >= cols || e.overtype && width > 1 {
		return false
	}
	rest := e.rest(x, end)
	e.set(x, Cell{text, e.s.Pen()}, false)
	if width > 1 {
		e.set(x+1, Cell{"", e.s.Pen()}, false)
	}
	for i, c := range rest {
		e.set(x+width+i, c, true)
	}
	e.cursor.X += width
	if e.cursor.X == cols {
		e.Unknown(e.mark)
	}
	return true
}

// erase deletes the character before the cursor.
func (e edit) erase() (told bool) {
	x := e.cursor.X
	end := x
	if !e.overtype {
		end = e.end(x)
	}
	cols, _ := e.s.Size()
	if end == cols || !e.back() { // the line may go on in the next row
		return false
	}
	width := x - e.cursor.X
	for i, c := range e.rest(x, end) {
		e.set(e.cursor.X+i, c, true)
	}
	for i := end - width; i < end; i++ {
		e.set(i, Cell{" ", e.s.Pen()}, true)
	}
	return true
}

// back moves the cursor left, not beyond what was typed.
func (e edit) back() (told bool) {
	x := e.cursor.X - 1
	if x > 0 && e.cell(x).Text == "" {
		x--
	}
	if e.cursor.Y != e.left.Y || x < e.left.X {
		return false
	}
	e.cursor.X = x
	return true
}

// forth moves the cursor right, not beyond the text.
func (e edit) forth() (told bool) {
	x := e.cursor.X + 1
	end := e.end(e.cursor.X)
	if x < end && e.cell(x).Text == "" {
		x++
	}
	if cols, _ := e.s.Size(); e.overtype || x > end || x >= cols {
		return false
	}
	e.cursor.X = x
	return true
}
