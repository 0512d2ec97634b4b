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

// waiter is the dialog or the view that waits for an answer; nil if none does.
func (in *input) waiter() panes.Waiter {
	if in.insert != nil {
		return in.insert
	}
	if in.m.zoom.Waits() {
		return &in.m.zoom
	}
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

// holds reports whether what is typed is kept back for now.
func (in *input) holds() bool {
	return in.m.sessions.Waits() || in.m.form.waiting() != nil || in.waiter() != nil
}

// hold keeps back what was typed behind a choice, or a form, that waits,
// unless that takes it back, and what was typed for a choice that is still to be
// shown.
func (in *input) hold(events []screen.Event) (held bool) {
	if !in.holds() {
		return false
	}
	events = splitTyped(events) // any key may take it back
	if in.m.sessions.Waits() {
		in.holdForLayouts(events)
		return true
	}
	if f := in.m.form.waiting(); f != nil {
		return in.m.form.hold(f, events)
	}
	w := in.waiter()
	for _, e := range events {
		if e.Kind == keys.EventKey && w.CallOff(e.Key) {
			return false
		}
	}
	in.queue.Unread(events)
	return true
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

// afterWaiting goes on with what was kept back, once what it waited for is there.
func (in *input) afterWaiting(waited bool) tea.Cmd {
	if !waited || in.waiter() != nil {
		return nil
	}
	return in.take(in.queue.Drain())
}

// insertPatience is how long it may take to learn what runs in a session. What is
// typed meanwhile waits.
const insertPatience = 3 * time.Second

// An insertion is text on its way to the prompt of a session, while it is asked
// whether there is one.
type insertion struct {
	pane *terminal.Pane
	text string
}

// Waits and CallOff are those of a Waiter: the answer is there soon, or the text is
// given up.
func (*insertion) Waits() bool           { return true }
func (*insertion) CallOff(keys.Key) bool { return false }

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
	in := &insertion{p, text}
	m.input.insert = in
	ctx, cancel := context.WithTimeout(m.ctx, insertPatience)
	ask := panes.Ask(ctx, env{m}, func(ctx context.Context, e panes.Engine) (api.SessionForegroundOutput, error) {
		return api.SessionForeground.Call(ctx, e, api.IDInput{ID: p.ID})
	}, func(now api.SessionForegroundOutput, err error) tea.Cmd { return m.insertInto(in, now, err) })
	return func() tea.Msg {
		defer cancel()
		return ask()
	}
}

// insertInto goes on when it is known what runs in the session.
func (m *model) insertInto(in *insertion, now api.SessionForegroundOutput, err error) tea.Cmd {
	m.input.insert = nil
	switch {
	case hasEnded(in.pane):
		return m.insertNew(in.text)
	case err != nil:
		return m.notices.say("not inserted: "+panes.ErrorText(err), true)
	case now.Prompt:
		return in.pane.Paste(in.text)
	}
	m.input.queue.Drain() // it was meant for a prompt, and would answer the question
	session, _ := m.news.Process(in.pane.ID)
	title := widget.Clip(widget.Clean(session.Name), 30) + " is not at its prompt"
	if now.Program != "" {
		title = widget.Clip(widget.Clean(session.Name), 30) + " is running " + widget.Clip(widget.Clean(now.Program), 30)
	}
	env{m}.Ask(&overlay.Question{
		Title: title + ".",
		Lines: []string{"Type it there anyway, or open a new session?"},
		Replies: []overlay.Reply{
			{Key: "t", Does: "type it there", Then: func() tea.Cmd { return in.pane.Paste(in.text) }},
			{Key: "n", Does: "new session", Then: func() tea.Cmd { return m.insertNew(in.text) }},
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

// holdForLayouts keeps back what was typed for the choice that is asked for. A
// key that would close it takes the question back, with what came before.
func (in *input) holdForLayouts(events []screen.Event) {
	closes := slices.IndexFunc(events, func(e screen.Event) bool {
		return e.Kind == keys.EventKey && in.m.sessions.CallOff(e.Key)
	})
	in.queue.Unread(events[closes+1:])
}
