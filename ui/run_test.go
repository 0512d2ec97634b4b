package ui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"tandem/engine/api"
	"tandem/panes"
)

// A terminalUser is a user at a terminal with the dashboard.
type terminalUser struct {
	t       *testing.T
	engine  *fakeEngine
	printed chan struct{} // capacity 1; more output arrived
	master  *os.File
	slave   *os.File
	before  *term.State
	cancel  context.CancelFunc
	result  chan error
	paused  chan chan struct{} // each value ends a pause in reading output

	mu     sync.Mutex
	output bytes.Buffer
}

// openDashboard runs the dashboard on a PTY of cols×rows cells, with changes to the options.
func openDashboard(t *testing.T, e *fakeEngine, cols, rows uint16, changes ...func(*Options)) *terminalUser {
	t.Helper()
	p := newTerminalUser(t, e, cols, rows)
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	o := Options{Settings: defaultSettings(), Input: p.slave, Output: p.slave, CWD: "/home/ann", AnswerLimit: time.Millisecond}.withDefaults()
	for _, change := range changes {
		change(&o)
	}
	go func() {
		p.result <- runOn(ctx, o, e, func(context.Context) (panes.Engine, error) { return e, nil })
	}()
	t.Cleanup(cancel)
	return p
}

// newTerminalUser opens a PTY of cols×rows cells and reads its output.
func newTerminalUser(t *testing.T, e *fakeEngine, cols, rows uint16) *terminalUser {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	p := &terminalUser{t: t, engine: e, printed: make(chan struct{}, 1), master: master, slave: slave, before: before, result: make(chan error, 1), paused: make(chan chan struct{}, 1)}
	var reading sync.WaitGroup
	reading.Go(p.readOutput)
	t.Cleanup(func() {
		slave.Close()
		master.Close()
		reading.Wait()
	})
	return p
}

func (p *terminalUser) readOutput() {
	buf := make([]byte, 64<<10)
	for {
		select {
		case resume := <-p.paused:
			<-resume
		default:
		}
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.output.Write(buf[:n])
		p.mu.Unlock()
		notifyChan(p.printed)
		if err != nil {
			return
		}
	}
}

// waitUntil waits until cond holds.
func (p *terminalUser) waitUntil(what string, cond func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-p.printed:
		case <-p.engine.changed:
		case <-deadline:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Fatalf("waited in vain: %s; the end of the output is %q", what, lastBytes(p.output.String(), 800))
		}
	}
}

func lastBytes(s string, n int) string { return s[max(len(s)-n, 0):] }

// waitOutput waits until the output contains text.
func (p *terminalUser) waitOutput(text string) {
	p.t.Helper()
	p.waitUntil("the output has "+text, func() bool { return p.hasOutput(text) })
}

// hasOutput reports whether the output contains text.
func (p *terminalUser) hasOutput(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.output.String(), text)
}

func (p *terminalUser) sendText(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// waitExit waits for the dashboard to exit.
func (p *terminalUser) waitExit() error {
	p.t.Helper()
	select {
	case err := <-p.result:
		return err
	case <-time.After(patience):
		p.t.Fatal("the dashboard does not end")
		return nil
	}
}

// checkRestored checks that the terminal's state is restored.
func (p *terminalUser) checkRestored() {
	p.t.Helper()
	after, err := term.GetState(p.slave.Fd())
	if err != nil {
		p.t.Fatal(err)
	}
	if *after != *p.before {
		p.t.Errorf("the terminal's modes are %+v, were %+v", after, p.before)
	}
	for _, sequence := range []string{"\x1b[?1049l", "\x1b[?2004l", "\x1b[?1002l", "\x1b[?25h", "\x1b[<1u"} {
		p.waitOutput(sequence)
	}
}

func TestKeysAndPasteFromTerminalArriveInOrder(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "ready$ ")
	p := openDashboard(t, e, 120, 36)
	p.waitOutput("ready$")
	typed := strings.Repeat("abcdefghij", 1000)
	pasted := strings.Repeat("a line of one megabyte ünd more\r", 32_000)
	p.sendText(typed + "\x1b[200~" + pasted + "\x1b[201~" + "end")
	p.waitUntil("all of it has arrived", func() bool { return len(s.typedText()) >= len(typed)+len(pasted)+3 })
	if got := s.typedText(); got != typed+pasted+"end" {
		t.Error("what arrived is not what was typed")
	}
	p.sendText("\x02d")
	if err := p.waitExit(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	p.checkRestored()
}

func TestSignalStopsDashboardAndRestoresTerminal(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "ready$ ")
	p := openDashboard(t, e, 120, 36)
	p.waitOutput("ready$")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := p.waitExit(); err == nil || !strings.Contains(err.Error(), "hangup") {
		t.Errorf("ended with %v", err)
	}
	p.checkRestored()
}

func TestStalledTerminalDoesNotDelayKeys(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "ready$ ")
	p := openDashboard(t, e, 200, 60)
	p.waitOutput("ready$")
	p.sendText(".")
	p.waitUntil("a key arrives", func() bool { return s.typedText() == "." })
	resume := make(chan struct{})
	p.paused <- resume
	for i := range 200 {
		line := strings.Repeat(string(rune('a'+i%26)), 150)
		var lines []api.Line
		for range 50 {
			lines = append(lines, plainLine(line))
		}
		s.printLines(lines...)
		p.sendText("x")
	}
	p.waitUntil("every key has arrived", func() bool { return len(s.typedText()) == 201 })
	close(resume)
	p.sendText("\x02d")
	if err := p.waitExit(); err != nil {
		t.Error(err)
	}
}

func TestResizeReachesSession(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "ready$ ")
	p := openDashboard(t, e, 120, 36)
	p.waitOutput("ready$")
	if err := pty.Setsize(p.master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	p.waitUntil("the session has the size", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return s.size == api.Size{Cols: 100, Rows: 27}
	})
	p.cancel()
	if err := p.waitExit(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	p.checkRestored()
}

func TestMissingTerminalIsReported(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	err = Run(t.Context(), Options{Settings: defaultSettings(), Input: r, Output: w})
	var e *api.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "not a terminal") || e.Hint == "" {
		t.Errorf("got %v", err)
	}
}

func TestDumbTerminalIsRejected(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	t.Setenv("TERM", "dumb")
	if err := Run(t.Context(), Options{Settings: defaultSettings(), Input: slave, Output: slave}); err == nil || !strings.Contains(err.Error(), "TERM=dumb") {
		t.Errorf("got %v", err)
	}
}
