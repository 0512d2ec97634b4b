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
func (s *ScrollMode) Move(m Motion) {
	if !s.active {
		return
	}
	s.wheel = false
	n, counted := s.Count()
	switch m {
	case LineDown:
		s.vertical(n)
	case LineUp:
		s.vertical(-n)
	case PageDown, PageUp, HalfDown, HalfUp:
		s.Pages(min(n, 1000) * [...]int{2, -2, 1, -1}[m-PageDown])
	case ScreenTop, ScreenMiddle, ScreenBottom:
		s.toScreen(m, n)
	case Newest:
		if counted {
			s.Go(api.Place{Line: min(s.screen.State().Oldest+int64(n)-1, s.screen.lastLine())})
			break
		}
		s.End()
	case Oldest:
		s.Home()
	default:
		s.inText(m, n)
	}
	s.tellAnchors()
}

func (s *ScrollMode) vertical(lines int) {
	st := s.screen.State()
	s.cursor.Line = max(min(s.cursor.Line+int64(lines), max(s.screen.lastLine(), s.cursor.Line)), s.oldest(st))
	s.keepCursor()
	s.keepColumn()
	s.fetch()
}

// keepColumn puts the cursor back into the column that it came from, as far as
// the line goes.
func (s *ScrollMode) keepColumn() {
	s.cursor.Cell = s.want
	if s.sel.kind == SelectBlock {
		return
	}
	row, ok := s.screen.row(s.cursor.Line)
	if !ok {
		return
	}
	if i := at(row, s.want); i < len(row) {
		s.cursor.Cell = row[i].x
	} else {
		s.cursor.Cell = lastCell(row)
	}
}

func (s *ScrollMode) toScreen(m Motion, n int) {
	h := s.height
	row := min(n, h) - 1
	switch m {
	case ScreenMiddle:
		row = (h - 1) / 2
	case ScreenBottom:
		row = h - min(n, h)
	}
	s.cursor.Line = min(s.top+int64(row), max(s.screen.lastLine(), s.top))
	s.keepColumn()
}

// inText does the motions that depend on the text.
func (s *ScrollMode) inText(m Motion, n int) {
	w := s.screen.walk(s.cursor)
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
		s.Go(w.place())
	}
	if m == LineEnd {
		s.want = 1 << 20
	}
}
