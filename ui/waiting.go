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
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// await does an action as soon as it is ready.
func (in *input) await(p panes.Pending) tea.Cmd {
	if p.Ready() {
		return p.Then()
	}
	in.pending = append(in.pending, p)
	return nil
}

// waits reports whether typed input is held back for now.
func (in *input) waits() bool { return len(in.pending) > 0 || in.m.zoom.behind() }

// hold holds back input typed behind a pending action. A key for Cancel drops the action
// and the input before the key. While the zoomed session is behind, mouse events wait until
// something else is typed.
func (in *input) hold(events []screen.Event) (held bool) {
	switch {
	case len(in.pending) > 0:
		events = splitTyped(events) // any key may cancel
		if at := slices.IndexFunc(events, in.cancels); at >= 0 {
			in.cancelPending()
			events = events[at+1:]
			in.queue.Notify()
		}
	case !in.m.zoom.behind() || slices.ContainsFunc(events, func(e screen.Event) bool { return e.Kind != keys.EventMouse }):
		return false
	}
	in.queue.Unread(events)
	in.m.dirty = true
	return true
}

// cancels reports whether an event is a key for Cancel.
func (in *input) cancels(e screen.Event) bool {
	return e.Kind == keys.EventKey && keymap.NewResolver(in.m.o.Bindings).Resolve(e.Key, cancelScopes()...).Action == keymap.Cancel
}

// cancelScopes returns the scopes of the keys that cancel a pending action.
func cancelScopes() []keymap.Scope {
	return []keymap.Scope{keymap.ScopePrompt, keymap.ScopePicker, keymap.ScopeForm}
}

// cancelNote names the key to cancel with.
func (in *input) cancelNote() string {
	return panes.WithKey(in.m.o.Bindings, "; ", keymap.Cancel, " cancels", cancelScopes()...)
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

// settle does the pending actions that are ready, and takes the held input once none is
// left.
func (in *input) settle(waited bool) tea.Cmd {
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
	if waited && !in.waits() {
		cmds = append(cmds, in.take(in.queue.Drain()))
	}
	return tea.Batch(cmds...)
}

// takeEarly keeps what is typed before the first session is there, for that: it was
// not meant for the list. Keys of the dashboard itself work at once.
func (in *input) takeEarly(e screen.Event) (taken bool) {
	m := in.m
	if m.sessions.opened || m.view != viewSessions || m.dialog.open != nil || in.resolver.Pending() {
		return false
	}
	isKey := e.Kind == keys.EventKey && keymap.NewResolver(m.o.Bindings).Resolve(e.Key, keymap.ScopeGlobal).Kind == keymap.Unbound
	if isKey || e.Kind == keys.EventPaste {
		in.early = append(in.early, e)
		return true
	}
	return false
}

// afterStart gives the first session what was typed before it was there.
func (in *input) afterStart() tea.Cmd {
	if len(in.early) == 0 || !in.m.sessions.opened {
		return nil
	}
	in.queue.Unread(in.early)
	in.early = nil
	return in.take(in.queue.Drain())
}

// insertPatience is how long it may take to learn what runs in a session. What is
// typed meanwhile waits.
const insertPatience = 3 * time.Second

// insertText types text at the prompt of the session used last, or of a new one if
// that has ended. Where something else than a prompt waits, the person is asked.
func (m *model) insertText(text string) tea.Cmd {
	m.dialog.open = nil
	p := m.sessions.currentPane()
	if hasEnded(p) {
		return m.insertNew(text)
	}
	m.showTerminal()
	if p.ID == "" { // its shell comes to a prompt first of all
		return p.Paste(text)
	}
	ctx, cancel := context.WithTimeout(m.ctx, insertPatience)
	return panes.AwaitAnswer(ctx, env{m}, func(ctx context.Context, e panes.Engine) (api.SessionForegroundOutput, error) {
		return api.SessionForeground.Call(ctx, e, api.IDInput{ID: p.ID})
	}, func(now api.SessionForegroundOutput, err error) tea.Cmd {
		cancel()
		return m.insertInto(p, text, now, err)
	})
}

// insertInto goes on when it is known what runs in the session.
func (m *model) insertInto(p *terminal.Pane, text string, now api.SessionForegroundOutput, err error) tea.Cmd {
	switch {
	case hasEnded(p):
		return m.insertNew(text)
	case err != nil:
		return m.notices.say("not inserted: "+panes.ErrorText(err), true)
	case now.Prompt:
		return p.Paste(text)
	}
	m.input.queue.Drain() // it was meant for a prompt, and would answer the question
	session, _ := m.news.Process(p.ID)
	title := widget.Clip(widget.Clean(session.Name), 30) + " is not at its prompt"
	if now.Program != "" {
		title = widget.Clip(widget.Clean(session.Name), 30) + " is running " + widget.Clip(widget.Clean(now.Program), 30)
	}
	env{m}.Ask(&overlay.Question{
		Title: title + ".",
		Lines: []string{"Type it there anyway, or open a new session?"},
		Replies: []overlay.Reply{
			{Key: "t", Does: "type it there", Then: func() tea.Cmd { return p.Paste(text) }},
			{Key: "n", Does: "new session", Then: func() tea.Cmd { return m.insertNew(text) }},
		},
	})
	return nil
}

// insertNew types text into a new session.
func (m *model) insertNew(text string) tea.Cmd {
	start := m.sessions.starts.newSession()
	m.showTerminal()
	return tea.Batch(start, m.sessions.currentPane().Paste(text))
}

// showTerminal gives the terminal used last the keyboard.
func (m *model) showTerminal() {
	m.switchTo(viewSessions)
	m.sessions.focusTerminal()
	m.relayout()
}

// hasEnded reports whether nothing takes input in a pane, or there is none.
func hasEnded(p *terminal.Pane) bool { return p == nil || p.Ended() != nil || p.Err() != nil }
