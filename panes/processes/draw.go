package processes

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/processes/logview"
	"tandem/panes/states"
)

// contents returns the sizes of the parts among which the arrangement divides the view's rows.
func (p *Pane) contents() contents {
	c := contents{tableRows: len(p.table.rows), covered: p.logs.search.line.CoveredRows(p.env)}
	if selected, ok := p.table.Selected(); ok && !p.logs.merged {
		c.process, c.charts, c.reason = true, chartsHeight(&selected), reasonRows(&selected, p.arrangement.w, time.Now())
	}
	return c
}

func (p *Pane) Draw() []string {
	look, w, h := p.env.Look(), p.arrangement.w, p.arrangement.h
	table, parts, now := p.table, p.arrangement.layout(), time.Now()
	if len(table.all) == 0 {
		return p.emptyPage().Draw(w, h, look)
	}
	table.Focused, table.Home, table.ClearKey = !p.arrangement.logFocused, p.env.Home(), p.env.Bindings().KeyOf(keymap.Clear, keymap.ScopeProcesses, keymap.ScopeList)
	rows := slices.Clone(table.Draw(parts.table.W, parts.table.H, now, look))
	if parts.heading.H == 0 {
		return rows
	}
	log := p.logs.shown()
	if log == nil {
		return text.PadRows(append(rows, table.drawProjectHeading(w, look)), w, h)
	}
	log.Focused = p.arrangement.logFocused
	if p.logs.merged {
		rows = append(rows, log.DrawHeading("logs", text.Clip(log.Title, max(w/2, 8)), look.Dim, w, look))
	} else {
		selected, _ := p.table.Selected()
		rows = append(rows, drawDetails(&selected, log, parts, now, look)...)
	}
	if screen := p.logs.lastScreen(); screen != nil {
		return text.PadRows(append(rows, screen.draw(parts.log.W, parts.log.H, look)...), w, h)
	}
	return text.PadRows(append(rows, log.Draw(parts.log.W, parts.log.H, look)...), w, h)
}

// drawDetails draws the rows between the table and the log of a process: its charts, the heading of
// the log, and the reason of a failure.
func drawDetails(p *api.Process, log *logview.Log, parts layout, now time.Time, look *look.Look) (rows []string) {
	if parts.charts.H > 0 {
		rows = drawCharts(p, parts.charts.W, parts.charts.H, now, look)
	}
	detail, ink := states.CommandText(p), look.Dim
	if reason := states.Reason(p, now); reason != "" && parts.reason.H == 0 {
		detail = reason
		if _, ink = states.StateGlyph(p, look); p.State == api.StateRunning {
			ink = look.Warn
		}
	}
	w := parts.heading.W
	rows = append(rows, log.DrawHeading(text.Clip(text.Clean(p.Name), max(w/3, 8)), detail, ink, w, look))
	sign, ink := states.StateGlyph(states.InCrashLoop(p, now), look)
	for _, line := range reasonRows(p, w, now)[:parts.reason.H] {
		rows = append(rows, ink.Text(text.Fit(" "+sign+" "+line, w)))
		sign = " "
	}
	return rows
}

// maxReasonRows is how many rows the reason of a failure may take.
const maxReasonRows = 3

// reasonRows returns why a process failed, in rows of w cells; nil if it has not failed.
func reasonRows(p *api.Process, w int, now time.Time) []string {
	reason := states.Why(p, now)
	if reason == "" {
		return nil
	}
	rows := text.WrapWords(reason, max(w-4, 1))
	return rows[:min(len(rows), maxReasonRows)]
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

func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	down := e.IsLeftDown()
	// If the release of the button was lost, another press ends the drag.
	if p.dragged && !down {
		p.arrangement.setTableHeight(e.Y)
		p.dragged = e.Kind != keys.MouseUp
		return nil
	}
	p.dragged = false
	switch parts := p.arrangement.layout(); {
	case parts.heading.Contains(e.X, e.Y) && down:
		p.dragged = !p.arrangement.zoomed
		return p.focusLog(true)
	case parts.table.Contains(e.X, e.Y):
		p.mouseOnTable(e, down)
	case p.logs.shown() == nil || !parts.log.Contains(e.X, e.Y):
	case e.IsWheel():
		p.logs.shown().Scroll(list.WheelRows(e))
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
		if c, ok := t.columns.at(e.X); ok {
			t.SortBy(c)
		}
	default:
		if row := t.RowAt(e.Y); row >= 0 {
			t.MoveTo(row)
			if t.HeaderProject() != nil {
				t.ToggleFold()
			}
		}
		p.focusLog(false)
	}
}
