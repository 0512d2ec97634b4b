package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/sleep"
	"tandem/engine/screen/passthrough"
	"tandem/keys"
	"tandem/panes/kit/predict"
	"tandem/ui/display"
	"tandem/ui/jobcontrol"
)

// Options selects the session, and the terminal to attach to it.
type Options struct {
	Client   *client.Client
	ID       string // id of the session, a prefix of it, or its name
	ReadOnly bool   // input does not reach the session; the prefix still works
	In, Out  *os.File
	Prefix   []keys.Key // default ctrl+b; pressed twice, it is sent to the session
	Name     string     // client name for Terminal.Typist; default "attach"

	// NoClipboard drops programs' writes to the clipboard (OSC 52).
	NoClipboard bool
	// Pictures is the configured protocol for pictures; "" uses the best one the terminal
	// supports.
	Pictures string
	// AnswerLimit is how long the terminal may take to answer queries; default
	// display.AnswerLimit.
	AnswerLimit time.Duration
	// Notices receives each note of the last row as a line; default io.Discard.
	Notices io.Writer
	// Predict selects when typed keys are shown before the session echoes them,
	// underlined: on other machines, or everywhere with predict.Always.
	Predict predict.Mode
	// Activate starts the engine again if its keeper is dead. A live keeper restarts the engine by
	// itself, unless the engine was stopped on purpose. If Activate is nil, the run waits for
	// another client to start the engine.
	Activate func(ctx context.Context) (*client.Client, error)
}

// A Reason is why a run ended.
type Reason int

const (
	Detached    Reason = iota // the user detached: prefix d
	Ended                     // the session exited; Process has its status
	Interrupted               // a signal arrived (see Signal), or ctx is done
	HungUp                    // the terminal hung up
	Lost                      // the engine did not come back
)

// An Outcome describes how a run ended.
type Outcome struct {
	Reason  Reason
	Process *api.Process // for Ended, if it could be fetched
	Signal  os.Signal    // for Interrupted by a signal
	Unsent  int          // number of keys dropped while another machine was offline
}

const (
	// patience is how long a run waits for a lost engine.
	patience = 15 * time.Second
	// retryInterval is the time between two attempts to reconnect.
	retryInterval = 25 * time.Millisecond
	// activateAfter is how long the keeper may take to restart the engine before the run
	// calls Activate.
	activateAfter = 500 * time.Millisecond
	// retryOffline is the time between two attempts to reach another machine. They
	// continue until the user detaches.
	retryOffline = 500 * time.Millisecond
	// noteAfter is how long the engine may be lost before the user is told.
	noteAfter = 100 * time.Millisecond
)

// Run connects the terminal to the session until one of the Reasons applies. It restores
// the terminal before it returns. The error is set for Lost, and if the run could not
// start, in which case the terminal was not touched.
func Run(ctx context.Context, o Options) (Outcome, error) {
	o = o.withDefaults()
	r, err := newRun(ctx, o)
	if err != nil {
		return Outcome{}, err
	}
	defer r.cancel()
	defer r.terminal.close()
	if err := r.attachFirst(); err != nil {
		return Outcome{}, err
	}
	jobcontrol.Notify(r.stops)
	defer signal.Stop(r.stops)
	defer context.AfterFunc(r.ctx, r.terminal.abandonOutput)()
	if err := r.terminal.enterScreen(); err != nil {
		r.link.currentAttachment().Close()
		return Outcome{}, err
	}
	defer r.terminal.leaveScreen()
	defer r.terminal.restoreOnPanic()
	return r.runLoops()
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "attach"
	}
	if len(o.Prefix) == 0 {
		o.Prefix = []keys.Key{{Code: 'b', Mods: keys.Ctrl}}
	}
	if o.Notices == nil {
		o.Notices = io.Discard
	}
	if o.AnswerLimit == 0 {
		o.AnswerLimit = display.AnswerLimit
	}
	return o
}

// A run is the state of one call of Run. Its main goroutine receives from the engine and
// writes to the terminal. Others read the terminal and send, handle signals, and draw
// predictions.
type run struct {
	Options
	ctx      context.Context
	cancel   context.CancelFunc
	terminal *terminal
	stops    chan os.Signal // SIGTSTP and SIGCONT
	filter   passthrough.Filter
	link     *link
	known    knownTerminal
	pictures pictureState
	overlay  *overlay // nil without predictions
	remote   remoteState
	note     note
	input    string // names the input stream across all attachments
}

