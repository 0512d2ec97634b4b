package ui

import (
	"errors"
	"io"
	"os"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/attach"
	"tandem/ui/conn"
)

// zoomedOut is the end of a direct zoom.
type zoomedOut struct {
	outcome attach.Outcome
	undone  bool
	err     error
}

// handOver lets the terminal itself become a session until the next prefix key; nil
// if that cannot be.
func (m *model) handOver(p *terminal.Pane) tea.Cmd {
	e, direct := m.link.Now().(conn.Client)
	if !direct || m.terminal == nil {
		return nil
	}
	run := &directZoom{m: m, options: attach.Options{
		Client: e.API, ID: p.ID, In: m.o.Input, Out: m.o.Output,
		Prefix: m.o.Bindings.PrefixKeys(), Name: panes.ClientName, Handoff: true, InAltScreen: true, Activate: m.o.Connect,
		NoClipboard: m.o.NoClipboard, Cooked: m.terminal.Cooked(),
	}}
	m.handing = true
	return tea.Exec(run, func(err error) tea.Msg { return zoomedOut{run.outcome, run.undone, err} })
}

// A directZoom is the session as a command that has the terminal.
type directZoom struct {
	m       *model
	options attach.Options
	outcome attach.Outcome
	undone  bool // the person has pressed the prefix already
}

func (z *directZoom) SetStdin(io.Reader)  {}
func (z *directZoom) SetStdout(io.Writer) {}
func (z *directZoom) SetStderr(io.Writer) {}

// Run is called on the goroutine of Update, which waits for it.
func (z *directZoom) Run() error {
	if z.undone = !z.typeAhead(); z.undone {
		return nil
	}
	z.m.terminal.Leave()
	var err error
	z.outcome, err = attach.Run(z.m.ctx, z.options)
	if z.outcome.Reason == attach.HungUp {
		return err
	}
	z.m.in.Feed(z.outcome.Rest) // nobody else reads now
	return errors.Join(err, z.m.terminal.Enter())
}

// typeAhead passes on what was typed after the zoom key and before the terminal
// was handed over. It reports whether that is all; a prefix and what follows it
// is left to the dashboard.
func (z *directZoom) typeAhead() (all bool) {
	p := z.m.sessions.focused()
	events := z.m.in.Drain()
	for i, t := range events {
		switch {
		case t.Kind == keys.EventKey && slices.ContainsFunc(z.options.Prefix, t.Key.Same):
			z.m.in.Unread(events[i:])
			return false
		case p == nil:
		case t.Kind == keys.EventKey:
			p.Send(api.Input{Key: &t.Key})
		case t.Kind == keys.EventPaste:
			p.Send(api.Input{Paste: &t.Paste})
		}
	}
	return true
}

// zoomedOut goes on where the direct zoom was left: with a prefix key, which
// counts as if it had been pressed here, or because there is nothing more to
// show.
func (m *model) zoomedOut(msg zoomedOut) tea.Cmd {
	m.sessions.takeClips() // what was copied meanwhile has reached the terminal
	m.handing = false
	if msg.undone {
		m.sessions.setZoomed(true)
		return m.handleInput(m.in.Drain())
	}
	cmd := m.afterDirectZoom(msg)
	return tea.Batch(cmd, m.handleInput(m.in.Drain()))
}

func (m *model) afterDirectZoom(msg zoomedOut) tea.Cmd {
	m.w, m.h = m.terminal.Size()
	m.relayout()
	cmd := m.sync()
	if msg.err != nil {
		return tea.Batch(cmd, m.say(panes.ErrorText(msg.err), true))
	}
	switch msg.outcome.Reason {
	case attach.PrefixKey:
		return tea.Batch(cmd, m.afterZoom(msg.outcome.Key))
	case attach.Detached, attach.HungUp:
		return m.leave()
	case attach.Interrupted:
		return m.interrupted(msg.outcome.Signal)
	}
	return cmd
}

// afterZoom does what the key after the prefix means. What concerns the pane
// as it was seen goes on with the pane filling the screen.
func (m *model) afterZoom(k keys.Key) tea.Cmd {
	prefix := m.o.Bindings.PrefixKeys()[0]
	m.resolver.Cancel()
	m.resolver.Resolve(prefix, keymap.ScopeGlobal)
	outcome := m.resolver.Resolve(k, m.scopes()...)
	switch {
	case outcome.Kind != keymap.Bound || outcome.Action == keymap.PaneZoom:
		return nil
	case outcome.Action == keymap.ScrollMode, outcome.Action == keymap.HistoryInsert:
		m.sessions.setZoomed(true)
	}
	if act := m.action(outcome.Action); act != nil {
		return act()
	}
	return nil
}

// interrupted ends the dashboard as a signal that came to it would have.
func (m *model) interrupted(s os.Signal) tea.Cmd {
	if s != nil {
		m.stop(endedBy(s))
	}
	return m.leave()
}
