package prompt

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/base/panics"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

// A Log is the stored output of a session. Offsets count from the first byte ever written.
type Log interface {
	Start() int64 // earlier output was deleted
	End() int64
	ReadAt(p []byte, off int64) (int, error)
}

// A Terminal is the part of a session that its Shell uses. Other methods may be called only after
// IsReady has returned nil.
type Terminal interface {
	IsReady(ctx context.Context) error
	Log() Log
	Shown() int64 // offset up to which the screen shows the log
	Size() (cols, rows int)
	CWD() string // "" if the program has not reported one
	Modes() vt.Modes
	Cursor(ctx context.Context) (styled.Cursor, error)
	Rows(ctx context.Context) ([]string, error) // the text on the screen, without trailing blanks
	TypeInto(ctx context.Context, p []byte) error
	ExitCode() *int // valid once the session is over
	NoteUse()
}

// Options describe a session to its Shell.
type Options struct {
	Terminal Terminal
	Master   *os.File        // of the PTY; nil if the program has exited
	PID      int             // of the program
	Nonce    string          // for its marks; "" if it makes none
	Kind     Kind            // of the program
	Exited   <-chan struct{} // closed when the program has exited
	Over     <-chan struct{} // closed when all its output is in the log as well
	Closed   <-chan struct{} // closed when the engine stops following the session
	Log      *slog.Logger    // for panics; nil: none

	Ran     func(Command)            // called for each command run, without Session and Actor; must not block
	Show    func(line string) string // returns what of a command line may be shown; nil: all
	Changed func()                   // called when the need has changed
}

// A Shell follows the shell of a session: what it runs, and when it is at its prompt. The session
// reports output, input and marks through the Note methods, which do not block.
type Shell struct {
	o        Options
	t        Terminal
	programs programs // nil if the program has exited
	marks    marks
	screen   watchers      // notified of changes to the screen
	execs    chan struct{} // holds a token while a command line runs

	printed, typed atomic.Int64 // time in nanoseconds since 1970
	quietPollDue   atomic.Bool  // a poll is scheduled for when the output pauses
	answerPollDue  atomic.Bool  // polls are scheduled until the input has had its effect
	polled         poll
	naming         *time.Timer // announces the last command that started; used while the screen is locked

	mu    sync.Mutex
	began string // directory at the last prompt
}

// New returns the Shell of a session about to start.
func New(o Options) *Shell {
	s := &Shell{o: o, t: o.Terminal, marks: marks{nonce: o.Nonce}, execs: make(chan struct{}, 1)}
	if o.Master != nil {
		s.programs = ptyPrograms{o.Master}
	}
	return s
}

// NoteOutput records that the screen shows new output.
func (s *Shell) NoteOutput() {
	s.printed.Store(time.Now().UnixNano())
	s.screen.wake()
	s.pollWhenQuiet()
}

// NoteInput records input. interrupts is set if the terminal turns the input into a signal.
func (s *Shell) NoteInput(p []byte, interrupts bool) {
	now := time.Now()
	s.typed.Store(now.UnixNano())
	s.marks.noteTyped(p, now)
	if interrupts {
		s.marks.noteInterrupt(now)
	}
	s.pollAfterInput()
}

// LastActive returns the time of the last output or input.
func (s *Shell) LastActive() time.Time { return time.Unix(0, max(s.printed.Load(), s.typed.Load())) }

// A Spot is the position of a mark.
type Spot struct {
	Offset     int64 // in the log, after the mark
	Cursor     styled.Cursor
	Cols, Rows int // of the screen
}

// NoteMark records a mark. The screen must be locked.
func (s *Shell) NoteMark(e vt.PromptEvent, at Spot) {
	before := s.marks.snapshot().atPrompt()
	ended := s.marks.noteMark(markFound{PromptEvent: e, at: at.Offset, cursor: at.Cursor, now: time.Now(), typed: s.typedLineReader(at.Cols, at.Rows, true)})
	s.reportCommand(ended)
	now := s.marks.snapshot()
	if now.phase == phaseRunning || now.phase == phaseReady {
		s.mu.Lock()
		s.began = s.t.CWD()
		s.mu.Unlock()
	}
	if before != now.atPrompt() && !e.Replay {
		s.o.Changed()
	}
	if e.Mark == 'C' && now.phase == phaseRunning && !e.Replay {
		if s.naming != nil {
			s.naming.Stop()
		}
		s.naming = time.AfterFunc(runningAfter, func() {
			panics.Log(s.o.Log, "announce a command", func() {
				if s.Running() != "" {
					s.o.Changed()
				}
			})
		})
	}
}

// reportCommand reports a command that the shell has run. A nil c is ignored.
func (s *Shell) reportCommand(c *Command) {
	if c != nil {
		s.mu.Lock()
		c.CWD = s.began
		s.mu.Unlock()
		s.o.Ran(*c)
	}
}

// NoteExit records the exit of the shell, and reports the command that was running, if any. No mark
// may follow. stopped is set if the session was stopped. The screen must be locked,
// and all output must be in the log and on the screen.
func (s *Shell) NoteExit(at Spot, exit *int, stopped bool) {
	if stopped {
		// The shell's own status says nothing about the command.
		exit = nil
	}
	c := s.marks.endShell(markFound{PromptEvent: vt.PromptEvent{Mark: 'D'}, at: at.Offset, now: time.Now(), typed: s.typedLineReader(at.Cols, at.Rows, false)}, exit)
	if c != nil {
		c.Stopped = c.Stopped || stopped
	}
	s.reportCommand(c)
}

// IsRunning reports whether the shell is running a command, according to its marks.
func (s *Shell) IsRunning() bool { return s.marks.snapshot().phase == phaseRunning }

// IsBetween is Follower.IsBetween.
func (s *Shell) IsBetween() bool { return s.marks.snapshot().phase == phaseBetween }

// AppendState appends marks that produce the shell's current state to dst. A checkpoint stores
// them, so a replay from there knows the state.
func (s *Shell) AppendState(dst []byte) []byte { return s.marks.appendState(dst) }

// NoteReplay records that the log was replayed, so earlier input at the prompt is unknown. If
// started is set, the program has just been started, and the marks in the log are those of an
// earlier one.
func (s *Shell) NoteReplay(started bool) {
	if started {
		s.marks.forgetProgram()
	} else {
		s.marks.noteReplayed()
	}
}

func (s *Shell) isOver() bool { return isClosed(s.o.Over) }
