package processes

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// parts are where the parts of the view are in it.
type parts struct{ table, charts, heading, why, log widget.Rect }

// Least heights of the view's parts, with their headings.
const (
	minTableHeight = 3
	minLogHeight   = 4
	// chartsFrom is the height of a view from which it shows charts unasked.
	chartsFrom = 40
)

func (p *Pane) parts() parts {
	top := panes.FleetTabRows(p.env)
	all := below(p, p.h-top)
	for _, r := range []*widget.Rect{&all.table, &all.charts, &all.heading, &all.why, &all.log} {
		r.Y += top
	}
	return all
}

// below are the parts in h rows.
func below(p *Pane, h int) (all parts) {
	body := widget.Rect{W: p.w, H: h}
	h = min(max(p.table.lines()+1, minTableHeight+1), body.H*9/20)
	if p.height > 0 {
		h = p.height
	}
	covered := p.covered()
	h = max(min(h, body.H-minLogHeight-covered), minTableHeight)
	switch {
	case p.zoomed && !p.onLog:
		h = body.H
	case p.zoomed:
		h = 0
	}
	all.table, all.log = body, body
	all.table.H = h
	if h == body.H {
		return parts{table: body}
	}
	if p.wantsCharts() && body.H-h-1-ChartRows >= minLogHeight {
		all.charts = widget.Rect{Y: h, W: body.W, H: ChartRows}
		h += ChartRows
	}
	all.heading = widget.Rect{Y: h, W: body.W, H: 1}
	h++
	if selected, ok := p.table.Selected(); ok && p.merged == nil {
		n := min(len(why(&selected, body.W, time.Now())), max(body.H-h-covered-minLogHeight, 0))
		all.why = widget.Rect{Y: h, W: body.W, H: n}
		h += n
	}
	all.log.Y += h
	all.log.H = max(all.log.H-h-covered, 0)
	return all
}

// page is how many rows a page of the table has.
func (p *Pane) page() int { return max(p.parts().table.H-2, 1) }

// wantsCharts reports whether the process under the cursor is shown with charts.
func (p *Pane) wantsCharts() bool {
	_, ok := p.table.Selected()
	switch {
	case !ok || p.zoomed || p.merged != nil || p.fleet.on: // nobody measures what runs in a fleet
		return false
	case p.charts != nil:
		return *p.charts
	}
	return p.h >= chartsFrom
}

// toggleCharts shows charts, or shows none.
func (p *Pane) toggleCharts() {
	show := !p.wantsCharts()
	p.charts = &show
}

// Draw gives the rows of the view.
func (p *Pane) Draw() []string {
	look := p.env.Look()
	if _, all := p.table.Len(); all == 0 && panes.FleetTabRows(p.env) == 0 {
		return p.empty().Draw(p.w, p.h, look)
	}
	p.table.Focused = !p.onLog
	parts, now := p.parts(), time.Now()
	var rows []string
	if panes.FleetTabRows(p.env) > 0 {
		rows = append(rows, p.fleet.drawTabs(p.w))
	}
	rows = append(rows, p.table.Draw(parts.table.W, parts.table.H, now, look)...)
	if parts.heading.H == 0 {
		return rows
	}
	selected, ok := p.table.Selected()
	if p.merged != nil {
		p.merged.Focused = p.onLog
		rows = append(rows, p.merged.MergedHeading(p.w, look))
		return filled(append(rows, p.merged.Draw(parts.log.W, parts.log.H, look)...), p.w, p.h)
	}
	if parts.charts.H > 0 {
		rows = append(rows, DrawCharts(&selected, parts.charts.W, parts.charts.H, now, look)...)
	}
	if !ok || p.log == nil {
		return filled(append(rows, p.table.projectHeading(p.w, look)), p.w, p.h)
	}
	p.log.Focused = p.onLog
	log := p.log.Draw(parts.log.W, parts.log.H, look)
	if parts.why.H == 0 {
		rows = append(rows, p.log.Heading(&selected, widget.Reason(&selected, now), p.w, look))
		return filled(append(rows, log...), p.w, p.h)
	}
	rows = append(rows, p.log.Heading(&selected, "", p.w, look))
	rows = append(rows, drawWhy(&selected, parts.why, now, look)...)
	return filled(append(rows, log...), p.w, p.h)
}

