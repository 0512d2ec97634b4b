package prompt

import (
	"context"
	"slices"
	"sync"
	"testing"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/system/pty"
)

// A screen is a shell's terminal without a PTY: an emulator shows what is printed, fake programs
// run in it, and a function answers what is typed.
type screen struct {
	shell    *Shell
	programs *fakePrograms
	answer   func(typed string)
	signals  func(typed []byte) bool // reports whether the terminal turns input into a signal
	event    func(line string)       // called with the line of each mark that has one; may be nil
	over     chan struct{}
	code     *int
	ended    chan Command  // receives the commands that ran
	changed  chan struct{} // receives a value after changes of the need

	mu         sync.Mutex
	cols, rows int
	log        []byte
	shown      int64 // less than the log while output is withheld
	vt         *vt.Terminal
	events     []vt.PromptEvent
	replies    []byte // of the emulator, not yet answered
	cwd        string
	typed      []string
	ran        []Command
}

// fakePrograms are programs in a terminal. Their first process is shellPID.
type fakePrograms struct {
	mu      sync.Mutex
	look    pty.Look
	unread  bool
	argv    map[int][]string
	env     string
	signals bool
}

const (
	shellPID = 10
	childPID = 11
)

func (p *fakePrograms) set(look pty.Look) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look = look
}

func (p *fakePrograms) inspect(int) pty.Look {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.look
}

func (p *fakePrograms) hasOutput() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread
}

func (p *fakePrograms) foreground() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.look.PID
}

func (p *fakePrograms) arguments(pid int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.argv[pid]
}

func (p *fakePrograms) environ(int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.env
}

type screenOptions struct {
	kind  Kind
	child []string // arguments of the child; default: a program called child
	shell []string // arguments of the shell; default: bash
}

func newScreen(t *testing.T, o screenOptions) *screen {
	t.Helper()
	if o.shell == nil {
		o.shell = []string{"bash"}
	}
	if o.child == nil {
		o.child = []string{"child"}
	}
	fake := &fakePrograms{argv: map[int][]string{shellPID: o.shell, childPID: o.child}, env: NonceVariable + "=n\x00"}
	s := makeScreen(t, Options{PID: shellPID, Nonce: "n", Kind: o.kind}, fake)
	s.programs = fake
	return s
}

// makeScreen returns the screen of a shell with the given pid, nonce and kind.
func makeScreen(t *testing.T, o Options, programs programs) *screen {
	s := &screen{
		answer: func(string) {}, signals: func(typed []byte) bool { return string(typed) == "\x03" },
		over: make(chan struct{}), ended: make(chan Command, 1000), changed: make(chan struct{}, 1), cwd: "/home", cols: 80, rows: 24,
	}
	o.Terminal, o.Over, o.Exited, o.Closed = s, s.over, s.over, t.Context().Done()
	o.Changed = func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
	o.Ran = func(c Command) {
		s.mu.Lock()
		s.ran = append(s.ran, c)
		s.mu.Unlock()
		s.ended <- c
	}
	s.vt = vt.New(vt.Options{Cols: s.cols, Rows: s.rows, Reply: func(p []byte) { s.replies = append(s.replies, p...) }, Event: func(e vt.Event) {
		switch e := e.(type) {
		case vt.PromptEvent:
			s.events = append(s.events, e)
		case vt.CWDEvent:
			s.cwd = e.Path
		}
	}})
	s.shell = New(o)
	s.shell.programs = programs
	return s
}

// Looks of programs that read the terminal.
var (
	readsLine = pty.Look{Reads: true, PID: childPID, Canonical: true}
	shellWait = pty.Look{Reads: true, Own: true, PID: shellPID, Polls: true}
)

// print prints what a program writes. The emulator gets it byte by byte, so that each mark has its
// offset.
func (s *screen) print(text string) {
	s.mu.Lock()
	from := len(s.log)
	s.log = append(s.log, text...)
	s.mu.Unlock()
	for i := range len(text) {
		s.mu.Lock()
		s.vt.Write([]byte{text[i]})
		events, at := s.events, Spot{Offset: int64(from + i + 1), Cursor: s.vt.Cursor(), Cols: s.cols, Rows: s.rows}
		s.events = nil
		s.mu.Unlock()
		for _, e := range events {
			if s.event != nil && e.Line != "" {
				s.event(e.Line)
			}
			s.shell.NoteMark(e, at)
		}
	}
	s.mu.Lock()
	s.shown = int64(len(s.log))
	s.mu.Unlock()
	s.shell.NoteOutput()
}

func (s *screen) Start() int64 { return 0 }

func (s *screen) End() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.log))
}

func (s *screen) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(p, s.log[off:]), nil
}

func (s *screen) IsReady(context.Context) error { return nil }
func (s *screen) Log() Log                      { return s }
func (s *screen) NoteUse()                      {}
func (s *screen) ExitCode() *int                { return s.code }

func (s *screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

func (s *screen) CWD() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cwd
}

func (s *screen) Shown() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

func (s *screen) Modes() vt.Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.Modes()
}

func (s *screen) Cursor(context.Context) (styled.Cursor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.Cursor(), nil
}

func (s *screen) Rows(context.Context) (rows []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, first, end := s.vt.Bounds()
	for _, l := range s.vt.Lines(first, int(end-first)) {
		rows = append(rows, l.Line.Text())
	}
	return rows, nil
}

func (s *screen) TypeInto(_ context.Context, p []byte) error {
	s.mu.Lock()
	s.typed = append(s.typed, string(p))
	s.mu.Unlock()
	s.shell.NoteInput(p, s.signals(p))
	s.answer(string(p))
	return nil
}

func (s *screen) logText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.log)
}

// takeReplies returns the emulator's answers since the last call.
func (s *screen) takeReplies() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.replies)
	s.replies = nil
	return text
}

// commandsSoFar returns a copy of the commands that ran.
func (s *screen) commandsSoFar() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ran)
}
