package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
	"tandem/ui/screen"
)

// waiter is the dialog or the view that waits for an answer; nil if none does.
func (m *model) waiter() panes.Waiter {
	if w, ok := m.overlay.(panes.Waiter); ok && w.Waits() {
		return w
	}
	for _, p := range m.views {
		if w, ok := p.(panes.Waiter); ok && w.Waits() {
			return w
		}
	}
	return nil
}

// holdForPick keeps back what was typed behind a choice, or a form, that waits,
// unless that takes it back, and what was typed for a choice that is still to be
// shown.
func (m *model) holdForPick(events []screen.Event) (held bool) {
	if m.sessions.Waits() {
		m.holdForLayouts(events)
		return true
	}
	if f := m.waitingForm(); f != nil {
		return m.holdForForm(f, events)
	}
	w := m.waiter()
	if w == nil {
		return false
	}
	for _, e := range events {
		if e.Kind == keys.EventKey && w.CallOff(e.Key) {
			return false
		}
	}
	m.in.Unread(events)
	return true
}

// afterWaiting goes on with what was kept back, once what it waited for is there.
func (m *model) afterWaiting(waited bool) tea.Cmd {
	if !waited || m.waiter() != nil {
		return nil
	}
	return m.handleInput(m.in.Drain())
}

// insertText types text into the session used last, or into a new one if that
// has ended.
func (m *model) insertText(text string) tea.Cmd {
	m.overlay = nil
	var cmd tea.Cmd
	p := m.sessions.currentPane()
	if p == nil || p.Ended() != nil || p.Err() != nil {
		cmd = m.sessions.starts.newSession()
		p = m.sessions.currentPane()
	}
	m.switchTo(viewSessions)
	m.sessions.focusTerminal()
	m.relayout()
	return tea.Batch(cmd, p.Paste(text))
}

// holdForLayouts keeps back what was typed for the choice that is asked for. A
// key that would close it takes the question back, with what came before.
func (m *model) holdForLayouts(events []screen.Event) {
	closes := slices.IndexFunc(events, func(e screen.Event) bool {
		return e.Kind == keys.EventKey && m.sessions.CallOff(e.Key)
	})
	m.in.Unread(events[closes+1:])
}
