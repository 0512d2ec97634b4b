package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/passthrough"
	"tandem/engine/sleep"
	"tandem/keys"
	"tandem/ui/display"
	"tandem/ui/predict"
)

// Options say what to attach to, and with which terminal.
type Options struct {
	Client   *client.Client
	ID       string // of the session, a prefix of it, or its name
	ReadOnly bool   // nothing that is typed reaches the session, but the prefix works
	In, Out  *os.File
	Prefix   []keys.Key // default ctrl+b; pressed twice it goes to the session
	Name     string     // who this is, for Terminal.Typist; default "attach"

	// NoClipboard keeps programs from the clipboard (OSC 52).
	NoClipboard bool
	// Pictures is how those of programs are shown, as the configuration has it; "" is
	// as well as the terminal can.
	Pictures string
	// Handoff ends the run for what is the caller's, with HandedBack: the prefix;
	// the mouse, where the program has no use for it; the keyboard's going to
	// another window. Else only d after the prefix does, and other keys show a note.
	Handoff bool
	// NoMouse leaves the mouse to the terminal, in a run with Handoff, unless the
	// program asks for it.
	NoMouse bool
	// Leave is closed when the caller wants the terminal back; the run ends with
	// HandedBack, once nothing that was typed waits for the engine. It may be nil.
	Leave <-chan struct{}
	// InAltScreen says that the terminal is on its alternate screen already and
	// stays there.
	InAltScreen bool
	// Told is what the terminal has told of itself already; nil: it is asked.
	Told *display.Terminal
	// AnswerLimit is how long the terminal may take to answer queries; default
	// display.AnswerLimit.
	AnswerLimit time.Duration
	// Cooked is how the terminal was before the caller made it raw, for when the
	// program is stopped (SIGTSTP); nil: it has not.
	Cooked *term.State
	// Predict says when what is typed is shown before the session shows it, underlined:
	// in a session of another machine, or everywhere if predict.Always.
	Predict predict.Mode
	// Activate starts the engine again when its keeper is gone too. A keeper
	// that lives starts it by itself, unless somebody has stopped it.
	// Nil waits for whoever else does.
	Activate func(ctx context.Context) (*client.Client, error)
}

// Reason says why a run ended.
type Reason int

const (
	Detached    Reason = iota // the person left: prefix d
	Ended                     // the session has ended; Process says how
	HandedBack                // what comes now is the caller's; Rest begins with it
	Interrupted               // a signal, which Signal tells, or ctx
	HungUp                    // the terminal is gone
	Lost                      // the engine did not come back
)

// An Outcome is how a run ended.
type Outcome struct {
	Reason  Reason
	Process *api.Process     // for Ended, where it could be learnt
	Rest    []byte           // for HandedBack: what was typed and not sent, as the terminal sent it
	Signal  os.Signal        // for Interrupted by a signal
	Told    display.Terminal // what the terminal has told of itself
	Unsent  int              // how many keys were dropped that waited for another machine
}

const (
	// patience is how long a run waits for an engine that has gone.
	patience = 15 * time.Second
	// retry is the time between two attempts to reach it.
	retry = 25 * time.Millisecond
	// activateAfter is how long the keeper has to start the engine again before
	// the run does it.
	activateAfter = 500 * time.Millisecond
	// retryAway is the time between two attempts to reach another machine, which go
	// on until the person leaves.
	retryAway = 500 * time.Millisecond
	// noteAfter is how long the engine may be gone before the screen says so.
	noteAfter = 100 * time.Millisecond
	// barrierLimit bounds the wait for the engine to take input before the
	// screen is fetched again.
	barrierLimit = 300 * time.Millisecond
)

// Run connects the terminal to the session until one of the Reasons. When it
// returns, the terminal is as it was before. The error is not nil for Lost,
// and when the run could not begin, which leaves the terminal untouched.
func Run(ctx context.Context, o Options) (Outcome, error) {
	o = o.complete()
	r, err := newRun(ctx, o)
	if err != nil {
		return Outcome{}, err
	}
	defer r.cancel()
	defer r.terminal.close()
	if err := r.begin(); err != nil {
		return Outcome{}, err
	}
	defer context.AfterFunc(r.ctx, r.terminal.hurry)()
	if err := r.terminal.enter(); err != nil {
		r.link.current().Close()
		return Outcome{}, err
	}
	defer r.terminal.leave()
	defer r.terminal.restoreOnPanic()
	return r.serve()
}

