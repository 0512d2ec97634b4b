package terminal

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
	"tandem/engine/screen/picture"
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/persist/inputnotes"
	"tandem/persist/store"
)

// An Emulator is a terminal emulator. It has all methods that the parts of a session use.
type Emulator interface {
	parser
	resizer
	repainter
	differ
	shownText
	picture.Terminal
	pictureCounter
	markedText
	lineText
}

var _ Emulator = (*vt.Terminal)(nil)

// A Log is the part of ptylog.Log used by a session.
type Log interface {
	prompt.Log
	Space(min int) ([]byte, error)
	Commit(n int) (int, error)
	DropWindow() error
	Finish() error
	Close() error
}

// A Journal is the part of store.Store that a session uses.
type Journal interface {
	AppendResize(id string, r store.Resize) error
	ReadResizes(id string) ([]store.Resize, error)
	SaveCheckpoint(id string, c store.Checkpoint) error
	ReadCheckpoints(id string) ([]store.Checkpoint, error)
}

// A Host is what a session needs from the engine. The session's goroutines call its methods, which
// may block unless they say otherwise.
type Host interface {
	OpenLog() (Log, error)
	OpenInputNotes() (*inputnotes.Notes, error)
	NewEmulator(vt.Options) Emulator

	LogGrows(offset int64)     // the log grows at offset; called at most once in StampGap
	OutputRead()               // all output has been read
	ScreenChanged()            // must not block
	FactsChanged()             // called at most 10 times a second
	CommandRan(prompt.Command) // by the shell; must not block
	Notify(text string)        // tells the user

	ShownLine(line string) string // returns what of a command line may be shown
}

// Options describe a session.
type Options struct {
	ID         string
	Host       Host
	Master     *os.File // non-blocking; nil if the program has exited
	Cols, Rows int      // used if the journal has no size
	Displays   *Displays
	Journal    Journal
	PID        int           // of the child; 0 if it has exited
	New        bool          // the child is new: what the log contains is from earlier ones
	Below      bool          // show the new child's output below their last screen
	Redraw     bool          // ask the program to draw its screen, of which the log has nothing
	Nonce      string        // for its shell's marks; "" if it makes none
	Secret     string        // redacted in the readable log: Nonce, or that of a previous engine
	Kind       prompt.Kind   // kind of interactive shell of the child
	Actor      string        // started it
	From       string        // the other machine it was started from, as user@host; "" for this one
	Replays    chan struct{} // a token is held during a replay
	Chunks     *sync.Pool    // see NewChunks
	Log        *slog.Logger
	Ending     <-chan struct{} // closed when the engine exits: viewers that leave now decide nothing
}

// A Session is one terminal with its log, screen, keyboard and viewers. The reader goroutine moves
// output from the PTY to the log. The screen goroutine follows the log with the emulator; the reader
// parses an echo itself, which saves waking another goroutine.
type Session struct {
	options  Options
	facts    *facts
	viewers  viewerSet
	screen   *screen
	keyboard *keyboard
	shell    *prompt.Shell
	log      Log               // set before opened is closed; nil if it cannot be opened
	notes    *inputnotes.Notes // of input, if there is a program; set with log

	drawing chan struct{} // of 1: the screen is being drawn

	opened chan struct{} // closed when the log is open, or opening it has failed
	ready  chan struct{} // closed when the screen has caught up with the log
	failed error         // set before ready is closed
	exited chan struct{} // closed when the child has exited
	over   chan struct{} // closed when the end has been announced
	ended  api.Process   // set before over is closed
	closed chan struct{} // closed when all goroutines of the session have ended

	stopped atomic.Bool  // a stop was requested
	used    atomic.Int64 // time of the last use, in nanoseconds since 1970

	ctx     context.Context
	cancel  context.CancelFunc
	once    struct{ exited, over sync.Once }
	reading struct { // of the PTY
		sync.WaitGroup
		by *reader
	}
}

