package prompt

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/styled"
	"tandem/engine/vt"
)

// A Log is a session's output as it is kept; offsets count from its beginning.
type Log interface {
	Start() int64 // what is before it is gone
	End() int64
	ReadAt(p []byte, off int64) (int, error)
}

// A Terminal is what a Shell needs of the session that it runs in. Only IsReady may
// be called before that has returned nil.
type Terminal interface {
	IsReady(ctx context.Context) error
	Log() Log
	Shown() int64 // how much of the log the screen shows
	Size() (cols, rows int)
	CWD() string // "" when the program has told none
	Modes() vt.Modes
	Cursor(ctx context.Context) (styled.Cursor, error)
	Rows(ctx context.Context) ([]string, error) // what the screen shows, without blanks at their ends
	TypeInto(ctx context.Context, p []byte) error
	ExitCode() *int // once it is over
	NoteUse()
}

// Options say what a Shell knows of its session from the beginning.
type Options struct {
	Terminal Terminal
	Master   *os.File        // of its PTY; nil when the program has ended
	PID      int             // of the program
	Nonce    string          // of its marks; "" if it makes none
	Kind     Kind            // of shell that the program is
	Exited   <-chan struct{} // closed when the program has ended
	Over     <-chan struct{} // closed when all that it printed is in the log as well
	Closed   <-chan struct{} // closed when the session is left
	Log      *slog.Logger    // of panics; nil: none

	Ran     func(Command) // a command has been run, whose Session and Actor are not filled in; it does not block
	Changed func()        // what it waits for has changed
}

// A Shell is the program of a session as somebody at its prompt sees it. The session
// tells it of output, input and marks; these calls never block.
type Shell struct {
	o      Options
	t      Terminal
	marks  marks
	screen watchers      // of the screen
	execs  chan struct{} // a token is held while a command line runs

	printed, typed atomic.Int64 // when, in nanoseconds since 1970
	quieting       atomic.Bool  // a look is due once nothing more is printed
	answering      atomic.Bool  // looks are due until what was typed has had its effect
	looked         atomic.Int64 // when it was seen what it waits for

	mu    sync.Mutex
	need  Need   // at the last check
	began string // cwd at the last prompt
}

// New makes the Shell of a session that is about to start.
func New(o Options) *Shell {
	return &Shell{o: o, t: o.Terminal, marks: marks{nonce: o.Nonce}, execs: make(chan struct{}, 1)}
}

// Printed tells of output that the screen shows now.
func (s *Shell) Printed() {
	s.printed.Store(time.Now().UnixNano())
	s.screen.wake()
	s.lookWhenQuiet()
}

// Typed tells of input; interrupts says that the terminal makes a signal of it.
func (s *Shell) Typed(p []byte, interrupts bool) {
	now := time.Now()
	s.typed.Store(now.UnixNano())
	s.marks.noteTyped(p, now)
	if interrupts {
		s.marks.noteInterrupt(now)
	}
	s.lookWhenAnswered()
}

// LastActive is when it last printed something or was typed to.
func (s *Shell) LastActive() time.Time { return time.Unix(0, max(s.printed.Load(), s.typed.Load())) }

// A Spot is where a mark stands.
type Spot struct {
	Offset     int64 // in the log, behind the mark
	Cursor     styled.Cursor
	Cols, Rows int // of the screen
}

// Mark tells of a mark. It runs on the screen goroutine.
func (s *Shell) Mark(e vt.PromptEvent, at Spot) {
	before := s.marks.state().atPrompt()
	ended := s.marks.note(markFound{PromptEvent: e, at: at.Offset, cursor: at.Cursor, now: time.Now(), typed: s.lineTyped(at.Cols, at.Rows, true)})
	s.tellRan(ended)
	now := s.marks.state()
	if now.phase == phaseRunning || now.phase == phaseReady {
		s.mu.Lock()
		s.began = s.t.CWD()
		s.mu.Unlock()
	}
	if before != now.atPrompt() && !e.Replay {
		s.o.Changed()
	}
}

// tellRan tells of a command that was run; nil is none.
func (s *Shell) tellRan(c *Command) {
	if c != nil {
		s.mu.Lock()
		c.CWD = s.began
		s.mu.Unlock()
		s.o.Ran(*c)
	}
}

// Ended tells of the command that has ended the shell, or has ended with it: no mark
// comes behind that. stopped says that somebody has ended the session. It runs on the
// screen goroutine when all output is in the log and on the screen.
func (s *Shell) Ended(at Spot, exit *int, stopped bool) {
	if stopped {
		exit = nil // it is the shell's, whose answer to the signal it was
	}
	c := s.marks.last(markFound{PromptEvent: vt.PromptEvent{Mark: 'D'}, at: at.Offset, now: time.Now(), typed: s.lineTyped(at.Cols, at.Rows, false)}, exit)
	if c != nil {
		c.Stopped = c.Stopped || stopped
	}
	s.tellRan(c)
}

// AppendState writes the marks that bring a replay behind a checkpoint to where the
// shell is now.
func (s *Shell) AppendState(dst []byte) []byte { return s.marks.appendState(dst) }

// Replayed records that the log was replayed, so that earlier input at the prompt is unknown.
func (s *Shell) Replayed() { s.marks.noteReplayed() }

func (s *Shell) isOver() bool { return isClosed(s.o.Over) }