func (o Options) complete() Options {
	if o.Name == "" {
		o.Name = "attach"
	}
	if len(o.Prefix) == 0 {
		o.Prefix = []keys.Key{{Code: 'b', Mods: keys.Ctrl}}
	}
	if o.AnswerLimit == 0 {
		o.AnswerLimit = display.AnswerLimit
	}
	return o
}

// points reports whether the run decodes the mouse.
func (o Options) points() bool { return o.Handoff && !o.NoMouse }

// A run is one call of Run. Its main goroutine receives from the engine and
// writes to the terminal; one goroutine reads the terminal and sends, one
// waits for signals.
type run struct {
	Options
	ctx      context.Context
	cancel   context.CancelFunc
	terminal *terminal
	filter   passthrough.Filter
	link     *link
	told     told
	pictures pictured
	over     *overlay // nil without any
	away     away
	note     note
	input    string // the name of what is typed, over all attachments
}

func newRun(ctx context.Context, o Options) (*run, error) {
	t, err := newTerminal(o.In, o.Out, o.InAltScreen)
	if err != nil {
		return nil, err
	}
	t.cooked = o.Cooked
	if o.Told == nil {
		t.asks = display.Ask(os.Getenv)
	}
	r := &run{Options: o, terminal: t, filter: passthrough.Filter{NoClipboard: o.NoClipboard, Points: o.points()}, input: rand.Text()}
	if o.Told != nil {
		r.told.term = *o.Told
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.link, r.note.run = newLink(r.cancel), r
	r.away.machine = o.Client.Machine()
	if o.Predict == predict.Always || r.away.machine != "" {
		r.over = newOverlay(t, o.Predict)
	}
	return r, nil
}

// begin opens the first attachment. From then on the session is known by its
// id, which nobody can change.
func (r *run) begin() error {
	p, err := api.SessionGet.Call(r.ctx, r.Client, api.IDInput{ID: r.ID})
	if err != nil {
		return err
	}
	if p.State.Ended() {
		return api.Errorf(api.CodeEnded, "attach to session %s: it has exited", p.Name).
			WithHint("`tandem screen " + p.ID + "` prints what it showed last")
	}
	r.ID = p.ID
	a, err := r.attach(r.Client)
	if err != nil {
		return err
	}
	r.connected(a)
	return nil
}

// connected makes a the attachment that is received from and sent to.
func (r *run) connected(a *client.Attachment) {
	r.filter.ExpectRepaint()
	if r.over != nil {
		r.over.restart()
	}
	r.convert()
	unsure := r.link.up(a)
	r.resized() // it may have changed since the attachment was asked for
	r.back()
	if unsure > 0 {
		r.explain(fmt.Sprintf("the engine exited: up to %d bytes of what you typed may be lost", unsure))
	}
}

func (r *run) attach(c *client.Client) (*client.Attachment, error) {
	size := r.terminal.size()
	return c.Attach(r.ctx, api.AttachOptions{
		ID: r.ID, Raw: true, ReadOnly: r.ReadOnly, Pictures: true, Direct: r.mayHandOver(), Kinds: true, Cols: size.Cols, Rows: size.Rows, Client: r.Name, Input: r.input, Progress: true,
	})
}

// serve runs the three goroutines and waits for them.
func (r *run) serve() (Outcome, error) {
	in, err := newInput(r)
	if err != nil {
		r.link.current().Close()
		return Outcome{}, fmt.Errorf("attach to session: %w", err)
	}
	stop := context.AfterFunc(r.ctx, func() { r.link.stop(Outcome{Reason: Interrupted}) })
	defer stop()
	leaving := r.spawn(r.untilWanted)
	drawing := r.spawn(r.drawOver)
	signals := r.watchSignals()
	reading := r.spawn(in.loop)

	outcome, err := r.receive()
	r.link.lost()

	r.link.stop(outcome)
	in.wake()
	<-reading
	r.note.end()
	outcome.Rest = in.unsent()
	<-signals
	<-leaving
	<-drawing
	outcome.Unsent, outcome.Told = r.unsent(), r.told.now(r.terminal.size())
	in.close()
	if _, known := outcome.Told.Display(); !known && r.terminal.asks != "" && outcome.Reason != HungUp {
		display.Swallow(r.In, r.terminal.asked.Add(r.AnswerLimit))
	}
	return outcome, err
}

// untilWanted ends the run when the caller wants the terminal back.
func (r *run) untilWanted() {
	select {
	case <-r.Leave:
		r.link.whenOpen(r.ctx)
		r.link.stop(Outcome{Reason: HandedBack})
	case <-r.ctx.Done():
	}
}

// spawn runs f in a goroutine. A panic in it restores the terminal before it
// ends the program.
func (r *run) spawn(f func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		defer r.terminal.restoreOnPanic()
		f()
	}()
	return done
}

