package terminal

import "tandem/engine/api"

// A Motion is a way to move the cursor of scroll mode.
type Motion uint8

// The motions; what they count is their own unit.
const (
	LineDown Motion = iota
	LineUp
	CellLeft
	CellRight
	NextWord
	PreviousWord
	WordEnd
	LineStart
	LineText
	LineEnd
	ScreenTop
	ScreenMiddle
	ScreenBottom
	NextParagraph
	PreviousParagraph
	PageDown
	PageUp
	HalfDown
	HalfUp
	Oldest
	Newest
)

// Move moves the cursor, as often as the number says that was typed before.
func (t *Terminal) Move(m Motion) {
	s := &t.scroll
	if !s.active {
		return
	}
	s.wheel = false
	n, counted := t.Count()
	switch m {
	case LineDown:
		t.vertical(n)
	case LineUp:
		t.vertical(-n)
	case PageDown, PageUp, HalfDown, HalfUp:
		t.ScrollPages(min(n, 1000) * [...]int{2, -2, 1, -1}[m-PageDown])
	case ScreenTop, ScreenMiddle, ScreenBottom:
		t.toScreen(m, n)
	case Newest:
		if counted {
			t.Go(api.Place{Line: min(t.State().Oldest+int64(n)-1, t.lastLine())})
			break
		}
		t.ScrollEnd()
	case Oldest:
		t.ScrollHome()
	default:
		t.inText(m, n)
	}
	t.tellAnchors()
}

// lastLine is the last line that has text or the program's cursor.
func (t *Terminal) lastLine() int64 {
	st := t.State()
	last := st.First + int64(min(st.Cursor.Y, st.Rows-1))
	for n := st.First + int64(st.Rows) - 1; n > last; n-- {
		if l, _ := t.Feed.Screen.line(n); len(l.Runs) > 0 {
			return n
		}
	}
	return last
}

func (t *Terminal) vertical(lines int) {
	s := &t.scroll
	st := t.State()
	s.cursor.Line = max(min(s.cursor.Line+int64(lines), max(t.lastLine(), s.cursor.Line)), t.oldest(st))
	t.keepCursor()
	t.keepColumn()
	t.fetch()
}

// keepColumn puts the cursor back into the column that it came from, as far as
// the line goes.
func (t *Terminal) keepColumn() {
	s := &t.scroll
	s.cursor.Cell = s.want
	if s.sel.kind == SelectBlock {
		return
	}
	row, ok := t.row(s.cursor.Line)
	if !ok {
		return
	}
	if i := at(row, s.want); i < len(row) {
		s.cursor.Cell = row[i].x
	} else {
		s.cursor.Cell = lastCell(row)
	}
}

// lastCell is the column of a row's last character.
func lastCell(row []cluster) int {
	if len(row) == 0 {
		return 0
	}
	return row[len(row)-1].x
}

// row is what a line shows, without blanks at its end; ok is false when it is
// not held.
func (t *Terminal) row(n int64) (row []cluster, ok bool) {
	l, ok := t.Feed.Screen.line(n)
	row = clusters(nil, l)
	for len(row) > 0 && row[len(row)-1].class() == blankClass && !l.Wrapped {
		row = row[:len(row)-1]
	}
	return row, ok
}

func (t *Terminal) toScreen(m Motion, n int) {
	s := &t.scroll
	h := t.size.Rows
	row := min(n, h) - 1
	switch m {
	case ScreenMiddle:
		row = (h - 1) / 2
	case ScreenBottom:
		row = h - min(n, h)
	}
	s.cursor.Line = min(s.top+int64(row), max(t.lastLine(), s.top))
	t.keepColumn()
}

// inText does the motions that depend on the text.
func (t *Terminal) inText(m Motion, n int) {
	w := t.walk(t.scroll.cursor)
	before := w.place()
	for range n {
		from := w.place()
		switch m {
		case CellLeft:
			w.left()
		case CellRight:
			w.right()
		case NextWord:
			w.nextWord()
		case PreviousWord:
			w.previousWord()
		case WordEnd:
			w.wordEnd()
		case LineStart, LineText:
			w.lineStart()
			if m == LineText {
				w.skipBlanks()
			}
		case LineEnd:
			w.lineEnd()
		case NextParagraph:
			w.paragraph(1)
		case PreviousParagraph:
			w.paragraph(-1)
		}
		if w.place() == from {
			break
		}
	}
	if w.place() != before {
		t.Go(w.place())
	}
	if m == LineEnd {
		t.scroll.want = 1 << 20
	}
}

