package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/attach"
	"tandem/ui/conn"
)

// A zoom is a terminal that fills the screen. While there is nothing else to show
// the person's terminal itself becomes the session, which echoes sooner; the
// prefix, a message, the wheel or whatever else wants to be shown brings the
// dashboard back, which draws the session in the same place and size.
type zoom struct {
	m       *model
	news    chan struct{}  // of 1: the link has some, or a session has
	handing bool           // the terminal is being handed over, or has been
	away    bool           // it has been
	over    *terminal.Pane // its session has ended, or cannot be attached to; until it is zoomed again
}

// tells reports whether there is something to read beside the session.
func (z *zoom) tells() bool {
	return z.m.input.resolver.Pending() || z.m.notices.toast.text != "" || z.m.sessions.opened && !z.m.news.Connected
}

// drawScreen is the session, and the status bar over its last row when there is
// something to read, or over the first while the cursor is in the last. Under a dialog
// it is always the last.
func (z *zoom) drawScreen() string {
	z.m.content = z.m.sessions.AppendRows(z.m.content[:0])
	text := strings.TrimSuffix(string(z.m.content), "\n")
	if !z.tells() && z.m.dialog.open == nil {
		return text
	}
	rows := strings.Split(text, "\n")
	at := len(rows) - 1
	if c := z.m.sessions.Cursor(); c != nil && c.Y == at && z.m.dialog.open == nil {
		at = 0
	}
	rows[at] = newStatusBar(z.m).draw()
	return strings.Join(rows, "\n")
}

// idle is the pane that is zoomed while nothing but its session wants to be shown
// and nothing is under way in it; else nil.
func (z *zoom) idle() *terminal.Pane {
	m, v := z.m, z.m.sessions
	p := v.focused()
	switch {
	case !m.areas.zoomed || p == nil || p == z.over || z.tells() || m.dialog.open != nil:
	case m.input.blurred || m.input.held != nil || m.input.left || m.input.waits():
	case m.theme.ground != nil: // which is painted behind the session too
	case v.sizes.changed || v.sizes.calm:
	case p.ID == "" || !p.Outbox.Connected() || p.Outbox.Waiting() > 0 || p.Ended() != nil || p.Scroll.Active() || p.Selecting():
	default:
		return p
	}
	return nil
}

// behind reports whether the terminal shows output of the session that the dashboard has
// not received yet. Until then the mouse's target is unknown.
func (z *zoom) behind() bool {
	return z.m.areas.zoomed && z.m.sessions.focused() != nil && z.m.sessions.focused().Behind()
}

// zoomedOut is the end of what handOver began.
type zoomedOut struct {
	pane    *terminal.Pane
	outcome attach.Outcome
	began   bool
	cmd     tea.Cmd
	err     error
}

// handOver lets the terminal itself become the session that is zoomed, if that can
// be.
func (z *zoom) handOver() tea.Cmd {
	if !z.m.areas.zoomed {
		z.over = nil
	}
	e, real := z.m.link.Now().(conn.Client)
	if !real || z.m.terminal == nil || z.handing {
		return nil
	}
	p := z.idle()
	if p == nil {
		return nil
	}
	z.handing = true
	told := z.m.display
	run := &directZoom{zoom: z, out: zoomedOut{pane: p}, options: attach.Options{
		Client: e.Client, ID: p.ID, In: z.m.o.Input, Out: z.m.o.Output,
		Prefix: z.m.o.Bindings.PrefixKeys(), Name: panes.ClientName, Handoff: true, InAltScreen: true, Activate: z.m.o.Connect,
		NoClipboard: z.m.o.NoClipboard, Pictures: z.m.o.Pictures, NoMouse: z.m.o.NoMouse, Told: &told, Cooked: z.m.terminal.Cooked(),
	}}
	return tea.Exec(run, func(err error) tea.Msg {
		run.out.err = err
		return run.out
	})
}

// A directZoom is the session as a command that has the terminal.
type directZoom struct {
	*zoom
	options attach.Options
	out     zoomedOut
}

func (d *directZoom) SetStdin(io.Reader)  {}
func (d *directZoom) SetStdout(io.Writer) {}
func (d *directZoom) SetStderr(io.Writer) {}

// Run is called on the goroutine of Update, which waits for it.
func (d *directZoom) Run() error {
	typed := d.m.input.queue.Drain()
	d.m.input.queue.Unread(typed)
	if len(typed) > 0 || d.idle() != d.out.pane { // of what has happened meanwhile
		return nil
	}
	defer d.m.leaveOnPanic()
	d.out.began, d.away = true, true
	d.m.terminal.Leave()
	defer func() {
		if d.away { // a panic: what restores the terminal has to own it
			_ = d.m.terminal.Enter()
		}
	}()
	err := d.attach()
	d.m.sessions.takeClips() // what was copied has reached the terminal
	if d.out.outcome.Reason == attach.HungUp {
		d.away = false
		return err
	}
	d.m.display = d.out.outcome.Told
	d.out.pane.CatchUp()
	d.m.input.queue.Feed(d.out.outcome.Rest) // nobody else reads now
	d.away = false
	return errors.Join(err, d.m.terminal.Enter())
}

// attach has the terminal be the session until the dashboard has something to show,
// for which it takes in the news meanwhile.
func (d *directZoom) attach() (err error) {
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	run, stop := context.WithCancel(d.m.ctx)
	ctx, leave := context.WithCancel(run)
	defer leave()
	d.options.Leave = ctx.Done()
	if w, h := d.m.terminal.Size(); w != d.m.areas.w || h != d.m.areas.h {
		leave() // it has another size since the dashboard was told last
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.m.link.Guard(func() { d.out.outcome, err = attach.Run(run, d.options) })
	}()
	defer func() { // on a panic below, too, the session lets go of the terminal first
		stop()
		<-ended
	}()
	for {
		select {
		case <-ended:
			return err
		case <-sizes:
			leave()
		case <-d.news:
			if cmd := d.m.sync(); cmd != nil || d.idle() != d.out.pane {
				d.out.cmd = tea.Batch(d.out.cmd, cmd)
				leave()
			}
		}
	}
}

func (msg zoomedOut) take(m *model) tea.Cmd { return m.zoom.back(msg) }

// back goes on where the session was left.
func (z *zoom) back(msg zoomedOut) tea.Cmd {
	z.handing = false
	cmd := msg.cmd
	if msg.began {
		cmd = tea.Batch(cmd, z.after(msg))
	}
	return tea.Batch(cmd, z.m.input.take(z.m.input.queue.Drain()))
}

func (z *zoom) after(msg zoomedOut) tea.Cmd {
	z.m.areas.w, z.m.areas.h = z.m.terminal.Size()
	z.m.relayout()
	cmd := z.m.sync()
	reason := msg.outcome.Reason
	switch {
	case reason == attach.HungUp:
		return z.m.leave()
	case msg.err != nil:
		z.over = msg.pane
		return tea.Batch(cmd, z.m.notices.say(panes.ErrorText(msg.err), true))
	case reason == attach.Interrupted:
		return z.interrupted(msg.outcome.Signal)
	case reason == attach.Ended:
		z.over = msg.pane
	}
	return cmd
}

// interrupted ends the dashboard as a signal that came to it would have.
func (z *zoom) interrupted(s os.Signal) tea.Cmd {
	if s != nil {
		z.m.stop(endedBy(s))
	}
	return z.m.leave()
}
