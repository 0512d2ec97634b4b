package processes

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A layout has the rectangles of the view's parts.
type layout struct{ table, charts, heading, reason, log look.Rect }

// Minimum heights of the view's parts, with their headings.
const (
	minTableHeight = 3
	minLogHeight   = 4
	// minChartsHeight is the height of a view from which it shows charts by default.
	minChartsHeight = 40
)

func (p *Pane) computeLayout() layout {
	top := panes.FleetTabRows(p.env.News())
	all := layoutRows(p, p.h-top)
	for _, r := range []*look.Rect{&all.table, &all.charts, &all.heading, &all.reason, &all.log} {
		r.Y += top
	}
	return all
}

// layoutRows lays the parts out in h rows. An unfit part has no height.
func layoutRows(p *Pane, h int) (all layout) {
	body := look.Rect{W: p.w, H: h}
	h = min(max(p.table.rowCount()+1, minTableHeight+1), body.H*9/20)
	if p.tableHeight > 0 {
		h = p.tableHeight
	}
	// The search line must not hide the last lines of the log.
	covered := p.searchRows()
	h = max(min(h, body.H-minLogHeight-covered), minTableHeight)
	switch {
	case p.zoomed && !p.logFocused:
		h = body.H
	case p.zoomed:
		h = 0
	}
	all.table, all.log = body, body
	all.table.H = h
	if h == body.H {
		return layout{table: body}
	}
	if p.wantsCharts() && body.H-h-1-ChartRows >= minLogHeight {
		all.charts = look.Rect{Y: h, W: body.W, H: ChartRows}
		h += ChartRows
	}
	all.heading = look.Rect{Y: h, W: body.W, H: 1}
	h++
	if selected, ok := p.table.Selected(); ok && p.merged == nil {
		n := min(len(reasonRows(&selected, body.W, time.Now())), max(body.H-h-covered-minLogHeight, 0))
		all.reason = look.Rect{Y: h, W: body.W, H: n}
		h += n
	}
	all.log.Y += h
	all.log.H = max(all.log.H-h-covered, 0)
	return all
}

// pageRows returns the height of a page of the table.
func (p *Pane) pageRows() int { return max(p.computeLayout().table.H-2, 1) }

// wantsCharts reports whether the process under the cursor is shown with charts.
func (p *Pane) wantsCharts() bool {
	_, ok := p.table.Selected()
	switch {
	case !ok || p.zoomed || p.merged != nil || p.fleet.shown: // a fleet's processes have no metrics
		return false
	case p.charts != nil:
		return *p.charts
	}
	return p.h >= minChartsHeight
}

func (p *Pane) toggleCharts() {
	show := !p.wantsCharts()
	p.charts = &show
}

func (p *Pane) Draw() []string {
	look := p.env.Look()
	if _, all := p.table.Len(); all == 0 && panes.FleetTabRows(p.env.News()) == 0 {
		return p.emptyPage().Draw(p.w, p.h, look)
	}
	p.table.Focused = !p.logFocused
	parts, now := p.computeLayout(), time.Now()
	var rows []string
	if panes.FleetTabRows(p.env.News()) > 0 {
		rows = append(rows, p.fleet.drawTabs(p.w))
	}
	rows = append(rows, p.table.Draw(parts.table.W, parts.table.H, now, look)...)
	if parts.heading.H == 0 {
		return rows
	}
	selected, ok := p.table.Selected()
	if p.merged != nil {
		p.merged.Focused = p.logFocused
		rows = append(rows, p.merged.DrawMergedHeading(p.w, look))
		return padHeight(append(rows, p.merged.Draw(parts.log.W, parts.log.H, look)...), p.w, p.h)
	}
	if parts.charts.H > 0 {
		rows = append(rows, DrawCharts(&selected, parts.charts.W, parts.charts.H, now, look)...)
	}
	if !ok || p.log == nil {
		return padHeight(append(rows, p.table.drawProjectHeading(p.w, look)), p.w, p.h)
	}
	p.log.Focused = p.logFocused
	log := p.log.Draw(parts.log.W, parts.log.H, look)
	if parts.reason.H == 0 {
		rows = append(rows, p.log.DrawHeading(&selected, states.Reason(&selected, now), p.w, look))
		return padHeight(append(rows, log...), p.w, p.h)
	}
	rows = append(rows, p.log.DrawHeading(&selected, "", p.w, look))
	rows = append(rows, drawReason(&selected, parts.reason, now, look)...)
	return padHeight(append(rows, log...), p.w, p.h)
}

