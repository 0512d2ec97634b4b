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
	"syscall"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/attach"
	"tandem/ui/conn"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// A zoom hands the terminal over to the zoomed session and back.
type zoom struct {
	ctx      context.Context
	host     zoomHost
	say      func(text string, bad bool) tea.Cmd
	o        *Options
	areas    *areas
	sessions *sessions.View
	input    *input
	link     *conn.Link
	display  *display.Terminal       // what is known about the user's terminal
	terminal *screen.Terminal        // nil in tests
	reader   *screen.Reader          // of the terminal
	stop     context.CancelCauseFunc // closes the dashboard with an error
	news     chan struct{}           // capacity 1; signals news of the link or a session

	handing  bool           // a handover is scheduled or running
	away     bool           // the session has the terminal
	excluded *terminal.Pane // not handed over again until zoomed again: its session exited or could not be attached
}

// A zoomHost is the dashboard around the zoomed pane.
type zoomHost interface {
	isIdle() bool // neither the screen nor the keyboard is needed for anything but the view
	syncNews() tea.Cmd
	setSize(w, h int)
	detach() tea.Cmd
	leaveOnPanic()
}

// idlePane returns the zoomed pane if the terminal may be handed over to it: nothing else
// needs the screen and nothing is in progress. Otherwise it returns nil.
func (z *zoom) idlePane() *terminal.Pane {
	p := z.sessions.Tabs.FocusedPane()
	switch {
	case !z.areas.zoomed || p == nil || p == z.excluded || !z.host.isIdle() || z.sessions.HasPendingSizes():
	case p.ID == "" || !p.Outbox.Connected() || p.Outbox.Waiting() > 0 || p.FinalState() != nil || p.Scroll.Active() || p.Selecting():
	default:
		return p
	}
	return nil
}

// isBehind reports whether the terminal shows output of the session that the dashboard has
// not received yet. Until then the mouse's target is unknown.
func (z *zoom) isBehind() bool {
	return z.areas.zoomed && z.sessions.Tabs.FocusedPane() != nil && z.sessions.Tabs.FocusedPane().IsBehind()
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
	if !z.areas.zoomed {
		z.excluded = nil
	}
	e, real := z.link.CurrentEngine().(conn.Client)
	if !real || z.terminal == nil || z.handing {
		return nil
	}
	p := z.idlePane()
	if p == nil {
		return nil
	}
	z.handing = true
	known := *z.display
	run := &directZoom{zoom: z, out: zoomResult{pane: p}, options: attach.Options{
		Client: e.Client, ID: p.ID, In: z.o.Input, Out: z.o.Output,
		Prefix: z.o.Bindings.PrefixKeys(), Name: panes.ClientName, Handoff: true, InAltScreen: true, Activate: z.o.Connect,
		NoClipboard: !z.o.Clipboard, Pictures: z.o.Pictures, NoMouse: !z.o.Mouse, Known: &known, Cooked: z.terminal.Cooked(),
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
	d.reader.Stop()
	defer d.reader.Start()
	typed := d.input.queue.Drain()
	d.input.queue.Unread(typed)
	// The state changed since the handover was scheduled.
	if len(typed) > 0 || d.idlePane() != d.out.pane {
		return nil
	}
	defer d.host.leaveOnPanic()
	d.out.began, d.away = true, true
	d.options.Stops = d.terminal.Leave()
	defer func() {
		// After a panic, the deferred restore needs the terminal.
		if d.away {
			_ = d.terminal.Enter()
		}
	}()
	err := d.runSession()
	// The clips are discarded: they reached the terminal directly.
	d.sessions.TakeClips()
	if d.out.outcome.Reason == attach.HungUp {
		d.away = false
		return err
	}
	*d.display = d.out.outcome.Known
	d.out.pane.CatchUp()
	d.input.queue.Feed(d.out.outcome.Rest)
	d.away = false
	return errors.Join(err, d.terminal.Enter())
}

// runSession attaches the terminal to the session, and applies news meanwhile. It returns
// once the dashboard has something to draw.
func (d *directZoom) runSession() (err error) {
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	run, stop := context.WithCancel(d.ctx)
	ctx, leave := context.WithCancel(run)
	defer leave()
	d.options.Leave = ctx.Done()
	if w, h := d.terminal.Size(); w != d.areas.w || h != d.areas.h {
		// The terminal was resized since the dashboard last read its size.
		leave()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.link.Guard(func() { d.out.outcome, err = attach.Run(run, d.options) })
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
			if cmd := d.host.syncNews(); cmd != nil || d.idlePane() != d.out.pane {
				d.out.cmd = tea.Batch(d.out.cmd, cmd)
				leave()
			}
		}
	}
}

// resumeDashboard handles the result of a handover and the input queued meanwhile.
func (z *zoom) resumeDashboard(msg zoomResult) tea.Cmd {
	z.handing = false
	cmd := msg.cmd
	if msg.began {
		cmd = tea.Batch(cmd, z.handleOutcome(msg))
	}
	return tea.Batch(cmd, z.input.handleQueue())
}

func (z *zoom) handleOutcome(msg zoomResult) tea.Cmd {
	z.host.setSize(z.terminal.Size())
	cmd := z.host.syncNews()
	reason := msg.outcome.Reason
	switch {
	case reason == attach.HungUp:
		return z.host.detach()
	case msg.err != nil:
		z.excluded = msg.pane
		return tea.Batch(cmd, z.say(panes.ErrorText(msg.err), true))
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
	return z.host.detach()
}
