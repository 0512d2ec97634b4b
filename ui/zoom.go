// A zoomed pane fills the screen. As long as nothing else needs to be drawn, the dashboard
// hands the user's terminal over to the session: keys and output bypass the dashboard, and
// echo is faster. The prefix, a message, the wheel or anything else that needs the
// dashboard brings it back. It then draws the session at the same position and size.
//
// During the handover the goroutine of Update is blocked in directZoom.Run, so the state
// of the model cannot change underneath. News are applied there; once they need to be
// drawn, the session releases the terminal. Keys read by then are returned to the input
// queue, so none is lost or reordered.

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

// A zoom hands the terminal over to the zoomed session and back.
type zoom struct {
	m        *model
	stop     context.CancelCauseFunc // closes the dashboard with an error
	news     chan struct{}           // capacity 1; signals news of the link or a session
	handing  bool                    // a handover is scheduled or running
	away     bool                    // the session has the terminal
	excluded *terminal.Pane          // not handed over again until zoomed again: its session exited or could not be attached
}

// hasMessage reports whether something must be shown beside the session.
func (z *zoom) hasMessage() bool {
	return z.m.keyboard.resolver.Pending() || z.m.notices.toast.text != "" || z.m.sessions.Display.IsOpen() && !z.m.news.Connected
}