// padHeight appends blank rows of w cells up to h rows.
func padHeight(rows []string, w, h int) []string {
	for len(rows) < h {
		rows = append(rows, text.Spaces(w))
	}
	return rows
}

// drawProjectHeading draws the heading in place of a log's.
func (t *Table) drawProjectHeading(w int, look *look.Look) string {
	g := t.HeaderProject()
	switch {
	case g == nil || g.file == "" && g.group == nil:
		return look.Heading("log", "", w, false)
	case g.group != nil:
		return look.Heading(g.name(), text.Count(g.group.Processes, "process")+" on "+text.Count(g.group.Machines, "machine"), w, false)
	}
	return look.Heading(g.name(), text.ShortPath(g.file, t.Home), w, false)
}

// maxReasonRows is how many rows the reason of a failure may take.
const maxReasonRows = 3

// reasonRows returns why a process failed, wrapped to w cells; nil for others.
func reasonRows(p *api.Process, w int, now time.Time) []string {
	reason := states.Why(p, now)
	if reason == "" {
		return nil
	}
	rows := text.WrapWords(reason, max(w-4, 1))
	return rows[:min(len(rows), maxReasonRows)]
}

// drawReason draws why a process failed, above the last lines of its log.
func drawReason(p *api.Process, at look.Rect, now time.Time, look *look.Look) (rows []string) {
	sign, ink := states.StateGlyph(p, look)
	for _, line := range reasonRows(p, at.W, now)[:at.H] {
		rows = append(rows, ink.Text(text.Fit(" "+sign+" "+line, at.W)))
		sign = " "
	}
	return rows
}

func (p *Pane) emptyPage() *look.Page {
	if !p.env.News().Connected {
		return &look.Page{Title: "Connecting to the engine…"}
	}
	hint := func(a keymap.Action, does string) keymap.Hint {
		return p.env.Bindings().Hint(a, does, keymap.ScopeProcesses, keymap.ScopeList, keymap.ScopeGlobal)
	}
	return &look.Page{
		Title: "No processes yet",
		Lines: []string{"What you start here keeps running without the dashboard,", "and its output is kept."},
		Hints: []keymap.Hint{hint(keymap.ProcessNew, "start one"), hint(keymap.Help, "keys"), hint(keymap.Quit, "detach")},
	}
}

func (p *Pane) resizeTable(by int) {
	if !p.zoomed {
		p.setTableHeight(p.computeLayout().table.H + by)
	}
}

func (p *Pane) setTableHeight(h int) {
	p.tableHeight = max(min(h, p.h-minLogHeight), minTableHeight)
}

func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	down := e.IsLeftDown()
	// The release may have been lost; then another press ends the drag.
	if p.dragged && !down {
		p.setTableHeight(e.Y - panes.FleetTabRows(p.env.News()))
		p.dragged = e.Kind != keys.MouseUp
		return nil
	}
	p.dragged = false
	switch parts := p.computeLayout(); {
	case parts.heading.Contains(e.X, e.Y) && down:
		p.dragged = !p.zoomed
		return p.focusLog(true)
	case e.Y < parts.table.Y && down:
		return toggleFleet(p)
	case parts.table.Contains(e.X, e.Y):
		e.Y -= parts.table.Y
		p.mouseOnTable(e, down)
	case p.log == nil && p.merged == nil || !parts.log.Contains(e.X, e.Y):
	case e.IsWheel():
		p.onShownLog(func(l *Log) { l.Scroll(list.WheelRows(e)) })()
	case down:
		return p.focusLog(true)
	}
	return nil
}

func (p *Pane) mouseOnTable(e keys.Mouse, down bool) {
	t := p.table
	switch {
	case e.IsWheel():
		t.Move(list.WheelRows(e) / 3)
	case !down:
	case e.Y == 0:
		if c, ok := t.ColumnAt(e.X); ok {
			t.SortBy(c)
		}
	default:
		if row := t.RowAt(e.Y); row >= 0 {
			t.MoveTo(row)
			if t.HeaderProject() != nil {
				foldRow(p)
			}
		}
		p.focusLog(false)
	}
}
