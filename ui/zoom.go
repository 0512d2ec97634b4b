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

// A zoom is the way of a terminal that becomes a session, and back.
type zoom struct {
	m       *model
	handing bool // the terminal is being handed over; what is typed waits
}

// zoomedOut is the end of a direct zoom.
type zoomedOut struct {
	outcome attach.Outcome
	undone  bool
	err     error
}

// handOver lets the terminal itself become a session until the next prefix key; nil
// if that cannot be.
func (z *zoom) handOver(p *terminal.Pane) tea.Cmd {
	e, direct := z.m.link.Now().(conn.Client)
	if !direct || z.m.terminal == nil {
		return nil
	}
	run := &directZoom{m: z.m, options: attach.Options{
		Client: e.Client, ID: p.ID, In: z.m.o.Input, Out: z.m.o.Output,
		Prefix: z.m.o.Bindings.PrefixKeys(), Name: panes.ClientName, Handoff: true, InAltScreen: true, Activate: z.m.o.Connect,
		NoClipboard: z.m.o.NoClipboard, Cooked: z.m.terminal.Cooked(),
	}}
	z.handing = true
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
	z.m.input.queue.Feed(z.outcome.Rest) // nobody else reads now
	return errors.Join(err, z.m.terminal.Enter())
}

// typeAhead passes on what was typed after the zoom key and before the terminal
// was handed over. It reports whether that is all; a prefix and what follows it
// is left to the dashboard.
func (z *directZoom) typeAhead() (all bool) {
	p := z.m.sessions.focused()
	events := z.m.input.queue.Drain()
	for i, t := range events {
		switch {
		case t.Kind == keys.EventKey && slices.ContainsFunc(z.options.Prefix, t.Key.Same):
			z.m.input.queue.Unread(events[i:])
			return false
		case p == nil:
		case t.Kind == keys.EventKey:
			p.Outbox.Send(api.Input{Key: &t.Key})
		case t.Kind == keys.EventPaste:
			p.Outbox.Send(api.Input{Paste: &t.Paste})
		}
	}
	return true
}

// over goes on where the direct zoom was left: with a prefix key, which
// counts as if it had been pressed here, or because there is nothing more to
// show.
func (z *zoom) over(msg zoomedOut) tea.Cmd {
	z.m.sessions.takeClips() // what was copied meanwhile has reached the terminal
	z.handing = false
	if msg.undone {
		z.m.sessions.setZoomed(true)
		return z.m.input.take(z.m.input.queue.Drain())
	}
	cmd := z.after(msg)
	return tea.Batch(cmd, z.m.input.take(z.m.input.queue.Drain()))
}

func (z *zoom) after(msg zoomedOut) tea.Cmd {
	z.m.areas.w, z.m.areas.h = z.m.terminal.Size()
	z.m.relayout()
	cmd := z.m.sync()
	if msg.err != nil {
		return tea.Batch(cmd, z.m.notices.say(panes.ErrorText(msg.err), true))
	}
	switch msg.outcome.Reason {
	case attach.PrefixKey:
		return tea.Batch(cmd, z.press(msg.outcome.Key))
	case attach.Detached, attach.HungUp:
		return z.m.leave()
	case attach.Interrupted:
		return z.interrupted(msg.outcome.Signal)
	}
	return cmd
}

// press does what the key after the prefix means. What concerns the pane
// as it was seen goes on with the pane filling the screen.
func (z *zoom) press(k keys.Key) tea.Cmd {
	prefix := z.m.o.Bindings.PrefixKeys()[0]
	z.m.input.resolver.Cancel()
	z.m.input.resolver.Resolve(prefix, keymap.ScopeGlobal)
	outcome := z.m.input.resolver.Resolve(k, z.m.input.scopes()...)
	switch {
	case outcome.Kind != keymap.Bound || outcome.Action == keymap.PaneZoom:
		return nil
	case outcome.Action == keymap.ScrollMode, outcome.Action == keymap.HistoryInsert:
		z.m.sessions.setZoomed(true)
	}
	if act := z.m.input.action(outcome.Action); act != nil {
		return act()
	}
	return nil
}

// interrupted ends the dashboard as a signal that came to it would have.
func (z *zoom) interrupted(s os.Signal) tea.Cmd {
	if s != nil {
		z.m.stop(endedBy(s))
	}
	return z.m.leave()
}
