package ui

import (
	"fmt"
	"strings"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// topBar names the program, the views with their numbers, and how things are.
func (m *model) topBar() string {
	look := &m.look
	counts, right := m.counts()
	line, used := "", 0
	if m.w >= 80 {
		line, used = look.BarKey.Text(" tandem ")+look.Bar.Text(" "), 9
	}
	for v := viewKind(0); v < viewCount; v++ {
		label := fmt.Sprintf(" %d %s ", int(v)+1, v)
		ink := look.BarDim
		if v == m.view {
			ink = look.Tab
		}
		line += ink.Text(label)
		used += panes.Width(label)
	}
	if gap := m.w - used - right; gap > 0 {
		return line + look.Bar.Text(panes.Spaces(gap)) + counts
	}
	return line + look.Bar.Text(panes.Spaces(m.w-used))
}

// counts says how many processes run, failed and wait for the person.
func (m *model) counts() (text string, cells int) {
	running, failed, waiting := 0, 0, 0
	for i := range m.news.processes {
		p := &m.news.processes[i]
		switch {
		case panes.Failed(p) && !m.closed[p.ID] && !oneOff(p), p.State == api.StateBackoff:
			failed++
		case !p.State.Ended():
			running++
			if p.Terminal != nil && (p.Terminal.Rang || m.attention.marks[p.ID] == "asks") {
				waiting++
			}
		}
	}
	g, look := &m.look.Glyphs, &m.look
	parts := []struct {
		glyph, what string
		n           int
		ink         panes.Ink
	}{
		{g.Unknown, "asking", len(m.news.requests), look.BarWarn},
		{g.Bell, "waiting", waiting, look.BarWarn},
		{g.Failed, "failed", failed, look.BarBad},
		{g.Running, "running", running, look.BarGood},
	}
	for _, p := range parts {
		if p.n == 0 && p.what != "running" {
			continue
		}
		label := fmt.Sprintf("%s %d ", p.glyph, p.n)
		if m.w >= 80 {
			label = fmt.Sprintf("%s %d %s  ", p.glyph, p.n, p.what)
		}
		text += p.ink.Text(label)
		cells += panes.Width(label)
	}
	return text, cells
}

// oneOff reports whether p is a single command that somebody has waited for: how
// it ended was told there, and nobody looks after it.
func oneOff(p *api.Process) bool { return p.Supervision != nil && p.Supervision.Transient }

// statusBar shows the next useful keys, or what the person should know.
func (m *model) statusBar() string {
	look := &m.look
	note, noteInk := m.note()
	right := panes.Clip(note, m.w-2)
	room := m.w - 1
	if right != "" {
		room -= panes.Width(right) + 3
	}
	line, used := panes.Hints(m.hints(), max(room, 0), keptHints, look.BarKey, look.BarDim)
	gap := max(m.w-1-used, 0)
	if right == "" {
		return look.Bar.Text(" ") + line + look.Bar.Text(panes.Spaces(gap))
	}
	right += " "
	gap = max(m.w-1-used-panes.Width(right), 0)
	return look.Bar.Text(" ") + line + look.Bar.Text(panes.Spaces(gap)) + noteInk.Text(right)
}

// keptHints is how many of the last hints a narrow bar keeps: how to leave, and
// where the other keys are told.
const keptHints = 2

// note is the message in the status bar: the state of the connection before
// anything else.
func (m *model) note() (string, panes.Ink) {
	switch {
	case m.opened && !m.news.connected:
		text := "engine restarted – reconnecting…"
		if m.news.attempts > 5 && m.news.err != nil {
			text = "cannot reach the engine, trying again: " + panes.Clean(errorText(m.news.err))
		}
		if n := m.waitingKeys(); n > 0 {
			text = fmt.Sprintf("%s %d keys wait", text, n)
		}
		return text, m.look.BarWarn
	case m.toast.text != "" && m.toast.bad:
		return m.toast.text, m.look.BarBad
	case m.toast.text != "":
		return m.toast.text, m.look.BarGood
	case m.faultNote() != "":
		return m.faultNote(), m.look.BarBad
	case m.view == viewProcesses && m.processNote() != "":
		return m.processNote(), m.look.BarWarn
	case m.historyNote() != "":
		return m.historyNote(), m.look.BarWarn
	case m.filesNote() != "":
		return m.filesNote(), m.look.BarDim
	case m.filter != "" && m.listFocused && m.view == viewSessions:
		return "showing sessions with “" + panes.Clean(m.filter) + "”", m.look.BarWarn
	case m.keyboardNote() != "":
		return m.keyboardNote(), m.look.BarWarn
	}
	return "", m.look.Bar
}

func (m *model) waitingKeys() int {
	n := 0
	for p := range m.attachments {
		n += p.Waiting()
	}
	return n
}

// hints are the next useful keys where the keyboard is.
func (m *model) hints() []panes.Hint {
	b := m.o.Bindings
	pending := m.resolver.Pending()
	p := m.focused()
	if o, ok := m.overlay.(interface{ hints(*model) []panes.Hint }); ok {
		return o.hints(m)
	}
	if p != nil && p.Ended() != nil && !p.Scrolling() && !pending && m.overlay == nil {
		return []panes.Hint{{Key: "enter", Does: "new shell"}, {Key: "x", Does: "close"}}
	}
	if m.view == viewHistory && !pending && m.overlay == nil {
		return m.historyHints()
	}
	var hints []panes.Hint
	if pending {
		hints = append(hints, panes.Hint{Key: b.PrefixKeys()[0].Show(), Does: "…"})
	}
	for _, h := range b.Hints(pending, m.scopes()...) {
		hints = append(hints, panes.Hint{Key: h.Key, Does: h.Label})
	}
	if p == nil || pending || m.overlay != nil || p.Scrolling() {
		return hints
	}
	return m.terminalHints(hints)
}

// directHints is how many direct keys come before the prefix.
const directHints = 2

// terminalHints are some direct keys of a terminal, then the prefix and what may
// follow it.
func (m *model) terminalHints(direct []panes.Hint) (hints []panes.Hint) {
	b := m.o.Bindings
	prefix := b.PrefixKeys()[0].Show()
	told := map[string]bool{}
	for _, h := range direct {
		if h.Key != prefix && len(hints) < directHints {
			hints = append(hints, h)
			told[h.Does] = true
		}
	}
	hints = append(hints, panes.Hint{Key: prefix, Does: "then"})
	for _, h := range b.Hints(true) {
		if !told[h.Label] {
			hints = append(hints, panes.Hint{Key: h.Key, Does: h.Label})
		}
	}
	return hints
}

// noSessions is the sessions view without any.
func (m *model) noSessions() *panes.Page {
	switch {
	case !m.opened && m.news.attempts > 0:
		return &panes.Page{Title: "Connecting to the engine…"}
	case !m.opened:
		return &panes.Page{}
	}
	return &panes.Page{
		Title: "No session is running",
		Lines: []string{"Everything that was started here has ended."},
		Hints: []panes.Hint{m.hintFor(keys.SessionNew, "new shell"), m.hintFor(keys.Help, "keys"), m.hintFor(keys.Quit, "leave")},
	}
}

// hintFor is the key of an action in lists.
func (m *model) hintFor(a keys.Action, does string) panes.Hint {
	for _, scope := range []keys.Scope{keys.ScopeSessions, keys.ScopeProcesses, keys.ScopeList, keys.ScopeGlobal, ""} {
		if names := m.o.Bindings.KeysOf(a, scope); len(names) > 0 {
			return panes.Hint{Key: names[0], Does: does}
		}
	}
	return panes.Hint{Key: "", Does: does}
}

// farewell is the line that is left in the terminal.
func farewell(known news) string {
	if known.stopped != "" {
		return known.stopped
	}
	n, processes := 0, known.processes
	for i := range processes {
		if processes[i].Kind == api.KindSession && !processes[i].State.Ended() {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "left 1 session running; tandem brings it back"
	}
	return strings.TrimSpace(fmt.Sprintf("left %d sessions running; tandem brings them back", n))
}
