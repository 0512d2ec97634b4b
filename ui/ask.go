package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// call runs an operation on the engine as a command.
func (m *model) call(do func(context.Context, panes.Engine) tea.Msg, failed func(error) tea.Msg) tea.Cmd {
	ctx, l := m.ctx, m.link
	return func() tea.Msg {
		e, err := l.At(ctx)
		if err != nil {
			return failed(err)
		}
		return do(ctx, e)
	}
}

func (m *model) done(msg panes.DoneMsg) tea.Cmd {
	if msg.Err != nil {
		return m.say(panes.ErrorText(msg.Err), true)
	}
	return nil
}

// target is the session that an action is about: that of the focused pane, or
// the list's.
func (m *model) target() (api.Process, bool) {
	if m.view != viewSessions {
		return api.Process{}, false
	}
	if p := m.focused(); p != nil {
		return m.process(p.ID)
	}
	return m.process(m.list.Selected())
}

func (m *model) askEnd() tea.Cmd {
	if p := m.focused(); p != nil && p.ID == "" {
		return m.askCallOff(p)
	}
	p, ok := m.target()
	if !ok {
		return nil
	}
	if p.State.Ended() {
		if m.focused() != nil {
			return m.closePane()
		}
		return m.askForget()
	}
	m.overlay = &overlay.Question{
		Title: fmt.Sprintf("End session %s?", widget.Clean(p.Name)),
		Lines: []string{"Kills its program and everything it started."},
		Yes:   "end it",
		Then:  func() tea.Msg { return endMsg(p.ID) },
	}
	return nil
}

// endMsg says that the person wants a session to end.
type endMsg string

func (m *model) end(id string) tea.Cmd {
	m.ending[id] = true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		_, err := e.Kill(ctx, id)
		return panes.DoneMsg{Err: err}
	}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
}

func (m *model) askForget() tea.Cmd {
	p, ok := m.target()
	if !ok {
		return nil
	}
	if !p.State.Ended() {
		return m.say("the session is running; end it first", true)
	}
	m.overlay = &overlay.Question{
		Title: fmt.Sprintf("Forget session %s?", widget.Clean(p.Name)),
		Lines: []string{"Its record and its output are removed."},
		Yes:   "forget it",
		Then: m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			return panes.DoneMsg{Err: e.Remove(ctx, p.ID)}
		}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} }),
	}
	return nil
}

func (m *model) askName() tea.Cmd {
	p, ok := m.target()
	if !ok {
		return nil
	}
	m.overlay = overlay.NewPrompt("Rename session", p.Name, func(name string) tea.Cmd {
		if name == "" || name == p.Name {
			return nil
		}
		return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			_, err := e.Rename(ctx, p.ID, name)
			return panes.DoneMsg{Err: err}
		}, func(err error) tea.Msg { return panes.DoneMsg{Err: err} })
	})
	return nil
}

func (m *model) askFilter() tea.Cmd {
	if m.view != viewSessions {
		return nil
	}
	var names []string
	for _, p := range m.news.Processes {
		if p.Kind == api.KindSession {
			names = append(names, widget.Clean(p.Name))
		}
	}
	m.overlay = overlay.NewFilter("Show sessions with", "", m.filter, func(text string) tea.Cmd {
		m.filter = text
		m.refreshList()
		return nil
	}).SuggestWords(names)
	return nil
}

func (m *model) clearFilter() tea.Cmd {
	m.filter = ""
	m.refreshList()
	return nil
}
