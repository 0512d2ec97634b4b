package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/overlay"
)

// callOffMsg says that the person does not want the session any more that is being
// started for a pane.
type callOffMsg struct{ pane *terminal.Pane }

func (msg callOffMsg) take(m *model) tea.Cmd { return m.callOff(msg.pane) }

// askCallOff asks as if the session were there, because whoever presses the key
// answers without looking.
func (m *model) askCallOff(p *terminal.Pane) tea.Cmd {
	m.overlay = &overlay.Question{
		Title: "End the new session?",
		Lines: []string{"It is still being started."},
		Yes:   "end it",
		Then:  func() tea.Msg { return callOffMsg{p} },
	}
	return nil
}

// callOff closes the pane of a session that is not there yet. One that was not
// asked for yet never will be; the other is ended once it is known. Those behind
// it do not wait for that.
func (m *model) callOff(p *terminal.Pane) tea.Cmd {
	at := slices.IndexFunc(m.starts, func(s start) bool { return s.pane == p })
	switch {
	case p.ID != "":
		return m.end(p.ID)
	case at < 0:
		return nil
	}
	s := m.starts[at]
	m.starts = slices.Delete(m.starts, at, at+1)
	var next tea.Cmd
	if at == 0 {
		m.calledOff = append(m.calledOff, s)
		next = m.startNext()
	}
	if g, l := m.tabs.Of(p); g != nil {
		m.closeLeaf(g, l)
	}
	m.refreshList()
	return tea.Batch(m.endCalledOff(), next)
}

// endCalledOff ends what is being started and was called off, as soon as the
// engine has it. The answer to the start, which comes when it runs, tells at the
// latest.
func (m *model) endCalledOff() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range m.calledOff {
		if p, ok := m.process(s.id); ok && !p.State.Ended() && !m.unwanted[s.id] {
			cmds = append(cmds, m.endQuietly(s.id))
		}
	}
	return tea.Batch(cmds...)
}

// isAskedFor reports whether a session is one that is being started here, or was
// and is not wanted any more.
func (m *model) isAskedFor(id string) bool {
	is := func(s start) bool { return s.id == id }
	return m.unwanted[id] || slices.ContainsFunc(m.starts, is) || slices.ContainsFunc(m.calledOff, is)
}

// calledOffStarted ends a session that was called off and runs all the same. That
// it could not be started is what was wanted; should only the answer have been
// lost, endCalledOff will see it.
func (m *model) calledOffStarted(msg startedMsg) tea.Cmd {
	if msg.err != nil {
		return nil
	}
	m.calledOff = slices.DeleteFunc(m.calledOff, func(s start) bool { return s.asking == msg.asking })
	if m.unwanted[msg.process.ID] {
		return nil
	}
	m.link.Learn(msg.process) // or news that are older would take it away again
	m.news.Learn(msg.process)
	if g, l := m.tabs.Find(msg.process.ID); g != nil {
		m.closeLeaf(g, l)
		m.refreshList()
	}
	return m.endQuietly(msg.process.ID)
}

// isCalledOff reports whether an answer is to a start that was called off.
func (m *model) isCalledOff(msg startedMsg) bool {
	return slices.ContainsFunc(m.calledOff, func(s start) bool { return s.asking == msg.asking })
}

// endNow ends a session that was called off, before the dashboard is left.
func (m *model) endNow(ctx context.Context, id string) {
	if e, err := m.link.At(ctx); err == nil {
		_, _ = e.Kill(ctx, id) // nobody is there any more to be told
	}
}

// endQuietly ends a session that was called off; until that has failed it is given
// no pane.
func (m *model) endQuietly(id string) tea.Cmd {
	m.ending[id], m.unwanted[id] = true, true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		_, err := e.Kill(ctx, id)
		return calledOffMsg{id, err}
	}, func(err error) tea.Msg { return calledOffMsg{id, err} })
}

// calledOffMsg is the outcome of ending a session that was called off.
type calledOffMsg struct {
	id  string
	err error
}

func (msg calledOffMsg) take(m *model) tea.Cmd {
	if msg.err == nil {
		return nil
	}
	delete(m.unwanted, msg.id)
	m.adopt()
	m.refreshList()
	if p, ok := m.process(msg.id); !ok || p.State.Ended() { // it has come to nothing by itself
		return nil
	}
	return m.say(panes.ErrorText(msg.err), true)
}