func newRun(ctx context.Context, o Options) (*run, error) {
	t, err := newTerminal(o.In, o.Out)
	if err != nil {
		return nil, err
	}
	r := &run{
		Options: o, terminal: t, stops: make(chan os.Signal, 16),
		input: rand.Text(),
	}
	if !o.NoClipboard {
		r.filter.MaxClip = api.MaxClip
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.link, r.note.run = newLink(r.cancel), r
	r.remote.machine = o.Client.Machine()
	if o.Predict == predict.Always || r.remote.machine != "" {
		r.overlay = newOverlay(t, o.Predict)
	}
	return r, nil
}

// attachFirst opens the first attachment. It then replaces the name of the session by its
// id, which never changes.
func (r *run) attachFirst() error {
	p, err := api.SessionGet.Call(r.ctx, r.Client, api.IDInput{ID: r.ID})
	if err != nil {
		return err
	}
	if p.State.Ended() {
		hint := "`tandem screen " + p.ID + "` prints its last screen"
		if p.Interrupted != nil {
			hint = "`tandem restore " + p.ID + "` starts a shell in it, below its last screen"
		}
		return api.Errorf(api.CodeEnded, "attach to session %s: it has exited", p.Name).WithHint(hint)
	}
	// Attach with the name as the user gave it, not with the id: for typing, the engine accepts
	// only a whole name.
	a, err := r.openAttachment(r.Client)
	if err != nil {
		return err
	}
	r.ID = p.ID
	r.useAttachment(a)
	return nil
}

// useAttachment starts receiving from and sending to a.
func (r *run) useAttachment(a *client.Attachment) {
	r.filter.ExpectRepaint()
	if r.overlay != nil {
		r.overlay.resetScreen()
	}
	r.restartConverter()
	loss := r.link.useAttachment(a)
	// The size may have changed since openAttachment read it.
	r.sendSize()
	r.noteReachable()
	if missing := loss.String(); missing != "" {
		r.showNote("the connection was lost: " + missing)
	}
}

func (r *run) openAttachment(c *client.Client) (*client.Attachment, error) {
	size := r.terminal.currentSize()
	return c.Attach(r.ctx, api.AttachOptions{
		ID: r.ID, Raw: true, ReadOnly: r.ReadOnly, Pictures: true, Direct: r.canHandOver(), Kinds: true, Master: r.canHandOver(), Cols: size.Cols, Rows: size.Rows, Client: r.Name, Input: r.input,
	})
}

// runLoops starts the goroutines and waits for them.
func (r *run) runLoops() (Outcome, error) {
	in, err := newInput(r)
	if err != nil {
		r.link.currentAttachment().Close()
		return Outcome{}, fmt.Errorf("attach to session: %w", err)
	}
	stop := context.AfterFunc(r.ctx, func() { r.link.stopRun(Outcome{Reason: Interrupted}) })
	defer stop()
	drawing := r.spawnGuarded(r.runOverlay)
	signals := r.watchSignals()
	reading := r.spawnGuarded(in.readLoop)

	outcome, err := r.receiveOutput()
	// Order matters: the reader stops before the note ends and unsent input is collected,
	// as it may produce both.
	r.link.closeAttachment()

	r.link.stopRun(outcome)
	in.stopLoop()
	<-reading
	r.note.endNote()
	<-signals
	<-drawing
	outcome.Unsent = r.countUnsent()
	in.close()
	term := r.known.snapshot(r.terminal.currentSize())
	if _, known := term.Display(); !known && r.terminal.queries != "" && outcome.Reason != HungUp {
		display.DrainAnswers(r.In, r.terminal.queriedAt.Add(r.AnswerLimit))
	}
	return outcome, err
}

// spawnGuarded runs f in a goroutine. A panic in f restores the terminal first.
func (r *run) spawnGuarded(f func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		defer r.terminal.restoreOnPanic()
		f()
	}()
	return done
}

