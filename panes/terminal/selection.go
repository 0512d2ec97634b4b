package terminal

import (
	"tandem/engine/api"
	"tandem/panes/kit/look"
)

// A SelectKind is the shape of a selection.
type SelectKind uint8

const (
	selectNothing SelectKind = iota
	SelectText               // from one character to another
	SelectLines              // whole lines
	SelectBlock              // the same columns in each line
)

// A selection reaches from its anchor to the cursor.
type selection struct {
	kind   SelectKind
	anchor api.Place
	cursor api.Place // of a flash; otherwise the pane's cursor counts
}

// ToggleSelection starts a selection of a kind at the cursor. If there is a selection of another
// kind, its kind changes; one of this kind ends.
func (s *ScrollMode) ToggleSelection(kind SelectKind) {
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
	s.sendAnchors()
}

// SelectBetween selects whole lines from first to last, and shows the last one.
func (s *ScrollMode) SelectBetween(first, last int64) {
	if s.active {
		s.sel = selection{kind: SelectLines, anchor: api.Place{Line: first}}
		s.GoTo(api.Place{Line: min(last, s.screen.lastLine())})
	}
}

func (s *ScrollMode) HasSelection() bool { return s.active && s.sel.kind != selectNothing }

// SwapEnds moves the cursor to the other end of the selection; ok is false if nothing is selected.
func (s *ScrollMode) SwapEnds() (ok bool) {
	if !s.HasSelection() {
		return false
	}
	end := s.sel.anchor
	s.sel.anchor = s.cursor
	s.GoTo(end)
	return true
}

// Selection returns the selected range for session.text.
func (s *ScrollMode) Selection() api.SessionTextInput {
	return s.screen.textRange(s.sel, s.cursor)
}

// LineRange returns the range of the line under the cursor, without the line break.
func (s *ScrollMode) LineRange() api.SessionTextInput {
	first, last := s.screen.lineBounds(s.cursor.Line)
	return api.SessionTextInput{From: api.Place{Line: first}, To: api.Place{Line: last, Cell: s.screen.State().Cols}}
}

// textRange returns a selection as a range for session.text.
func (s *Screen) textRange(sel selection, cursor api.Place) api.SessionTextInput {
	from, to := sortPlaces(sel.anchor, cursor)
	var in api.SessionTextInput
	switch sel.kind {
	case SelectLines:
		from.Line, _ = s.lineBounds(from.Line)
		_, to.Line = s.lineBounds(to.Line)
		from.Cell, to = 0, api.Place{Line: to.Line + 1}
	case SelectBlock:
		left, right := min(from.Cell, to.Cell), max(from.Cell, to.Cell)
		from.Cell, to.Cell, in.Block = left, right+1, true
	default: // whole clusters, which may be single cells for the session
		from.Cell, _ = s.clusterAt(from)
		_, to.Cell = s.clusterAt(to)
	}
	in.From, in.To = from, to
	return in
}

// clusterAt returns the columns of the cluster at a place, from inclusive and to exclusive.
func (s *Screen) clusterAt(p api.Place) (from, to int) {
	l, _ := s.lineAt(p.Line)
	row := appendClusters(nil, l)
	if i := clusterIndex(row, p.Cell); i < len(row) {
		return row[i].x, row[i].x + row[i].w
	}
	return p.Cell, p.Cell + 1
}

func sortPlaces(a, b api.Place) (from, to api.Place) {
	if b.Before(a) {
		return b, a
	}
	return a, b
}

// spanInLine returns the part of a selection in line n, for a view w cells wide.
func (s *Screen) spanInLine(in api.SessionTextInput, n int64, w int) (part span, ok bool) {
	part = span{from: in.From.Cell, to: in.To.Cell}
	switch {
	case n < in.From.Line || n > in.To.Line || n == in.To.Line && in.To.Cell == 0:
		return part, false
	case in.Block:
		return part, true
	}
	l, _ := s.lineAt(n)
	end := max(rowWidth(appendClusters(nil, l)), 1)
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

// drawMarks redraws the rows with a match or a part of the selection.
func (s *ScrollMode) drawMarks(rows []string, st ScreenState, w int, look *look.Look) {
	top := s.topLine(st)
	sel, cursor := s.sel, s.cursor
	if !s.active {
		sel, cursor = s.flash, s.flash.cursor
	}
	spans := s.matches.spans(s.screen, top, len(rows), cursor, look)
	if sel.kind == selectNothing && len(spans) == 0 {
		return
	}
	in := s.screen.textRange(sel, cursor)
	w = min(w, st.Cols)
	for y := range rows {
		n := top + int64(y)
		marks := spans[n]
		if part, ok := s.screen.spanInLine(in, n, w); ok && sel.kind != selectNothing {
			part.ink = look.Selected
			marks = append(marks, part)
		}
		if len(marks) == 0 {
			continue
		}
		l, _ := s.screen.lineAt(n)
		// Marks are in cells of the line. In a line of double width each cell takes two columns.
		for i, k := 0, cellScale(l); i < len(marks); i++ {
			marks[i].from, marks[i].to = k*marks[i].from, k*marks[i].to
		}
		rows[y] = string(appendMarked(nil, spreadDouble(l), w, marks))
	}
}