// A walker goes over the clusters of the lines that are held. Lines that
// wrapped are one for it.
type walker struct {
	t    *Terminal
	line int64
	row  []cluster
	i    int // in row; 0 in an empty one
	last int64
}

func (t *Terminal) walk(p api.Place) *walker {
	w := &walker{t: t, line: p.Line, last: t.lastLine()}
	w.row, _ = t.row(p.Line)
	w.i = max(min(at(w.row, p.Cell), len(w.row)-1), 0)
	return w
}

func (w *walker) place() api.Place {
	p := api.Place{Line: w.line}
	if w.i < len(w.row) {
		p.Cell = w.row[w.i].x
	}
	return p
}

func (w *walker) class() class {
	if w.i >= len(w.row) {
		return blankClass
	}
	return w.row[w.i].class()
}

// wrapped reports whether a line goes on in the next one.
func (w *walker) wrapped(n int64) bool {
	l, ok := w.t.Feed.Screen.line(n)
	return ok && l.Wrapped
}

// enter goes to another row, if it is held.
func (w *walker) enter(n int64, atEnd bool) bool {
	row, ok := w.t.row(n)
	if !ok || n > w.last {
		return false
	}
	w.line, w.row, w.i = n, row, 0
	if atEnd {
		w.i = max(len(row)-1, 0)
	}
	return true
}

// next goes to the next cluster; broken says that a line ends between.
func (w *walker) next() (broken, ok bool) {
	if w.i+1 < len(w.row) {
		w.i++
		return false, true
	}
	broken = !w.wrapped(w.line)
	return broken, w.enter(w.line+1, false)
}

func (w *walker) previous() (broken, ok bool) {
	if w.i > 0 {
		w.i--
		return false, true
	}
	broken = !w.wrapped(w.line - 1)
	return broken, w.enter(w.line-1, true)
}

func (w *walker) right() {
	if w.i+1 < len(w.row) || w.wrapped(w.line) {
		w.next()
	}
}

func (w *walker) left() {
	if w.i > 0 || w.wrapped(w.line-1) {
		w.previous()
	}
}

func (w *walker) nextWord() {
	c := w.class()
	for {
		broken, ok := w.next()
		if !ok {
			w.i = max(len(w.row)-1, 0)
			return
		}
		if broken || w.class() != c {
			break
		}
	}
	for w.class() == blankClass {
		if _, ok := w.next(); !ok {
			return
		}
	}
}

func (w *walker) wordEnd() {
	for {
		if _, ok := w.next(); !ok {
			return
		}
		if w.class() != blankClass {
			break
		}
	}
	w.runEnd()
}

// runEnd goes to the last cluster of the class that there is here.
func (w *walker) runEnd() {
	for c := w.class(); ; {
		was := *w
		if broken, ok := w.next(); !ok || broken || w.class() != c {
			*w = was
			return
		}
	}
}

func (w *walker) previousWord() {
	for {
		if _, ok := w.previous(); !ok {
			return
		}
		if w.class() != blankClass {
			break
		}
	}
	for c := w.class(); ; {
		was := *w
		if broken, ok := w.previous(); !ok || broken || w.class() != c {
			*w = was
			return
		}
	}
}

func (w *walker) lineStart() {
	for w.wrapped(w.line-1) && w.enter(w.line-1, false) {
	}
	w.i = 0
}

func (w *walker) lineEnd() {
	for w.wrapped(w.line) && w.enter(w.line+1, false) {
	}
	w.i = max(len(w.row)-1, 0)
}

// skipBlanks goes on to the first character of the line that is none.
func (w *walker) skipBlanks() {
	was := *w
	for w.class() == blankClass {
		if broken, ok := w.next(); broken || !ok {
			*w = was
			return
		}
	}
}

// paragraph goes to the next blank line behind text, up or down.
func (w *walker) paragraph(step int64) {
	text := false
	for w.enter(w.line+step, step < 0) {
		if len(w.row) > 0 {
			text = true
		} else if text {
			return
		}
	}
	if step < 0 {
		w.i = 0
	}
}
