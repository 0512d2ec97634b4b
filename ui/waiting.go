package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
	"tandem/ui/screen"
)

// waiter is the dialog or the view that waits for an answer; nil if none does.
func (in *input) waiter() panes.Waiter {
	if w, ok := in.m.dialog.open.(panes.Waiter); ok && w.Waits() {
		return w
	}
	for _, p := range in.m.views() {
		if w, ok := p.(panes.Waiter); ok && w.Waits() {
			return w
		}
	}
	return nil
}

// hold keeps back what was typed behind a choice, or a form, that waits,
// unless that takes it back, and what was typed for a choice that is still to be
// shown.
func (in *input) hold(events []screen.Event) (held bool) {
	if in.m.sessions.Waits() {
		in.holdForLayouts(events)
		return true
	}
	if f := in.m.form.waiting(); f != nil {
		return in.m.form.hold(f, events)
	}
	w := in.waiter()
	if w == nil {
		return false
	}
	for _, e := range events {
		if e.Kind == keys.EventKey && w.CallOff(e.Key) {
			return false
		}
	}
	in.queue.Unread(events)
	return true
}

// afterWaiting goes on with what was kept back, once what it waited for is there.
func (in *input) afterWaiting(waited bool) tea.Cmd {
	if !waited || in.waiter() != nil {
		return nil
	}
	return in.take(in.queue.Drain())
}

// insertText types text into the session used last, or into a new one if that
// has ended.
func (m *model) insertText(text string) tea.Cmd {
	m.dialog.open = nil
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
func (in *input) holdForLayouts(events []screen.Event) {
	closes := slices.IndexFunc(events, func(e screen.Event) bool {
		return e.Kind == keys.EventKey && in.m.sessions.CallOff(e.Key)
	})
	in.queue.Unread(events[closes+1:])
}
