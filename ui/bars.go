package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/machines"
	"tandem/panes/sessions/list"
	"tandem/panes/states"
)

// A topBar names the views, and counts what runs and what needs the user.
type topBar struct {
	views    *views
	areas    *areas
	news     *panes.News
	list     *list.Pane
	isClosed func(id string) bool
	look     *look.Look

	awaiting bool // a call of awaitSteady
}

// draw draws the program's name, the views with their numbers, and the counts.
func (t *topBar) draw() string {
	look := t.look
	views, counts := t.layout()
	line, used := "", views
	if views > 0 {
		line = look.BarKey.Text(barName) + look.Bar.Text(" ")
	}
	for i, v := range t.views.all {
		ink := look.BarDim
		if i == t.views.shown {
			ink = look.Tab
		}
		line += ink.Text(v.label)
		used += text.Width(v.label)
	}
	right := ""
	for _, c := range counts {
		used += c.cells()
		right += c.style.Text(c.text)
	}
	return line + look.Bar.Text(text.Spaces(t.areas.w-used)) + right
}

const (
	barName     = " tandem "
	minNamedBar = 80 // minimum width of a screen with the program's name and spelled-out counts
)

// layout chooses what fits into the bar: the column of the first view, and the counts to
// its right. The program's name is dropped first, then the counts from the last
// one on.
func (t *topBar) layout() (views int, counts []barCount) {
	counts = t.listCounts()
	room := t.areas.w - 1
	for _, v := range t.views.all {
		room -= text.Width(v.label)
	}
	for _, c := range counts {
		room -= c.cells()
	}
	if name := text.Width(barName) + 1; t.areas.w >= minNamedBar && room >= name {
		return name, counts
	}
	for room < 0 && len(counts) > 0 {
		last := len(counts) - 1
		room += counts[last].cells()
		counts = counts[:last]
	}
	return 0, counts
}

// A barCount is a number in the top bar, with its label.
type barCount struct {
	text  string
	style look.Ink
	inbox bool // the inbox lists these agents; a click opens it
}

func (c barCount) cells() int { return text.Width(c.text) }

// actionAt returns the action of a click on a column: the one that shows a view, or the
// inbox for a count of agents. It returns "" if there is none.
func (t *topBar) actionAt(column int) keymap.Action {
	x, counts := t.layout()
	for _, v := range t.views.all {
		if x += text.Width(v.label); column < x {
			return v.Action
		}
	}
	x = t.areas.w
	for i := len(counts) - 1; i >= 0; i-- {
		if x -= counts[i].cells(); column >= x && counts[i].inbox {
			return keymap.Inbox
		} else if column >= x {
			return ""
		}
	}
	return ""
}

// listCounts returns the counts for the top bar, the most urgent first: requests, blocked
// and waiting sessions, then failures, then whatever runs.
func (t *topBar) listCounts() (counts []barCount) {
	running, failed, rang, prompting := t.countProcesses()
	agents := &t.list.Agents.Count
	g, style := &t.look.Glyphs, t.look
	text, bad := machines.Summary(t.news, t.areas.w < minNamedBar)
	if bad {
		counts = append(counts, barCount{text: text + "  ", style: style.BarWarn})
	}
	parts := []struct {
		glyph, what string
		n           int
		ink         look.Ink
		inbox       bool
	}{
		{g.Unknown, "asking", len(t.news.Requests), style.BarWarn, true},
		{g.Blocked, "blocked", agents.Blocked, style.BarWarn, true},
		{g.Bell, "rang", rang, style.BarWarn, false},
		{g.Unknown, "prompting", prompting, style.BarWarn, false},
		{g.Check, "done", agents.Done, style.BarGood, true},
		{g.Failed, "failed", failed, style.BarBad, false},
		{g.Working, "working", agents.Working, style.Bar, true},
		{g.Running, "running", running, style.BarGood, false},
	}
	for _, p := range parts {
		if p.n == 0 && p.what != "running" {
			continue
		}
		label := fmt.Sprintf("%s %d ", p.glyph, p.n)
		if t.areas.w >= minNamedBar {
			label = fmt.Sprintf("%s %d %s  ", p.glyph, p.n, p.what)
		}
		counts = append(counts, barCount{label, p.ink, p.inbox})
	}
	if text != "" && !bad {
		counts = append(counts, barCount{text: text + "  ", style: style.BarDim})
	}
	return counts
}

// countProcesses counts running and failed processes. Among the running sessions it counts those
// that rang the bell, and those that wait for input without having rung it. One-shot commands are
// left out: an agent runs hundreds, and the count would never stand still.
func (t *topBar) countProcesses() (running, failed, rang, prompting int) {
	now := time.Now()
	for i := range t.news.Processes {
		p := &t.news.Processes[i]
		switch {
		case p.IsOneShot():
		case p.IsFailing(now) && !t.isClosed(p.ID):
			failed++
		case !t.news.CanReach(p.ID): // an offline machine's last state may be out of date
		case !p.State.Ended() && p.State != api.StateWaiting:
			running++
			switch {
			case p.Terminal == nil || states.AgentTells(p):
			case p.Terminal.Rang:
				rang++
			case t.list.NeedsInput(p.ID):
				prompting++
			}
		}
	}
	return running, failed, rang, prompting
}