// receive writes what the session shows until there is an outcome.
func (r *run) receive() (Outcome, error) {
	for {
		out, err := r.link.current().Receive()
		if outcome, stopped := r.link.outcome(); stopped {
			if err == nil && r.link.handed() {
				continue // the engine has the terminal until the attachment ends
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
			r.answered(*out.Mark)
		case out.Direct != nil:
			r.direct(*out.Direct)
		default:
			if err := r.show(out.Bytes); err != nil {
				r.link.stop(Outcome{Reason: HungUp}) // unless it was left meanwhile
				outcome, _ := r.link.outcome()
				return outcome, nil
			}
		}
	}
}

// show writes a piece of the session's output to the terminal. When the
// program has left its alternate screen, only the engine knows what was below,
// and the screen is fetched again; so it is when pictures have to be converted from now on.
func (r *run) show(p []byte) error {
	r.filter.NoPixels = r.link.cells.Load()
	p, left := r.pass(p)
	if r.filter.Extended {
		r.link.extended.Store(true)
	}
	if r.filter.Colored {
		r.terminal.colored.Store(true)
	}
	r.terminal.progress.Store(r.filter.Progress)
	r.link.points.Store(r.filter.Tracks > 0)
	r.link.pixels.Store(r.filter.Pixels)
	r.link.alt.Store(r.filter.Alt)
	err := r.write(p)
	if err == nil {
		err = r.terminal.write(r.filter.Pointer())
	}
	if err == nil {
		err = r.asked()
	}
	if err == nil && left {
		r.refetch()
	}
	return err
}

// refetch opens another attachment in place of this one, for the repaint it
// begins with. Input waits meanwhile: what was sent before has arrived when the
// engine has answered a request that followed it.
func (r *run) refetch() {
	release := r.link.hold()
	defer release()
	old := r.link.current()
	if old.Send(api.Input{Lines: &api.LineRange{}}) != nil {
		return
	}
	expired := time.AfterFunc(barrierLimit, func() { old.Close() })
	defer expired.Stop()
	for {
		out, err := old.Receive()
		if err != nil || out.Ended != nil || out.Lines != nil {
			break
		}
	}
	a, err := r.attach(r.Client)
	if err != nil {
		return // to receive from the old one then tells why
	}
	old.Close()
	r.connected(a)
}

// reattach follows the loss of the attachment: it waits for the engine and
// attaches again, or says how the run ends.
func (r *run) reattach(cause error) (*Outcome, error) {
	r.link.lost()
	start := time.Now()
	noted := false
	for {
		a, err := r.attach(r.Client)
		if err == nil {
			r.connected(a)
			return nil, nil
		}
		if outcome, stopped := r.link.outcome(); stopped {
			return &outcome, nil
		}
		gone := time.Since(start)
		switch {
		case errors.Is(err, api.CodeEnded), errors.Is(err, api.CodeNotFound):
			return &Outcome{Reason: Ended, Process: r.process()}, nil
		case r.away.machine != "":
			if r.process() == nil {
				r.away.since.CompareAndSwap(nil, &start)
			}
			r.tell()
		case gone > patience:
			return &Outcome{Reason: Lost}, fmt.Errorf("attach to session again: %w", errors.Join(err, cause))
		case gone > activateAfter && r.Activate != nil && !r.Client.KeeperAlive():
			if c, err := r.Activate(r.ctx); err == nil {
				r.Client = c
			}
		}
		if gone > noteAfter && !noted && r.over == nil {
			noted = true
			if p := r.process(); p != nil {
				r.terminal.note("tandem: the program exited and is being restarted")
			} else {
				r.terminal.note("tandem: the engine is gone, reconnecting")
			}
		}
		_ = sleep.For(r.ctx, r.retry())
	}
}

// process asks how the session ended; nil if nobody knows.
func (r *run) process() *api.Process {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), time.Second)
	defer cancel()
	p, err := api.SessionGet.Call(ctx, r.Client, api.IDInput{ID: r.ID})
	if err != nil {
		return nil
	}
	return &p
}
