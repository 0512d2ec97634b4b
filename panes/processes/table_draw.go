package processes

import (
	"path/filepath"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Draw returns h rows of w cells: the heading and the processes. The slice is valid until the next
// call.
func (t *table) Draw(w, h int, now time.Time, look *look.Look) []string {
	t.out = t.out[:0]
	if h <= 0 {
		return t.out
	}
	t.top = list.Follow(t.top, t.cursor, len(t.rows), h-1)
	t.fitColumns(w, h-1, now)
	t.out = append(t.out, t.listSign().Over(t.drawHead(w, look), w, look))
	for row := t.top; len(t.out) < h; row++ {
		switch r := t.row(row); {
		case r != nil && r.process != nil:
			t.out = append(t.out, t.drawRow(r.process, row == t.cursor, w, now, look))
		case r != nil:
			t.out = append(t.out, t.drawHeader(r.project, row == t.cursor, w, look))
		case row == 0:
			t.out = append(t.out, look.Dim.Text(text.Fit("   "+list.NothingMatches(w-3, t.ClearKey), w)))
		default:
			t.out = append(t.out, text.Spaces(w))
		}
	}
	list.Scrollbar(t.out[1:], w, t.top, len(t.rows), look)
	return t.out
}

// listSign returns the position of the cursor among the processes. One-shot commands that are
// folded are not counted, so that the number does not change while an agent works.
func (t *table) listSign() list.ListSign {
	s := list.ListSign{Filter: t.filter, Shown: len(t.matching) - t.hidden, All: len(t.all) - t.hidden}
	if r := t.row(t.cursor); r != nil {
		s.At = r.number
	}
	return s
}

// fitColumns chooses the columns for h rows of w cells.
func (t *table) fitColumns(w, h int, now time.Time) {
	kinds, scrollbar := columnKinds(w), 0
	if len(t.rows) > h {
		scrollbar = 1
	}
	if !t.machines {
		kinds = slices.DeleteFunc(kinds, func(k columnKind) bool { return k.column == columnHost })
	}
	t.columns.measure(kinds, t.rows[t.top:min(t.top+h, len(t.rows))], w, now)
	kinds = t.columns.choose(kinds, t.order.by)
	t.columns.fit(kinds)
	t.columns.place(kinds, scrollbar)
}

func (t *table) drawHead(w int, look *look.Look) string {
	ink, chosen := look.Dim, look.Strong
	if t.Focused {
		chosen = look.Title
	}
	head := ink
	state := "  "
	if t.order.by == columnState && t.columns.find(columnState) == nil {
		state, head = t.sortArrow(look)+" ", chosen
	}
	line, x := "   "+head.Text(state)+"  ", leadCells
	for _, p := range t.columns.placed {
		title, ink := p.head, ink
		if p.column == t.order.by {
			title, ink = title+t.sortArrow(look), chosen
		}
		w := p.w
		if p.column == columnCPU && w > sparkCells {
			w -= sparkCells + 1
		}
		if title = text.Clip(title, w); p.right {
			title = text.PadLeft(title, w)
		}
		title = text.Pad(title, p.w)
		line += text.Spaces(p.x-x) + ink.Text(title)
		x = p.x + p.w
	}
	return line + text.Spaces(w-x)
}

func (t *table) sortArrow(look *look.Look) string {
	if t.order.descending() {
		return look.Glyphs.Descending
	}
	return look.Glyphs.Ascending
}

// drawRow draws the row of a process. The row under the cursor has a single color, except for the
// state.
func (t *table) drawRow(p *api.Process, cursor bool, w int, now time.Time, look *look.Look) string {
	mark, here := " ", " "
	if t.marked[p.ID] {
		mark = look.Glyphs.Attached // a check mark beside the glyph of a failure would confuse
	}
	if cursor {
		here = look.Glyphs.Selected
	}
	glyph, glyphInk := states.StateGlyph(p, look)
	kind := " "
	switch {
	case p.Kind == api.KindSession:
		kind = look.Glyphs.Terminal
	case p.KeepAlive:
		kind = look.Glyphs.KeepAlive
	}
	r := list.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	r.AddKept(glyph, glyphInk, look.Selected)
	r.Add(" "+kind+" ", look.Dim)
	t.columns.drawCells(&r, p, cursor, now, look)
	return r.Finish(w, look)
}

// drawHeader draws the header of a project.
func (t *table) drawHeader(g *project, cursor bool, w int, look *look.Look) string {
	sign, here, name := look.Glyphs.Unfolded, " ", look.Strong
	if g.folded {
		sign = look.Glyphs.Folded
	}
	if cursor {
		here, name = look.Glyphs.Selected, look.Current
	}
	r := list.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add("  "+sign+" ", look.Dim)
	at := leadCells
	if state := t.columns.find(columnState); state != nil {
		at = state.x
	}
	r.Add(text.Fit(g.name(), max(at-columnGap-r.Cells, min(12, w-r.Cells))), name)
	r.Add(text.Spaces(columnGap), "")
	if g.commands {
		all, running := g.countCommands()
		r.Add(all, look.Dim)
		if running > 0 {
			r.AddKept(", "+text.Itoa(running)+" running", look.Good, look.Selected)
		}
		return r.Finish(w, look)
	}
	up, failed, all := g.countStates()
	ink := look.Good
	switch {
	case up == 0:
		ink = look.Dim
	case up < all:
		ink = look.Warn
	}
	r.AddKept(text.Itoa(up)+"/"+text.Itoa(all)+" up", ink, look.Selected)
	if failed > 0 {
		r.AddKept(", "+text.Itoa(failed)+" failed", look.Bad, look.Selected)
	}
	if g.file != "" && w-r.Cells > columnGap+4 {
		folder := text.ShortPath(filepath.Dir(g.file), t.Home)
		r.Add(text.Spaces(columnGap)+text.ClipPath(folder, w-r.Cells-columnGap), look.Dim)
	}
	return r.Finish(w, look)
}

// drawProjectHeading draws the heading below the table if the cursor is on the header of a project,
// which has no log.
func (t *table) drawProjectHeading(w int, look *look.Look) string {
	g := t.HeaderProject()
	switch {
	case g == nil || g.file == "":
		return look.Heading("log", "", w, false)
	case g.commands:
		all, _ := g.countCommands()
		return look.Heading(g.name(), all, w, false)
	}
	return look.Heading(g.name(), text.ShortPath(g.file, t.Home), w, false)
}