// awaitSteady calls redraw when a process that was restarted has run long enough to count as running,
// which no event reports.
func (t *topBar) awaitSteady(redraw func()) tea.Cmd {
	now, next := time.Now(), time.Duration(0)
	for i := range t.news.Processes {
		p := &t.news.Processes[i]
		if p.State == api.StateRunning && p.IsFailing(now) {
			if left := p.StartedAt.Add(api.SteadyRun).Sub(now); next == 0 || left < next {
				next = left
			}
		}
	}
	if t.awaiting || next == 0 {
		return nil
	}
	t.awaiting = true
	return panes.After(next, func() tea.Cmd {
		t.awaiting = false
		redraw()
		return t.awaitSteady(redraw)
	})
}

// drawStatusBar draws as many key hints as fit, and a note to their right. It also returns
// the hints.
func (m *model) drawStatusBar() (bar string, hints []keymap.Hint) {
	w, style := m.areas.w, &m.theme.look
	lead := m.drawBarLead()
	hints, note, ink := m.fitHints(max(w-text.Width(lead), 0))
	line, used := look.Hints(hints, w, 0, style.BarKey, style.BarDim)
	end := ""
	if note != "" {
		used += text.Width(note) + 1
		end = ink.Text(note + " ")
	}
	return lead + line + style.Bar.Text(text.Spaces(max(w-used-text.Width(lead), 0))) + end, hints
}

// fitHints chooses the hints, and shortens the note, so that they fit into a bar with the given
// room in cells.
func (m *model) fitHints(room int) (hints []keymap.Hint, note string, ink look.Ink) {
	full, ink := m.statusNote()
	hints, kept := m.statusHints(), keptHints
	note = text.Clip(full, max(room-1, 0))
	// The keys of a dialog are listed nowhere else, so one of them is always kept and the note is
	// shortened instead. An approval starts with its answers, so its first hints are kept.
	if m.dialog.open != nil {
		kept = 1
		if _, ok := m.dialog.open.(*dialog.Approval); ok {
			kept = 0
		}
	}
	switch gap := room - hintsWidth(hints) - 4; {
	case m.dialog.open != nil:
		note = text.Clip(full, max(gap, room/2))
	case m.notices.toast.event && full == m.notices.toast.text:
		// A note about an event arrives unasked. It covers hints at the right, but must not move
		// the others.
		note = text.Clip(full, max(gap, room*3/4))
		hints = look.FittingHints(hints, room, kept)
		for hintsWidth(hints) > max(room-text.Width(note)-3, 0) {
			hints = hints[:len(hints)-1]
		}
		return hints, note, ink
	}
	if note != "" {
		room -= text.Width(note) + 3
	}
	return look.FittingHints(hints, max(room, 0), kept), note, ink
}

// hintsWidth returns the width of hints side by side, in cells.
func hintsWidth(hints []keymap.Hint) int {
	_, used := look.Hints(hints, 1<<16, 0, "", "")
	return used
}

// drawBarLead draws the start of the status bar: the prefix while it waits for a key, else
// a space.
func (m *model) drawBarLead() string {
	look := &m.theme.look
	if m.keyboard.resolver.Pending() {
		return look.Chip.Text(" "+m.o.Bindings.PrefixKeys()[0].Show()+" ") + look.BarDim.Text("then   ")
	}
	return look.Bar.Text(" ")
}

// keptHints is how many of the last hints a narrow bar keeps: how to detach, and how to
// list all keys.
const keptHints = 2

// statusNote returns the note in the status bar and its style. A lost connection comes
// before everything else.
func (m *model) statusNote() (string, look.Ink) {
	switch {
	case m.sessions.IsOpen() && !m.news.Connected:
		problem := "engine restarted – reconnecting…"
		if m.news.Attempts > 5 && m.news.Err != nil {
			problem = "cannot reach the engine, trying again: " + text.Clean(panes.ErrorText(m.news.Err))
		}
		if n := m.sessions.CountQueued(); n > 0 {
			problem = fmt.Sprintf("%s %d keys queued", problem, n)
		}
		if m.input.isHeld() {
			problem += m.input.cancelNote()
		}
		return problem, m.theme.look.BarWarn
	case m.input.isHeld() && m.input.queue.Len() > 0:
		return "your input is queued" + m.input.cancelNote(), m.theme.look.BarWarn
	case m.notices.toast.text != "":
		return m.notices.toast.text, m.notices.toast.ink(&m.theme.look)
	case m.faultNote() != "":
		return m.faultNote(), m.theme.look.BarBad
	case m.dialog.open != nil:
		return "", ""
	case len(m.dialog.waiting) > 0:
		return m.dialog.waitingText(), m.theme.look.BarGood
	}
	return m.views.pane().Note()
}

// statusHints returns hints for the keys that work now. An open dialog has its own.
func (m *model) statusHints() []keymap.Hint {
	pending := m.keyboard.resolver.Pending()
	switch {
	case m.dialog.open != nil:
		return m.dialog.open.Hints(m.env)
	case m.keyboard.prefix.rows() != nil:
		return nil
	}
	if !pending {
		if all, ok := m.views.pane().Hints(); ok {
			return all
		}
	}
	return m.o.Bindings.Hints(pending, m.keyboard.activeScopes()...)
}

// farewellLine returns the line left in the terminal after the user detached. The line says which
// command starts the dashboard again. It is empty if no session runs.
func farewellLine(known panes.News, command string) string {
	if known.Stopped != "" {
		return known.Stopped
	}
	n, processes := 0, known.Processes
	for i := range processes {
		if machine, _ := api.MachineOf(processes[i].ID); machine == "" && processes[i].Kind == api.KindSession && !processes[i].State.Ended() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s still running. Run `%s` to return.", text.Count(n, "session"), command)
}