// receiveOutput writes the session's output to the terminal until there is an outcome.
func (r *run) receiveOutput() (Outcome, error) {
	for {
		out, err := r.link.currentAttachment().Receive()
		if err == nil && out.Master != nil {
			r.link.keys.Receive(out.Master)
			continue
		}
		if outcome, stopped := r.link.currentOutcome(); stopped {
			if err == nil && r.link.isHandedOver() {
				// The engine owns the terminal until the attachment ends.
				continue
			}
			return outcome, nil
		}
		switch {
		case err != nil:
			if outcome, err := r.reattach(err); outcome != nil {
				return *outcome, err
			}
		case out.Ended != nil:
			return Outcome{Reason: Ended, Process: out.Ended}, nil
		case out.Mark != nil:
			r.handleMark(*out.Mark)
		case out.Direct != nil:
			r.handleDirect(*out.Direct)
		default:
			if err := r.showOutput(out.Bytes); err != nil {
				// No effect if the run was stopped meanwhile.
				r.link.stopRun(Outcome{Reason: HungUp})
				outcome, _ := r.link.currentOutcome()
				return outcome, nil
			}
		}
	}
}

// showOutput writes a piece of the session's output to the terminal. It fetches the screen
// again when the program leaves its alternate screen, whose background only the engine
// knows, and when pictures must be converted from now on.
func (r *run) showOutput(p []byte) error {
	r.filter.NoPixels = r.link.cellMouse.Load()
	p, left := r.filterOutput(p)
	if r.filter.Extended {
		r.link.extended.Store(true)
	}
	if r.filter.Colored {
		r.terminal.colored.Store(true)
	}
	r.terminal.progress.Store(r.filter.Progress)
	r.link.wantsPixels.Store(r.filter.Pixels)
	err := r.writeOutput(p)
	if err == nil {
		err = r.writeColorQuery()
	}
	if err == nil && left {
		r.refetchScreen()
	}
	return err
}

// refetchScreen replaces the attachment to get the repaint at the start of a new one.
// Input is held meanwhile.
func (r *run) refetchScreen() {
	release := r.link.holdInput()
	defer release()
	old := r.link.currentAttachment()
	a, err := r.openAttachment(r.Client)
	if err != nil {
		// Receiving from the old one returns the cause.
		return
	}
	old.Close()
	r.useAttachment(a)
}

// reattach waits for the engine after a lost attachment and attaches again. It returns an
// outcome if the run ends instead.
func (r *run) reattach(cause error) (*Outcome, error) {
	r.link.closeAttachment()
	start := time.Now()
	noted := false
	for {
		a, err := r.openAttachment(r.Client)
		if err == nil {
			r.useAttachment(a)
			return nil, nil
		}
		if outcome, stopped := r.link.currentOutcome(); stopped {
			return &outcome, nil
		}
		gone := time.Since(start)
		switch {
		case errors.Is(err, api.CodeEnded), errors.Is(err, api.CodeNotFound):
			return &Outcome{Reason: Ended, Process: r.fetchProcess()}, nil
		case r.remote.machine != "":
			if r.fetchProcess() == nil {
				r.remote.offlineSince.CompareAndSwap(nil, &start)
			}
			r.updateNotice()
		case gone > patience:
			return &Outcome{Reason: Lost}, fmt.Errorf("attach to session again: %w", errors.Join(err, cause))
		case gone > activateAfter && r.Activate != nil && !r.Client.KeeperAlive():
			if c, err := r.Activate(r.ctx); err == nil {
				r.Client = c
			}
		}
		if gone > noteAfter && !noted && r.overlay == nil {
			noted = true
			if p := r.fetchProcess(); p != nil {
				r.terminal.writeNote("tandem: the program exited and is being restarted")
			} else {
				r.terminal.writeNote("tandem: lost the engine, reconnecting")
			}
		}
		_ = sleep.For(r.ctx, r.retryDelay())
	}
}

// fetchProcess fetches the state of the session; nil if that fails.
func (r *run) fetchProcess() *api.Process {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), time.Second)
	defer cancel()
	p, err := api.SessionGet.Call(ctx, r.Client, api.IDInput{ID: r.ID})
	if err != nil {
		return nil
	}
	return &p
}
