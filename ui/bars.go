package ui

import (
	"fmt"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/machines"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// topBar names the program, the views with their numbers, and how things are.
func (m *model) topBar() string {
	look := &m.theme.look
	views, counts := m.topBarParts()
	line, used := "", views
	if views > 0 {
		line = look.BarKey.Text(barName) + look.Bar.Text(" ")
	}
	for v := viewKind(0); v < viewCount; v++ {
		ink := look.BarDim
		if v == m.view {
			ink = look.Tab
		}
		label := v.label()
		line += ink.Text(label)
		used += widget.Width(label)
	}
	text := ""
	for _, c := range counts {
		used += c.cells()
		text += c.ink.Text(c.text)
	}
	return line + look.Bar.Text(widget.Spaces(m.areas.w-used)) + text
}

const (
	barName   = " tandem "
	barNameAt = 80 // columns from which there may be room for it, and for words
)

// label is a view's name in the top bar, with its number.
func (v viewKind) label() string { return fmt.Sprintf(" %d %s ", int(v)+1, v) }

// topBarParts says what the top bar has room for: the column in which the views
// begin, and how many of the counts follow them. The program's name makes way for
// counts, and the last of these for those that somebody has to look after.
func (m *model) topBarParts() (views int, counts []barCount) {
	counts = m.counts()
	room := m.areas.w - 1
	for v := viewKind(0); v < viewCount; v++ {
		room -= widget.Width(v.label())
	}
	for _, c := range counts {
		room -= c.cells()
	}
	if name := widget.Width(barName) + 1; m.areas.w >= barNameAt && room >= name {
		return name, counts
	}
	for room < 0 && len(counts) > 0 {
		last := len(counts) - 1
		room += counts[last].cells()
		counts = counts[:last]
	}
	return 0, counts
}

// A barCount is a number in the top bar.
type barCount struct {
	text  string
	ink   widget.Ink
	inbox bool // the inbox has those who are counted
}

func (c barCount) cells() int { return widget.Width(c.text) }

// counts says how much asks for the person, how many coding agents and processes wait
// for them, and how many have failed and run: what matters most comes first.
func (m *model) counts() (counts []barCount) {
	running, failed, waiting := m.tally()
	agents := &m.sessions.list.Agents.Count
	g, look := &m.theme.look.Glyphs, &m.theme.look
	text, bad := machines.Summary(&m.news, m.areas.w < barNameAt)
	if bad {
		counts = append(counts, barCount{text: text + "  ", ink: look.BarWarn})
	}
	parts := []struct {
		glyph, what string
		n           int
		ink         widget.Ink
		inbox       bool
	}{
		{g.Unknown, "asking", len(m.news.Requests), look.BarWarn, true},
		{g.Blocked, "blocked", agents.Blocked, look.BarWarn, true},
		{g.Bell, "waiting", waiting, look.BarWarn, false},
		{g.Check, "done", agents.Done, look.BarGood, true},
		{g.Failed, "failed", failed, look.BarBad, false},
		{g.Working, "working", agents.Working, look.Bar, true},
		{g.Running, "running", running, look.BarGood, false},
	}
	for _, p := range parts {
		if p.n == 0 && p.what != "running" {
			continue
		}
		label := fmt.Sprintf("%s %d ", p.glyph, p.n)
		if m.areas.w >= barNameAt {
			label = fmt.Sprintf("%s %d %s  ", p.glyph, p.n, p.what)
		}
		counts = append(counts, barCount{label, p.ink, p.inbox})
	}
	if text != "" && !bad {
		counts = append(counts, barCount{text: text + "  ", ink: look.BarDim})
	}
	return counts
}

// tally counts the processes that run, failed and wait for the person.
func (m *model) tally() (running, failed, waiting int) {
	for i := range m.news.Processes {
		p := &m.news.Processes[i]
		switch {
		case widget.Failed(p) && !m.sessions.list.IsPutAway(p.ID) && !oneOff(p), p.State == api.StateBackoff:
			failed++
		case !m.news.CanReach(p.ID): // it may not be so any more
		case !p.State.Ended() && p.State != api.StateWaiting:
			running++
			if p.Terminal != nil && !widget.AgentTells(p) && (p.Terminal.Rang || m.sessions.list.Asks(p.ID)) {
				waiting++
			}
		}
	}
	return running, failed, waiting
}

// oneOff reports whether p is a single command that somebody has waited for: how
// it ended was told there, and nobody looks after it.
func oneOff(p *api.Process) bool { return p.Supervision != nil && p.Supervision.Transient }

// A statusBar shows the next useful keys, as many as there is room for, and what the
// person should know beside them.
type statusBar struct {
	m     *model
	lead  string // before the keys
	hints []widget.Hint
	note  string
	ink   widget.Ink // of the note
}

func (s *statusBar) draw() string {
	w, look := s.m.areas.w, &s.m.theme.look
	line, used := widget.Hints(s.hints, w, 0, look.BarKey, look.BarDim)
	used += widget.Width(s.lead)
	if s.note == "" {
		return s.lead + line + look.Bar.Text(widget.Spaces(max(w-used, 0)))
	}
	note := s.note + " "
	gap := max(w-used-widget.Width(note), 0)
	return s.lead + line + look.Bar.Text(widget.Spaces(gap)) + s.ink.Text(note)
}

// newStatusBar is the one for now.
func newStatusBar(m *model) *statusBar {
	note, ink := m.note()
	s := &statusBar{m: m, lead: barLead(m), ink: ink}
	hints, kept := m.hints(), keptHints
	room := max(m.areas.w-widget.Width(s.lead), 0)
	s.note = widget.Clip(note, max(room-1, 0))
	if m.dialog.open != nil { // its keys stand nowhere else
		kept = 1
		if _, ok := m.dialog.open.(*overlay.Approval); ok { // the first ones are the answers
			kept = 0
		}
		s.note = widget.Clip(note, max(room-hintCells(hints)-4, room/2))
	}
	if s.note != "" {
		room -= widget.Width(s.note) + 3
	}
	s.hints = widget.FittingHints(hints, max(room, 0), kept)
	return s
}

// barLead is what the status bar begins with: the prefix, while a key may follow it.
func barLead(m *model) string {
	look := &m.theme.look
	if m.input.resolver.Pending() {
		return look.Chip.Text(" "+m.o.Bindings.PrefixKeys()[0].Show()+" ") + look.BarDim.Text("then   ")
	}
	return look.Bar.Text(" ")
}

// keptHints is how many of the last hints a narrow bar keeps: how to leave, and
// where the other keys are told.
const keptHints = 2

// note is the message in the status bar: the state of the connection before
// anything else.
func (m *model) note() (string, widget.Ink) {
	switch {
	case m.sessions.opened && !m.news.Connected:
		text := "engine restarted – reconnecting…"
		if m.news.Attempts > 5 && m.news.Err != nil {
			text = "cannot reach the engine, trying again: " + widget.Clean(panes.ErrorText(m.news.Err))
		}
		if n := m.sessions.feeds.waiting(); n > 0 {
			text = fmt.Sprintf("%s %d keys wait", text, n)
		}
		if len(m.input.pending) > 0 {
			text += m.input.cancelNote()
		}
		return text, m.theme.look.BarWarn
	case len(m.input.pending) > 0 && m.input.queue.Len() > 0:
		return "what you type waits" + m.input.cancelNote(), m.theme.look.BarWarn
	case m.notices.toast.text != "" && m.notices.toast.bad:
		return m.notices.toast.text, m.theme.look.BarBad
	case m.notices.toast.text != "":
		return m.notices.toast.text, m.theme.look.BarGood
	case m.faultNote() != "":
		return m.faultNote(), m.theme.look.BarBad
	case m.dialog.open != nil:
		return "", ""
	}
	return m.pane().Note()
}

// hints are the next useful keys where the keyboard is, those of a dialog alone while
// one is open.
func (m *model) hints() []widget.Hint {
	b := m.o.Bindings
	pending := m.input.resolver.Pending()
	switch {
	case m.dialog.open != nil:
		return m.dialog.open.Hints(env{m})
	case m.dialog.following() != nil:
		return nil
	}
	if !pending {
		if all, ok := m.pane().Hints(); ok {
			return all
		}
	}
	var hints []widget.Hint
	for _, h := range b.Hints(pending, m.input.scopes()...) {
		hints = append(hints, widget.Hint{Key: h.Key, Does: h.Label, Action: string(h.Action)})
	}
	return hints
}

// farewell is the line that is left in the terminal; command is what brings the
// person back.
func farewell(known panes.News, command string) string {
	if known.Stopped != "" {
		return known.Stopped
	}
	n, processes := 0, known.Processes
	for i := range processes {
		if machine, _ := api.MachineOf(processes[i].ID); machine == "" && processes[i].Kind == api.KindSession && !processes[i].State.Ended() {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 session still running. Run `%s` to return.", command)
	}
	return fmt.Sprintf("%d sessions still running. Run `%s` to return.", n, command)
}
