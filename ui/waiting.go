package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// awaitPending runs an action as soon as it is ready. Input is held until then.
func (in *input) awaitPending(p panes.Pending) tea.Cmd {
	if p.Ready() {
		return p.Then()
	}
	in.pending = append(in.pending, p)
	return nil
}

// isHeld reports whether typed input is held.
func (in *input) isHeld() bool { return len(in.pending) > 0 || in.m.zoom.isBehind() }

// holdEvents holds input typed behind a pending action. The Cancel key drops the action
// and the input before the key. While the zoomed session is behind, mouse events wait
// until something else is typed.
func (in *input) holdEvents(events []screen.Event) (held bool) {
	switch {
	case len(in.pending) > 0:
		// Any key may cancel.
		events = splitEvents(events)
		if at := slices.IndexFunc(events, in.isCancel); at >= 0 {
			in.cancelPending()
			events = events[at+1:]
			in.queue.Notify()
		}
	case !in.m.zoom.isBehind() || slices.ContainsFunc(events, func(e screen.Event) bool { return e.Kind != keys.EventMouse }):
		return false
	}
	in.queue.Unread(events)
	in.m.frame.redraw()
	return true
}

// isCancel reports whether an event is a key for Cancel.
func (in *input) isCancel(e screen.Event) bool {
	return e.Kind == keys.EventKey && keymap.NewResolver(in.m.o.Bindings).Resolve(e.Key, cancelScopes()...).Action == keymap.Cancel
}

// cancelScopes returns the scopes of the keys that cancel a pending action.
func cancelScopes() []keymap.Scope {
	return []keymap.Scope{keymap.ScopePrompt, keymap.ScopePicker, keymap.ScopeForm}
}

// cancelNote names the key for Cancel.
func (in *input) cancelNote() string {
	return in.m.o.Bindings.WithKey("; ", keymap.Cancel, " cancels", cancelScopes()...)
}

func (in *input) cancelPending() {
	pending := in.pending
	in.pending = nil
	for _, p := range pending {
		if p.Cancel != nil {
			p.Cancel()
		}
	}
}

// runReady runs the pending actions that are ready, and handles the held input once none
// is left.
func (in *input) runReady(waited bool) tea.Cmd {
	var cmds []tea.Cmd
	for i := 0; i < len(in.pending); {
		p := in.pending[i]
		if !p.Ready() {
			i++
			continue
		}
		in.pending = slices.Delete(in.pending, i, i+1)
		in.m.frame.redraw()
		cmds, waited = append(cmds, p.Then()), true
	}
	if waited && !in.isHeld() {
		cmds = append(cmds, in.handleEvents(in.queue.Drain()))
	}
	return tea.Batch(cmds...)
}

// keepEarly keeps keys typed before the first session opens: they are meant for the
// session, not for the list. The dashboard's own keys work at once.
func (in *input) keepEarly(e screen.Event) (taken bool) {
	m := in.m
	if m.sessions.Display.IsOpen() || m.views.action() != keymap.ViewSessions || m.dialog.open != nil || in.resolver.Pending() {
		return false
	}
	isKey := e.Kind == keys.EventKey && keymap.NewResolver(m.o.Bindings).Resolve(e.Key, keymap.ScopeGlobal).Kind == keymap.Unbound
	if isKey || e.Kind == keys.EventPaste {
		in.early = append(in.early, e)
		return true
	}
	return false
}

// replayEarly types the kept keys into the first session.
func (in *input) replayEarly() tea.Cmd {
	if len(in.early) == 0 || !in.m.sessions.Display.IsOpen() {
		return nil
	}
	in.queue.Unread(in.early)
	in.early = nil
	return in.handleEvents(in.queue.Drain())
}
