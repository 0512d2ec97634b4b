package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/screen"
)

// An input keeps the user's input in order. While an action is pending that decides where input
// goes, what is typed after it is held.
type input struct {
	o        *Options
	queue    *screen.Input
	handle   func(screen.Event) tea.Cmd
	forUser  func(func() tea.Cmd) tea.Cmd
	byUser   func() bool                             // the user's input is being handled
	textPane func(text string) *terminal.Pane        // for text that needs no handling key by key
	keyPane  func() (*terminal.Pane, []keymap.Scope) // for keys that need no Update; see keyboard
	redraw   func()

	pending  []pendingAction
	detached bool // the user has detached; later input is dropped
}

// A pendingAction is an action that is not ready to run. If the user started it, more input is
// handled only after it has run. An action that an event started holds no input.
type pendingAction struct {
	panes.Pending
	byUser bool
}

// handleQueue handles the queued input.
func (in *input) handleQueue() tea.Cmd { return in.handleEvents(in.queue.Drain()) }

func (in *input) handleEvents(events []screen.Event) tea.Cmd {
	var cmds []tea.Cmd
	for ; len(events) > 0; events = events[1:] {
		// Later keys were not meant for the session.
		if in.detached {
			break
		}
		// Fast path: text without bindings goes to the program in one piece, not key by
		// key.
		if p := in.textPane(events[0].Typed); p != nil && !in.isHeld() {
			cmds = append(cmds, p.TypeText(events[0].Typed))
			continue
		}
		if first := events[0]; first.Typed != "" {
			events = append(first.Split(), events[1:]...)
		}
		if in.holdEvents(events) {
			break
		}
		cmds = append(cmds, in.forUser(func() tea.Cmd { return in.handle(events[0]) }))
	}
	return tea.Batch(cmds...)
}

// updateShortcut lets the goroutine that reads the terminal type keys without a binding, if they
// would only go to a program. The prefix and whatever is bound still go through Update.
func (in *input) updateShortcut() {
	p, scopes := in.keyPane()
	if p == nil || in.isHeld() || in.detached {
		in.queue.SetShortcut(nil)
		return
	}
	bindings := in.o.Bindings
	in.queue.SetShortcut(func(k keys.Key) bool {
		return keymap.NewResolver(bindings).Resolve(k, scopes...).Kind == keymap.Unbound && p.Feed.TypeNow(k)
	})
}

// await runs an action as soon as it is ready. If the user started the action, input is held until
// then.
func (in *input) await(p panes.Pending) tea.Cmd {
	if p.Ready() {
		return p.Then()
	}
	in.pending = append(in.pending, pendingAction{p, in.byUser()})
	return nil
}

// isHeld reports whether typed input is held.
func (in *input) isHeld() bool {
	return slices.ContainsFunc(in.pending, func(p pendingAction) bool { return p.byUser })
}

// holdEvents holds input typed behind a pending action. The Cancel key drops the action
// and the input before the key.
func (in *input) holdEvents(events []screen.Event) (held bool) {
	if !in.isHeld() {
		return false
	}
	// Any key may cancel.
	var split []screen.Event
	for _, e := range events {
		split = append(split, e.Split()...)
	}
	if at := slices.IndexFunc(split, in.isCancel); at >= 0 {
		in.cancelPending()
		split = split[at+1:]
		in.queue.Notify()
	}
	in.queue.Unread(split)
	in.redraw()
	return true
}

// isCancel reports whether an event is a key for Cancel.
func (in *input) isCancel(e screen.Event) bool {
	return e.Kind == keys.EventKey && keymap.NewResolver(in.o.Bindings).Resolve(e.Key, cancelScopes()...).Action == keymap.Cancel
}

// cancelScopes returns the scopes of the keys that cancel a pending action.
func cancelScopes() []keymap.Scope {
	return []keymap.Scope{keymap.ScopePrompt, keymap.ScopePicker, keymap.ScopeForm}
}

// cancelNote names the key for Cancel.
func (in *input) cancelNote() string {
	return in.o.Bindings.WithKey("; ", keymap.Cancel, " cancels", cancelScopes()...)
}

func (in *input) cancelPending() {
	pending := slices.Clone(in.pending)
	in.pending = slices.DeleteFunc(in.pending, func(p pendingAction) bool { return p.byUser })
	for _, p := range pending {
		if p.byUser && p.Cancel != nil {
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
		in.redraw()
		if !p.byUser {
			cmds = append(cmds, p.Then())
			continue
		}
		cmds, waited = append(cmds, in.forUser(p.Then)), true
	}
	if waited && !in.isHeld() {
		cmds = append(cmds, in.handleQueue())
	}
	return tea.Batch(cmds...)
}
