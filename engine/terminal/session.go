package terminal

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/prompt"
	"tandem/engine/styled"
	"tandem/engine/vt"
	"tandem/persist/store"
)

// A Emulator is what a session needs of vt.Terminal.
type Emulator interface {
	Write(p []byte) (int, error)
	Resize(cols, rows int, keep ...*vt.Place)
	SetReplies(on bool)
	Size() (cols, rows int)
	Cursor() vt.Cursor
	Modes() vt.Modes
	Title() string
	Diff(since uint64) vt.Diff
	Lines(from int64, n int) []styled.NumberedLine
	Bounds() (oldest, first, end int64)
	AppendText(dst []byte, n int64) (text []byte, wrapped, ok bool)
	AppendCells(dst []byte, n int64, from, to int) []byte
	CellAt(n int64, offset int) (x, behind int)
	MarkOf(n int64) vt.RowMark
	AppendRepaint(dst []byte) []byte
}

// A Log is what a session needs of ptylog.Log.
type Log interface {
	prompt.Log
	Space(min int) ([]byte, error)
	Commit(n int)
	Finish() error
	Close() error
}

// A journal is what a session needs of store.Store.
type journal interface {
	AppendResize(id string, r store.Resize) error
	ReadResizes(id string) ([]store.Resize, error)
	SaveCheckpoint(id string, c store.Checkpoint) error
	ReadCheckpoints(id string) ([]store.Checkpoint, error)
}

// Options say what a session is made of. What they open and call may
// block; it is called from the session's goroutines.
type Options struct {
	ID         string
	Master     *os.File // non-blocking; nil when the program has ended
	Cols, Rows int      // used when the journal tells no size
	Open       func() (Log, error)
	Journal    journal
	PID        int         // of the child; 0 when it has ended
	Nonce      string      // of its shell's marks; "" if it makes none
	Kind       prompt.Kind // of interactive shell that the child is
	Actor      string      // who has started it
	Terminal   func(vt.Options) Emulator
	Replays    chan struct{} // a token is held during a replay
	Chunks     *sync.Pool    // see NewChunks
	Log        *slog.Logger
	Ending     <-chan struct{} // closed when the engine ends: viewers that leave now decide nothing

	Drained func()               // all output has been read
	Touched func()               // facts have changed; at most 10 times a second
	Notice  func(text string)    // something a person should read
	Ran     func(prompt.Command) // its shell has run a command; it does not block
	Stamp   func(offset int64)   // what the log has from there on is written now; at most once in StampGap
}

// A Session is one terminal: its log, its screen and its viewers. The reader
// goroutine moves output from the PTY to the log; the screen goroutine follows
// the log, owns the emulator and runs what is asked of it.
type Session struct {
	options Options
	viewers viewerSet
	pace    *pacer

	opened chan struct{} // closed when the log is open, or cannot be opened
	ready  chan struct{} // closed when the screen is as the log says
	failed error         // set before ready is closed
	log    Log           // set before opened is closed; nil if it cannot be opened
	term   Emulator      // owned by the screen goroutine

	asks     chan func()
	grew     chan struct{} // of 1: the log has grown
	room     chan struct{} // of 1: the screen has caught up a bit
	locked   atomic.Bool   // a person has the keyboard
	open     atomic.Bool   // agents may type though it runs outside their sandbox
	stopped  atomic.Bool   // somebody has asked for its end
	shell    *prompt.Shell // its program, at a prompt or not
	used     usage
	stamped  time.Time    // when the reader last told the time of output
	feeding  int64        // offset behind what the emulator is given now
	parsed   atomic.Int64 // how much of the log the screen shows
	modes    atomic.Pointer[vt.Modes]
	input    *input
	saving   atomic.Bool // a checkpoint is being written
	saved    int64       // offset of the last checkpoint
	lingered int64       // what the screen showed when it had last caught up
	flooded  time.Time   // when it last had after a burst

	mu    sync.Mutex
	known Facts // all but bytes and what viewers knows

	ctx     context.Context
	cancel  context.CancelFunc
	exited  chan struct{} // closed when the child has ended
	over    chan struct{} // closed when the end has been announced
	ended   api.Process   // set before over is closed
	once    struct{ exited, over sync.Once }
	running sync.WaitGroup // the reader and a checkpoint being saved
	closed  chan struct{}  // closed when nothing of the session runs any more
}

// Start starts the goroutines of a session and returns at once. done is
// called when the last of them has ended.
func Start(o Options, done func()) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		options: o,
		opened:  make(chan struct{}),
		ready:   make(chan struct{}),
		asks:    make(chan func()),
		grew:    make(chan struct{}, 1),
		room:    make(chan struct{}, 1),
		ctx:     ctx,
		cancel:  cancel,
		exited:  make(chan struct{}),
		over:    make(chan struct{}),
		closed:  make(chan struct{}),
		known:   Facts{Cols: o.Cols, Rows: o.Rows},
	}
	s.shell = prompt.New(prompt.Options{
		Terminal: s, Master: o.Master, PID: o.PID, Nonce: o.Nonce, Kind: o.Kind,
		Exited: s.exited, Over: s.over, Closed: ctx.Done(),
		Ran: s.ran, Changed: func() { s.pace.touch() },
	})
	s.used.note()
	if o.Ran == nil {
		s.options.Ran = func(prompt.Command) {}
	}
	s.modes.Store(&vt.Modes{})
	s.pace = newPacer(o.Touched)
	s.input = newInput(o.Master)
	if o.Master == nil {
		s.once.exited.Do(func() { close(s.exited) })
	}
	go func() {
		defer done()
		s.run()
	}()
	return s
}

