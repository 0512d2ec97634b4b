package terminal

import (
	"tandem/engine/api"
	"tandem/keys/keymap"
)

// A Motion is a movement of the cursor in scroll mode.
type Motion uint8

// The motions. A count repeats each in its own unit.
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

// motions maps the actions that move the cursor of scroll mode.
func motions() map[keymap.Action]Motion {
	return map[keymap.Action]Motion{
		keymap.ScrollDown: LineDown, keymap.ScrollUp: LineUp,
		keymap.ScrollPageDown: PageDown, keymap.ScrollPageUp: PageUp,
		keymap.ScrollHalfDown: HalfDown, keymap.ScrollHalfUp: HalfUp,
		keymap.ScrollFirst: Oldest, keymap.ScrollLast: Newest,
		keymap.ScrollLeft: CellLeft, keymap.ScrollRight: CellRight,
		keymap.ScrollWord: NextWord, keymap.ScrollWordBack: PreviousWord, keymap.ScrollWordEnd: WordEnd,
		keymap.ScrollLineStart: LineStart, keymap.ScrollLineText: LineText, keymap.ScrollLineEnd: LineEnd,
		keymap.ScrollTop: ScreenTop, keymap.ScrollMiddle: ScreenMiddle, keymap.ScrollBottom: ScreenBottom,
		keymap.ScrollParagraph: NextParagraph, keymap.ScrollParagraphBack: PreviousParagraph,
	}
}

// MoveCursor moves the cursor, repeated by the typed count.
func (s *ScrollMode) MoveCursor(m Motion) {
	if !s.active {
		return
	}
	s.wheel = false
	n, counted := s.count.consume()
	switch m {
	case LineDown:
		s.moveLines(n)
	case LineUp:
		s.moveLines(-n)
	case PageDown, PageUp, HalfDown, HalfUp:
		s.ScrollHalfPages(min(n, 1000) * [...]int{2, -2, 1, -1}[m-PageDown])
	case ScreenTop, ScreenMiddle, ScreenBottom:
		s.moveOnScreen(m, n)
	case Newest:
		if counted {
			s.GoTo(api.Place{Line: min(s.screen.State().Oldest+int64(n)-1, s.screen.lastLine())})
			break
		}
		s.GoToEnd()
	case Oldest:
		s.GoTo(api.Place{Line: s.screen.State().Oldest})
	default:
		s.moveInText(m, n)
	}
	s.sendAnchors()
}

func (s *ScrollMode) moveLines(lines int) {
	st := s.screen.State()
	s.cursor.Line = max(min(s.cursor.Line+int64(lines), max(s.screen.lastLine(), s.cursor.Line)), s.oldestLine(st))
	s.showCursor()
	s.keepColumn()
	s.requestLines()
}

// keepColumn moves the cursor back to the column it had in longer lines, as far as the present line
// reaches.
func (s *ScrollMode) keepColumn() {
	s.cursor.Cell = s.column
	// A block may reach beyond the end of a line.
	if s.sel.kind == SelectBlock {
		return
	}
	row, ok := s.screen.textRow(s.cursor.Line)
	if !ok {
		return
	}
	if i := clusterIndex(row, s.column); i < len(row) {
		s.cursor.Cell = row[i].x
	} else {
		s.cursor.Cell = lastCell(row)
	}
}

func (s *ScrollMode) moveOnScreen(m Motion, n int) {
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

// moveInText performs a motion that depends on the text.
func (s *ScrollMode) moveInText(m Motion, n int) {
	w := s.screen.newWalker(s.cursor)
	before := w.place()
	for range n {
		from := w.place()
		switch m {
		case CellLeft:
			w.moveLeft()
		case CellRight:
			w.moveRight()
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
			w.moveParagraph(1)
		case PreviousParagraph:
			w.moveParagraph(-1)
		}
		// No progress: repeating it would not help.
		if w.place() == from {
			break
		}
	}
	if w.place() != before {
		s.GoTo(w.place())
	}
	if m == LineEnd {
		// Keep the cursor at the end of later lines too, like $ in vi.
		s.column = 1 << 20
	}
}