// Start starts the goroutines of a session and returns at once. done is called when the last of
// them has ended.
func Start(o Options, done func()) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		options: o,
		facts:   newFacts(o),
		drawing: make(chan struct{}, 1),
		opened:  make(chan struct{}),
		ready:   make(chan struct{}),
		ctx:     ctx,
		cancel:  cancel,
		exited:  make(chan struct{}),
		over:    make(chan struct{}),
		closed:  make(chan struct{}),
	}
	s.shell = prompt.New(prompt.Options{
		Terminal: s, Master: o.Master, PID: o.PID, Nonce: o.Nonce, Kind: o.Kind,
		Exited: s.exited, Over: s.over, Closed: ctx.Done(),
		Ran: s.reportCommand, Show: o.Host.ShownLine, Changed: s.facts.touch, Log: o.Log,
	})
	s.keyboard = newKeyboard(o.Master, s.shell)
	s.screen = newScreen(s)
	s.NoteUse()
	if o.Master == nil {
		s.once.exited.Do(func() { close(s.exited) })
	}
	go func() {
		defer done()
		panics.Log(o.Log, "session", s.run)
	}()
	return s
}

// run is the screen goroutine.
func (s *Session) run() {
	defer close(s.closed)
	defer s.release()
	if err := s.prepare(); err != nil {
		if s.ctx.Err() == nil {
			s.options.Host.Notify("open log: " + err.Error())
		}
		s.failed = err
		close(s.ready)
		s.reportDrainedWithout()
		return
	}
	s.screen.startProgram()
	close(s.ready)
	if s.options.Master != nil {
		s.reading.by = newReader(s)
		s.reading.Go(panics.Restarted(s.ctx, s.options.Log, "output of a session", s.reading.by.run))
		if s.options.Redraw {
			s.reading.Go(panics.Logged(s.options.Log, "redraw of a session", s.screen.requestRedraw))
		}
	}
	for {
		select {
		case <-s.screen.grew:
			s.screen.use(s.screen.parse)
		case <-s.screen.replies.Due():
			s.screen.use(s.screen.replies.Settle)
		case <-s.over:
			s.hangUp()
			s.screen.use(s.noteShellExit)
			s.parseRest()
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// prepare opens the log and parses it up to its end.
func (s *Session) prepare() error {
	var log Log
	err := s.retry(func() (err error) {
		log, err = s.options.Host.OpenLog()
		return err
	})
	if err == nil {
		s.log, s.screen.log = log, log
	}
	close(s.opened)
	if err != nil {
		return err
	}
	s.openInputNotes()
	if log.End() == 0 {
		return s.retry(s.screen.replay)
	}
	select {
	// Limit concurrent replays: each takes time, and all sessions start at once with the engine.
	case s.options.Replays <- struct{}{}:
		defer func() { <-s.options.Replays }()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	return s.retry(s.screen.replay)
}

// openInputNotes loads the notes about the input of viewers. From then on, their messages can be
// numbered.
func (s *Session) openInputNotes() {
	if s.options.Master == nil {
		return
	}
	var err error
	if s.notes, err = s.options.Host.OpenInputNotes(); err != nil {
		s.options.Log.Warn("note input", "id", s.options.ID, "error", err)
		s.notes = inputnotes.New()
	}
	s.keyboard.useNotes(s.notes, s.options.New)
}

const (
	// retryPause is the time before the second attempt to prepare a screen. It doubles up to
	// maxRetryPause.
	retryPause    = 10 * time.Millisecond
	maxRetryPause = time.Second
)

// retry calls f until it succeeds or about two seconds have passed. A shortage of descriptors or
// memory may be brief.
func (s *Session) retry(f func() error) error {
	for pause := retryPause; ; pause *= 2 {
		err := f()
		if err == nil || pause > maxRetryPause {
			return err
		}
		if sleep.For(s.ctx, pause) != nil {
			return err
		}
	}
}

// parseRest parses what is left in the log after the program has exited.
func (s *Session) parseRest() {
	for {
		select {
		case <-s.screen.grew:
			s.screen.use(s.screen.parse)
		case <-s.ctx.Done():
			return
		}
	}
}

// reportDrainedWithout takes the place of the reader if the log cannot be opened. The child keeps
// running, and its output waits in the PTY.
func (s *Session) reportDrainedWithout() {
	if s.options.Master == nil {
		<-s.ctx.Done()
		return
	}
	select {
	case <-s.exited:
		s.options.Host.OutputRead()
	case <-s.ctx.Done():
	}
	<-s.ctx.Done()
}

// release stops the reader and closes the session's files.
func (s *Session) release() {
	s.cancel()
	s.facts.stop()
	s.screen.use(s.screen.endRedraw)
	s.hangUp()
	if s.notes != nil {
		_ = s.notes.Close() // nothing is left to write
	}
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	s.screen.closed = true
	if s.reading.by != nil {
		s.screen.markGap(&s.reading.by.gap)
	}
	if s.log != nil {
		if err := s.log.Close(); err != nil {
			s.options.Log.Warn("close log", "id", s.options.ID, "error", err)
		}
	}
}

// hangUp closes the PTY master. The keeper may still have it open.
func (s *Session) hangUp() {
	s.keyboard.close()
	if s.options.Master != nil {
		s.options.Master.Close()
	}
	s.reading.Wait()
	s.screen.saves.Wait()
}

// onScreen runs f once the screen is ready, while nobody else uses it.
func (s *Session) onScreen(ctx context.Context, f func(t Emulator)) error {
	if err := s.IsReady(ctx); err != nil {
		return err
	}
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.screen.closed:
		return api.ErrEnding()
	}
	return s.screen.runGuarded("read screen", func() { f(s.screen.term) })
}

// IsReady waits until the session can be used: the screen has caught up with the log.
func (s *Session) IsReady(ctx context.Context) error {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.failed != nil {
		return api.Errorf(api.CodeUnavailable, "open log: %v", s.failed)
	}
	return nil
}

// Facts returns the session's current facts.
func (s *Session) Facts() Facts {
	f := s.facts.all()
	f.Viewers, f.Typist = s.viewers.count()
	f.Active = s.shell.LastActive()
	if used := time.Unix(0, s.used.Load()); used.After(f.Active) {
		f.Active = used
	}
	f.Typed, f.Interrupt = timeOf(&s.keyboard.typedAt), timeOf(&s.keyboard.interruptAt)
	f.Waiting, f.Running = s.shell.Need(), s.shell.Running()
	select {
	case <-s.opened:
		if s.log != nil {
			f.Bytes = s.log.End()
		}
	default:
	}
	return f
}

// ChildEnded records that the child has exited. Output left in the PTY is still read.
func (s *Session) ChildEnded() {
	s.once.exited.Do(func() {
		close(s.exited)
		if s.options.Master != nil && s.ctx.Err() == nil {
			expectEnd(s.options.Master)
		}
	})
}

// Finish ends the session once all output is read. p is the final state of its process.
func (s *Session) Finish(p api.Process) {
	s.once.over.Do(func() {
		s.ended = p
		close(s.over)
	})
}

// Admit sets who may type. If locked is set, no agent may. If open is set, agents may type although
// the session runs outside their sandbox.
func (s *Session) Admit(locked, open bool) {
	s.keyboard.locked.Store(locked)
	s.keyboard.open.Store(open)
}

// Stopping records that a stop was requested.
func (s *Session) Stopping() { s.stopped.Store(true) }

// Close tells the session's goroutines to end, but does not stop its child. Use Gone to wait for
// them.
func (s *Session) Close() {
	s.cancel()
	if s.options.Master != nil {
		s.options.Master.SetReadDeadline(time.Unix(1, 0)) // the reader returns
	}
}

// Gone returns a channel that is closed when all goroutines of the session have ended.
func (s *Session) Gone() <-chan struct{} { return s.closed }

// raiseFlag sets a flag channel without blocking.
func raiseFlag(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}