// filled are h rows of w cells, with blank ones below where there are fewer.
func filled(rows []string, w, h int) []string {
	for len(rows) < h {
		rows = append(rows, widget.Spaces(w))
	}
	return rows
}

// projectHeading stands in place of a log's heading where none is shown.
func (t *Table) projectHeading(w int, look *widget.Look) string {
	g := t.Project()
	switch {
	case g == nil || g.file == "" && g.told == nil:
		return widget.Heading("log", "", w, false, look)
	case g.told != nil:
		return widget.Heading(g.name(), widget.Count(g.told.Processes, "process")+" on "+widget.Count(g.told.Machines, "machine"), w, false, look)
	}
	return widget.Heading(g.name(), widget.ShortPath(g.file, t.Home), w, false, look)
}

// mostWhy is how many rows the reason of a failure takes at most.
const mostWhy = 3

// why says in rows of a width why a process failed; none for others.
func why(p *api.Process, w int, now time.Time) []string {
	reason := widget.Why(p, now)
	if reason == "" {
		return nil
	}
	rows := widget.WrapWords(reason, max(w-4, 1))
	return rows[:min(len(rows), mostWhy)]
}

// drawWhy says why a process failed, above the last lines of its log.
func drawWhy(p *api.Process, at widget.Rect, now time.Time, look *widget.Look) (rows []string) {
	sign, ink := widget.StateGlyph(p, look)
	for _, line := range why(p, at.W, now)[:at.H] {
		rows = append(rows, ink.Text(widget.Fit(" "+sign+" "+line, at.W)))
		sign = " "
	}
	return rows
}

func (p *Pane) empty() *widget.Page {
	if !p.env.News().Connected {
		return &widget.Page{Title: "Connecting to the engine…"}
	}
	hint := func(a keymap.Action, does string) panes.Hint {
		return panes.HintFor(p.env.Bindings(), a, does, keymap.ScopeProcesses, keymap.ScopeList, keymap.ScopeGlobal)
	}
	return &widget.Page{
		Title: "No processes yet",
		Lines: []string{"What you start here keeps running without the dashboard,", "and its output is kept."},
		Hints: []panes.Hint{hint(keymap.ProcessNew, "start one"), hint(keymap.Help, "keys"), hint(keymap.Quit, "detach")},
	}
}

// resizeTable moves the border between the table and the log.
func (p *Pane) resizeTable(by int) {
	if !p.zoomed {
		p.setTableHeight(p.parts().table.H + by)
	}
}

func (p *Pane) setTableHeight(h int) {
	p.height = max(min(h, p.h-minLogHeight), minTableHeight)
}

// Mouse handles the mouse in the view.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	down := widget.LeftDown(e)
	if p.dragged && !down { // an end that was not told is followed by another press
		p.setTableHeight(e.Y - panes.FleetTabRows(p.env))
		p.dragged = e.Kind != keys.MouseUp
		return nil
	}
	p.dragged = false
	switch parts := p.parts(); {
	case parts.heading.Contains(e.X, e.Y) && down:
		p.dragged = !p.zoomed
		return p.focusLog(true)
	case e.Y < parts.table.Y && down:
		return toggleFleet(p)
	case parts.table.Contains(e.X, e.Y):
		e.Y -= parts.table.Y
		p.mouseOnTable(e, down)
	case p.log == nil && p.merged == nil || !parts.log.Contains(e.X, e.Y):
	case widget.IsWheel(e):
		p.onShownLog(func(l *Log) { l.Scroll(widget.WheelRows(e)) })()
	case down:
		return p.focusLog(true)
	}
	return nil
}

func (p *Pane) mouseOnTable(e keys.Mouse, down bool) {
	t := p.table
	switch {
	case widget.IsWheel(e):
		t.Move(widget.WheelRows(e) / 3)
	case !down:
	case e.Y == 0:
		if c, ok := t.ColumnAt(e.X); ok {
			t.SortBy(c)
		}
	default:
		if row := t.RowAt(e.Y); row >= 0 {
			t.Go(row)
			if t.Project() != nil {
				foldRow(p)
			}
		}
		p.focusLog(false)
	}
}