// drawScreen draws the session. A message covers its last row, or the first while the
// cursor is in the last. With a dialog open it is always the last row.
func (z *zoom) drawScreen() string {
	f := &z.m.frame
	f.content = z.m.sessions.AppendRows(f.content[:0])
	text := strings.TrimSuffix(string(f.content), "\n")
	if !z.hasMessage() && z.m.dialog.open == nil {
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

// idlePane returns the zoomed pane if the terminal may be handed over to it: nothing else
// needs the screen and nothing is in progress. Otherwise it returns nil.
func (z *zoom) idlePane() *terminal.Pane {
	m := z.m
	p := m.sessions.Tabs.FocusedPane()
	switch {
	case !m.areas.zoomed || p == nil || p == z.excluded || z.hasMessage() || m.dialog.open != nil:
	case m.notices.desktop.blurred || m.pointer.pane != nil || m.input.detached || m.input.isHeld():
	case m.theme.background != nil: // the session would not paint it
	case m.sessions.Attachments.HasPendingSizes():
	case p.ID == "" || !p.Outbox.Connected() || p.Outbox.Waiting() > 0 || p.FinalState() != nil || p.Scroll.Active() || p.Selecting():
	default:
		return p
	}
	return nil
}

// isBehind reports whether the terminal shows output of the session that the dashboard has
// not received yet. Until then the mouse's target is unknown.
func (z *zoom) isBehind() bool {
	return z.m.areas.zoomed && z.m.sessions.Tabs.FocusedPane() != nil && z.m.sessions.Tabs.FocusedPane().IsBehind()
}

// zoomResult is the result of a handover.
type zoomResult struct {
	pane    *terminal.Pane
	outcome attach.Outcome
	began   bool
	cmd     tea.Cmd
	err     error
}

// handOver schedules a handover of the terminal if idlePane allows it.
func (z *zoom) handOver() tea.Cmd {
	if !z.m.areas.zoomed {
		z.excluded = nil
	}
	e, real := z.m.link.CurrentEngine().(conn.Client)
	if !real || z.m.terminal == nil || z.handing {
		return nil
	}
	p := z.idlePane()
	if p == nil {
		return nil
	}
	z.handing = true
	told := z.m.display
	run := &directZoom{zoom: z, out: zoomResult{pane: p}, options: attach.Options{
		Client: e.Client, ID: p.ID, In: z.m.o.Input, Out: z.m.o.Output,
		Prefix: z.m.o.Bindings.PrefixKeys(), Name: panes.ClientName, Handoff: true, InAltScreen: true, Activate: z.m.o.Connect,
		NoClipboard: !z.m.o.Clipboard, Pictures: z.m.o.Pictures, NoMouse: !z.m.o.Mouse, Known: &told, Cooked: z.m.terminal.Cooked(),
	}}
	return tea.Exec(run, func(err error) tea.Msg {
		run.out.err = err
		return run.out
	})
}

// A directZoom implements tea.ExecCommand: it gives the terminal to the session.
type directZoom struct {
	*zoom
	options attach.Options
	out     zoomResult
}

func (d *directZoom) SetStdin(io.Reader)  {}
func (d *directZoom) SetStdout(io.Writer) {}
func (d *directZoom) SetStderr(io.Writer) {}

// Run runs on the goroutine of Update, which waits for it.
func (d *directZoom) Run() error {
	typed := d.m.input.queue.Drain()
	d.m.input.queue.Unread(typed)
	// The state changed since the handover was scheduled.
	if len(typed) > 0 || d.idlePane() != d.out.pane {
		return nil
	}
	defer d.m.leaveOnPanic()
	d.out.began, d.away = true, true
	d.m.terminal.Leave()
	defer func() {
		// After a panic, the deferred restore needs the terminal.
		if d.away {
			_ = d.m.terminal.Enter()
		}
	}()
	err := d.runSession()
	// The clips are discarded: they reached the terminal directly.
	d.m.sessions.TakeClips()
	if d.out.outcome.Reason == attach.HungUp {
		d.away = false
		return err
	}
	d.m.display = d.out.outcome.Known
	d.out.pane.CatchUp()
	// The program's reader has not started again.
	d.m.input.queue.Feed(d.out.outcome.Rest)
	d.away = false
	return errors.Join(err, d.m.terminal.Enter())
}

// runSession attaches the terminal to the session, and applies news meanwhile. It returns
// once the dashboard has something to draw.
func (d *directZoom) runSession() (err error) {
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	run, stop := context.WithCancel(d.m.env.Context())
	ctx, leave := context.WithCancel(run)
	defer leave()
	d.options.Leave = ctx.Done()
	if w, h := d.m.terminal.Size(); w != d.m.areas.w || h != d.m.areas.h {
		// The terminal was resized since the dashboard last read its size.
		leave()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.m.link.Guard(func() { d.out.outcome, err = attach.Run(run, d.options) })
	}()
	// Even on a panic below, the session must release the terminal first.
	defer func() {
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
			if cmd := d.m.syncNews(); cmd != nil || d.idlePane() != d.out.pane {
				d.out.cmd = tea.Batch(d.out.cmd, cmd)
				leave()
			}
		}
	}
}

func (msg zoomResult) applyTo(m *model) tea.Cmd { return m.zoom.resumeDashboard(msg) }

// resumeDashboard handles the result of a handover and the input queued meanwhile.
func (z *zoom) resumeDashboard(msg zoomResult) tea.Cmd {
	z.handing = false
	cmd := msg.cmd
	if msg.began {
		cmd = tea.Batch(cmd, z.handleOutcome(msg))
	}
	return tea.Batch(cmd, z.m.input.handleQueue())
}

func (z *zoom) handleOutcome(msg zoomResult) tea.Cmd {
	z.m.areas.w, z.m.areas.h = z.m.terminal.Size()
	z.m.relayout()
	cmd := z.m.syncNews()
	reason := msg.outcome.Reason
	switch {
	case reason == attach.HungUp:
		return z.m.detach()
	case msg.err != nil:
		z.excluded = msg.pane
		return tea.Batch(cmd, z.m.notices.toast.Say(panes.ErrorText(msg.err), true))
	case reason == attach.Interrupted:
		return z.stopOnSignal(msg.outcome.Signal)
	case reason == attach.Ended:
		z.excluded = msg.pane
	}
	return cmd
}

// stopOnSignal closes the dashboard as if it had received the signal itself.
func (z *zoom) stopOnSignal(s os.Signal) tea.Cmd {
	if s != nil {
		z.stop(signalError(s))
	}
	return z.m.detach()
}
