package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/terminal"
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
	in.m.dirty = true
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
		in.pending, in.m.dirty = slices.Delete(in.pending, i, i+1), true
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
	if m.sessions.isOpen || m.view != viewSessions || m.dialog.open != nil || in.resolver.Pending() {
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
	if len(in.early) == 0 || !in.m.sessions.isOpen {
		return nil
	}
	in.queue.Unread(in.early)
	in.early = nil
	return in.handleEvents(in.queue.Drain())
}

// maxForegroundWait is how long to wait for the session's foreground program. Input is
// held meanwhile.
const maxForegroundWait = 3 * time.Second

// insertText types text at the prompt of the session used last, or of a new one if that
// has exited. If a program other than the shell runs, it asks the user first.
func (m *model) insertText(text string) tea.Cmd {
	m.dialog.open = nil
	p := m.sessions.currentPane()
	if cannotType(p) {
		return m.insertNew(text)
	}
	m.showTerminal()
	// A new shell shows its prompt before it reads.
	if p.ID == "" {
		return p.Paste(text)
	}
	ctx, cancel := context.WithTimeout(m.ctx, maxForegroundWait)
	return panes.AwaitAnswer(ctx, env{m}, func(ctx context.Context, e panes.Engine) (api.SessionForegroundOutput, error) {
		return api.SessionForeground.Call(ctx, e, api.IDInput{ID: p.ID})
	}, func(now api.SessionForegroundOutput, err error) tea.Cmd {
		cancel()
		return m.insertInto(p, text, now, err)
	})
}

// insertInto types a command once the session's foreground program is known.
func (m *model) insertInto(p *terminal.Pane, command string, now api.SessionForegroundOutput, err error) tea.Cmd {
	switch {
	case cannotType(p):
		return m.insertNew(command)
	case err != nil:
		return m.notices.showToast("not inserted: "+panes.ErrorText(err), true)
	case now.Prompt:
		return p.Paste(command)
	}
	// Queued keys were meant for a prompt, and would answer the question.
	m.input.queue.Drain()
	session, _ := m.news.Process(p.ID)
	title := text.Clip(text.Clean(session.Name), 30) + " is not at its prompt"
	if now.Program != "" {
		title = text.Clip(text.Clean(session.Name), 30) + " is running " + text.Clip(text.Clean(now.Program), 30)
	}
	env{m}.Ask(&dialog.Question{
		Title: title + ".",
		Lines: []string{"Type it there anyway, or open a new session?"},
		Replies: []dialog.Reply{
			{Key: "t", Does: "type it there", Then: func() tea.Cmd { return p.Paste(command) }},
			{Key: "n", Does: "new session", Then: func() tea.Cmd { return m.insertNew(command) }},
		},
	})
	return nil
}

// insertNew types text into a new session.
func (m *model) insertNew(text string) tea.Cmd {
	start := m.sessions.launcher.newSession()
	m.showTerminal()
	return tea.Batch(start, m.sessions.currentPane().Paste(text))
}

// showTerminal focuses the pane used last.
func (m *model) showTerminal() {
	m.switchView(viewSessions)
	m.sessions.focusTerminal()
	m.relayout()
}

// cannotType reports whether p is nil or its session takes no input.
func cannotType(p *terminal.Pane) bool { return p == nil || p.FinalState() != nil || p.Err() != nil }