// run is the screen goroutine.
func (s *Session) run() {
	defer close(s.closed)
	defer s.release()
	if err := s.prepare(); err != nil {
		if s.ctx.Err() == nil {
			s.options.Notice("open log: " + err.Error())
		}
		s.failed = err
		close(s.ready)
		s.reportDrainedWithout()
		return
	}
	close(s.ready)
	if s.options.Master != nil {
		s.running.Go(s.read)
	}
	for {
		select {
		case ask := <-s.asks:
			ask()
		case <-s.grew:
			s.parse()
			s.linger()
		case <-s.over:
			s.hangUp()
			s.noteLast()
			s.serveEnded()
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// serveEnded answers what is asked of the screen of a program that has ended.
func (s *Session) serveEnded() {
	for {
		select {
		case ask := <-s.asks:
			ask()
		case <-s.grew:
			s.parse()
		case <-s.ctx.Done():
			return
		}
	}
}

// reportDrainedWithout stands in for a reader when there is no log to read
// into: the child may go on, its output waits in the PTY.
func (s *Session) reportDrainedWithout() {
	if s.options.Master == nil {
		<-s.ctx.Done()
		return
	}
	select {
	case <-s.exited:
		s.options.Drained()
	case <-s.ctx.Done():
	}
	<-s.ctx.Done()
}

// release ends the reader and closes what the session holds.
func (s *Session) release() {
	s.cancel()
	s.pace.stop()
	s.hangUp()
	if s.log != nil {
		if err := s.log.Close(); err != nil {
			s.options.Log.Warn("close log", "id", s.options.ID, "error", err)
		}
	}
}

// hangUp closes the PTY master; the keeper may hold another duplicate.
func (s *Session) hangUp() {
	s.input.close()
	if s.options.Master != nil {
		s.options.Master.Close()
	}
	s.running.Wait()
}

// parse shows a piece of what the log has grown by.
func (s *Session) parse() {
	if s.feed(s.log.End(), parseChunk) {
		raise(s.grew)
	}
	raise(s.room)
	s.noteScreen()
	s.viewers.frameChanged()
	s.maybeCheckpoint()
}

// catchUp shows everything that the log holds now.
func (s *Session) catchUp() {
	end := s.log.End()
	if s.parsed.Load() < end {
		for s.feed(end, parseChunk) {
		}
		raise(s.room)
		s.noteScreen()
		s.viewers.frameChanged()
	}
}

// noteScreen publishes the modes for the goroutines that encode input, and that
// there is output.
func (s *Session) noteScreen() {
	s.shell.Printed()
	if modes := s.term.Modes(); modes != *s.modes.Load() {
		s.modes.Store(&modes)
	}
}

// onScreen runs f on the screen goroutine once the screen is ready, and waits
// for it.
func (s *Session) onScreen(ctx context.Context, f func(t Emulator)) error {
	if err := s.IsReady(ctx); err != nil {
		return err
	}
	ran := make(chan error, 1)
	select {
	case s.asks <- func() { ran <- s.guard("read screen", func() { f(s.term) }) }:
		return <-ran
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return api.ErrEnding()
	}
}

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

// isIn reports whether a folder is the one that is known already; shells tell of
// theirs with each prompt, and nobody has to look for it again.
func (s *Session) isIn(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.CWD == folder
}

// event takes what the program tells beyond the screen; called from Write.
func (s *Session) event(e vt.Event) {
	if cwd, ok := e.(vt.CWDEvent); ok && (s.isIn(cwd.Path) || !isHere(cwd)) {
		return
	}
	s.mu.Lock()
	before := s.known
	switch e := e.(type) {
	case vt.TitleEvent:
		s.known.Title = e.Title
	case vt.BellEvent:
		s.known.Rang = true
	case vt.CWDEvent:
		s.known.CWD = e.Path
	case vt.PromptEvent:
		s.mu.Unlock()
		s.shell.Mark(e, s.spot(s.feeding-int64(e.Behind)))
		return
	case vt.ClipboardEvent: // a replay has no viewers, so nothing is copied twice
		s.mu.Unlock()
		s.viewers.copied(e.Data)
		return
	}
	changed := before != s.known
	s.mu.Unlock()
	if changed {
		s.pace.touch()
	}
}

func (s *Session) Facts() Facts {
	s.mu.Lock()
	f := s.known
	s.mu.Unlock()
	f.Viewers, f.Typist = s.viewers.count()
	f.Active = s.shell.LastActive()
	if asked := time.Unix(0, s.used.asked.Load()); asked.After(f.Active) {
		f.Active = asked
	}
	if at := s.used.interrupt.Load(); at != 0 {
		f.Interrupt = time.Unix(0, at)
	}
	f.Waiting = s.shell.Need()
	select {
	case <-s.opened:
		if s.log != nil {
			f.Bytes = s.log.End()
		}
	default:
	}
	return f
}

func (s *Session) SetCWD(path string) {
	s.mu.Lock()
	s.known.CWD = path
	s.mu.Unlock()
}

func (s *Session) ChildEnded() {
	s.once.exited.Do(func() {
		close(s.exited)
		s.expectEnd()
	})
}

func (s *Session) Finish(p api.Process) {
	s.once.over.Do(func() {
		s.ended = p
		close(s.over)
	})
}

func (s *Session) Admit(locked, open bool) {
	s.locked.Store(locked)
	s.open.Store(open)
}

func (s *Session) Stopping() { s.stopped.Store(true) }

func (s *Session) Close() {
	s.cancel()
	if s.options.Master != nil {
		s.interruptReader()
	}
}

func (s *Session) Gone() <-chan struct{} { return s.closed }

// raise sets a flag that somebody waits for; it never blocks.
func raise(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}
