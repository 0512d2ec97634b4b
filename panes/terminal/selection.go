package terminal

import (
	"tandem/engine/api"
	"tandem/panes/widget"
)

// A SelectKind is how a selection grows with its ends.
type SelectKind uint8

const (
	selectNothing SelectKind = iota
	SelectText               // from one character to the other
	SelectLines              // whole lines
	SelectBlock              // the columns between, in each line
)

// A selection reaches from its anchor to the cursor.
type selection struct {
	kind   SelectKind
	anchor api.Place
	cursor api.Place // of one that is only shown; else the pane's
}

// Select begins a selection at the cursor, gives the one that there is another
// kind, or ends one of the same kind.
func (s *ScrollMode) Select(kind SelectKind) {
	switch {
	case !s.active:
		return
	case s.sel.kind == kind:
		s.sel = selection{}
	case s.sel.kind == selectNothing:
		s.sel = selection{kind: kind, anchor: s.cursor}
	default:
		s.sel.kind = kind
	}
	s.wheel = false
	s.tellAnchors()
}

// SelectBetween selects whole lines, and shows the last of them.
func (s *ScrollMode) SelectBetween(first, last int64) {
	if s.active {
		s.sel = selection{kind: SelectLines, anchor: api.Place{Line: first}}
		s.Go(api.Place{Line: min(last, s.screen.lastLine())})
	}
}

// Selected reports whether anything is selected.
func (s *ScrollMode) Selected() bool { return s.active && s.sel.kind != selectNothing }

// Swap puts the cursor at the other end of the selection; ok is false when
// nothing is selected.
func (s *ScrollMode) Swap() (ok bool) {
	if !s.Selected() {
		return false
	}
	end := s.sel.anchor
	s.sel.anchor = s.cursor
	s.Go(end)
	return true
}

// Selection is what is selected, as session.text takes it.
func (s *ScrollMode) Selection() api.SessionTextInput {
	return s.screen.textRange(s.sel, s.cursor)
}

// Line is the text of the line that the cursor is in, without its line end.
func (s *ScrollMode) Line() api.SessionTextInput {
	first, last := s.screen.whole(s.cursor.Line)
	return api.SessionTextInput{From: api.Place{Line: first}, To: api.Place{Line: last, Cell: s.screen.State().Cols}}
}

// textRange is a selection as session.text takes it.
func (s *Screen) textRange(sel selection, cursor api.Place) api.SessionTextInput {
	from, to := ordered(sel.anchor, cursor)
	var in api.SessionTextInput
	switch sel.kind {
	case SelectLines:
		from.Line, _ = s.whole(from.Line)
		_, to.Line = s.whole(to.Line)
		from.Cell, to = 0, api.Place{Line: to.Line + 1}
	case SelectBlock:
		left, right := min(from.Cell, to.Cell), max(from.Cell, to.Cell)
		from.Cell, to.Cell, in.Block = left, right+1, true
	default: // whole clusters, of which the session may have a cell each
		from.Cell, _ = s.clusterAt(from)
		_, to.Cell = s.clusterAt(to)
	}
	in.From, in.To = from, to
	return in
}

// clusterAt is the columns from one and up to another of the cluster at a place.
func (s *Screen) clusterAt(p api.Place) (from, to int) {
	l, _ := s.line(p.Line)
	row := clusters(nil, l)
	if i := at(row, p.Cell); i < len(row) {
		return row[i].x, row[i].x + row[i].w
	}
	return p.Cell, p.Cell + 1
}

func ordered(a, b api.Place) (from, to api.Place) {
	if b.Before(a) {
		return b, a
	}
	return a, b
}

// spanIn is the part of a selection in a line that is w cells wide in sight.
func (s *Screen) spanIn(in api.SessionTextInput, n int64, w int) (part span, ok bool) {
	part = span{from: in.From.Cell, to: in.To.Cell}
	switch {
	case n < in.From.Line || n > in.To.Line || n == in.To.Line && in.To.Cell == 0:
		return part, false
	case in.Block:
		return part, true
	}
	l, _ := s.line(n)
	end := max(width(clusters(nil, l)), 1)
	if in.From.Cell == 0 && in.To.Cell == 0 { // whole lines
		end = w
	}
	if n > in.From.Line {
		part.from = 0
	}
	if n < in.To.Line {
		part.to = max(end, part.from+1)
	}
	return part, true
}

// drawMarks draws the rows anew that hold a match or a part of the selection.
func (t *Terminal) drawMarks(st ScreenState, w int, look *widget.Look) {
	top := t.Scroll.topOf(st)
	sel, cursor := t.Scroll.sel, t.Scroll.cursor
	if !t.Scroll.active {
		sel, cursor = t.Scroll.flash, t.Scroll.flash.cursor
	}
	spans := t.Scroll.matchSpans(top, len(t.rows), look)
	if sel.kind == selectNothing && len(spans) == 0 {
		return
	}
	in := t.Feed.Screen.textRange(sel, cursor)
	w = min(w, st.Cols)
	for y := range t.rows {
		n := top + int64(y)
		marks := spans[n]
		if s, ok := t.Feed.Screen.spanIn(in, n, w); ok && sel.kind != selectNothing {
			s.ink = look.Selected
			marks = append(marks, s)
		}
		if len(marks) == 0 {
			continue
		}
		l, _ := t.Feed.Screen.line(n)
		for i, k := 0, scale(l); i < len(marks); i++ {
			marks[i].from, marks[i].to = k*marks[i].from, k*marks[i].to
		}
		t.rows[y] = string(appendMarked(nil, spread(l), w, marks))
	}
}
