package prompt

import (
	"context"
	"sync"
	"testing"

	"tandem/engine/pty"
	"tandem/engine/styled"
	"tandem/engine/vt"
)

// A screen is a shell's terminal without a PTY: an emulator shows what is printed, fake programs
// run in it, and a function answers what is typed.
type screen struct {
	shell    *Shell
	programs *fakePrograms
	answer   func(typed string)
	event    func(line string) // called with the line of each mark that has one; may be nil
	over     chan struct{}
	code     *int

	mu     sync.Mutex
	log    []byte
	shown  int64 // less than the log while output is withheld
	vt     *vt.Terminal
	events []vt.PromptEvent
	typed  []string
	ran    []Command
}

// fakePrograms are programs in a terminal. Their first process is shellPID.
type fakePrograms struct {
	mu     sync.Mutex
	look   pty.Look
	unread bool
	argv   map[int][]string
	env    string
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

func (p *fakePrograms) arguments(pid int) []string { return p.argv[pid] }
func (p *fakePrograms) environ(int) string         { return p.env }

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
	s := &screen{over: make(chan struct{}), answer: func(string) {}}
	s.programs = &fakePrograms{argv: map[int][]string{shellPID: o.shell, childPID: o.child}, env: NonceVariable + "=n\x00"}
	s.vt = vt.New(vt.Options{Cols: 80, Rows: 24, Event: func(e vt.Event) {
		if e, ok := e.(vt.PromptEvent); ok {
			s.events = append(s.events, e)
		}
	}})
	s.shell = New(Options{
		Terminal: s, PID: shellPID, Nonce: "n", Kind: o.kind, Over: s.over, Exited: s.over, Closed: t.Context().Done(),
		Changed: func() {}, Ran: func(c Command) { s.ran = append(s.ran, c) },
	})
	s.shell.programs = s.programs
	return s
}

// Looks of programs that read the terminal.
var (
	readsLine = pty.Look{Reads: true, PID: childPID, Canonical: true}
	shellWait = pty.Look{Reads: true, Own: true, PID: shellPID, Polls: true}
)

// print prints what a program writes, byte by byte, so that each mark has its offset.
func (s *screen) print(text string) {
	for i := range len(text) {
		s.mu.Lock()
		s.log = append(s.log, text[i])
		s.vt.Write([]byte{text[i]})
		events, at := s.events, Spot{Offset: int64(len(s.log)), Cursor: s.vt.Cursor(), Cols: 80, Rows: 24}
		s.events, s.shown = nil, int64(len(s.log))
		s.mu.Unlock()
		for _, e := range events {
			if s.event != nil && e.Line != "" {
				s.event(e.Line)
			}
			s.shell.NoteMark(e, at)
		}
	}
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
func (s *screen) Size() (cols, rows int)        { return 80, 24 }
func (s *screen) CWD() string                   { return "/home" }
func (s *screen) NoteUse()                      {}
func (s *screen) ExitCode() *int                { return s.code }

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
	s.shell.NoteInput(p, len(p) == 1 && p[0] == 3)
	s.answer(string(p))
	return nil
}
