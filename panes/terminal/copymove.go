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
			t.Go(api.Place{Line: min(t.State().Oldest+int64(n)-1, t.Feed.Screen.lastLine())})
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

func (t *Terminal) vertical(lines int) {
	s := &t.scroll
	st := t.State()
	s.cursor.Line = max(min(s.cursor.Line+int64(lines), max(t.Feed.Screen.lastLine(), s.cursor.Line)), t.oldest(st))
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
	row, ok := t.Feed.Screen.row(s.cursor.Line)
	if !ok {
		return
	}
	if i := at(row, s.want); i < len(row) {
		s.cursor.Cell = row[i].x
	} else {
		s.cursor.Cell = lastCell(row)
	}
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
	s.cursor.Line = min(s.top+int64(row), max(t.Feed.Screen.lastLine(), s.top))
	t.keepColumn()
}

// inText does the motions that depend on the text.
func (t *Terminal) inText(m Motion, n int) {
	w := t.Feed.Screen.walk(t.scroll.cursor)
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
