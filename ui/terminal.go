package ui

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// stalled is how long a terminal that takes no output may hold up the end.
const stalled = 500 * time.Millisecond

// A terminal is the person's, in raw mode, with what paints on it.
type terminal struct {
	in, out *os.File
	saved   *term.State
	painter *painter
	stopped bool // by SIGTSTP, with the terminal given back
}

// takeTerminal makes the terminal the dashboard's until giveBack.
func takeTerminal(in, out *os.File) (*terminal, error) {
	saved, err := term.MakeRaw(in.Fd())
	if err != nil {
		return nil, fmt.Errorf("open the dashboard: make terminal raw: %w", err)
	}
	t := &terminal{in: in, out: out, saved: saved, painter: newPainter(out, colorprofile.Detect(out, os.Environ()))}
	err = t.painter.enter(true)
	if err == nil {
		err = t.painter.ask()
	}
	if err != nil {
		t.giveBack()
		return nil, fmt.Errorf("open the dashboard: write to terminal: %w", err)
	}
	return t, nil
}

// giveBack puts the terminal back as it was. It may be called again.
func (t *terminal) giveBack() {
	done := make(chan struct{})
	go func() { // ends when the terminal takes its output or is closed
		defer close(done)
		t.painter.leave(true)
	}()
	t.await(done)
	_ = term.Restore(t.in.Fd(), t.saved) // the terminal may be gone
}

// await waits for what writes to the terminal, but not on a stalled one.
func (t *terminal) await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(stalled):
	}
}

// size is the terminal's size in cells; a usual one if it cannot be told.
func (t *terminal) size() (w, h int) {
	w, h, err := term.GetSize(t.out.Fd())
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// watch tells of every change of the size until ctx ends, gives the terminal
// back before the program is stopped and takes it again when it goes on.
func (t *terminal) watch(ctx context.Context, send func(tea.Msg)) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(signals, syscall.SIGTSTP)
	}
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			switch s {
			case syscall.SIGTSTP:
				t.suspend()
				continue
			case syscall.SIGCONT:
				t.retake()
			}
			w, h := t.size()
			send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}
}

// suspend stops the program, as SIGTSTP would have without a handler. A session
// that has the terminal does so itself.
func (t *terminal) suspend() {
	if t.painter.isAway() {
		return
	}
	t.stopped = true
	t.giveBack()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail
}

// retake takes the terminal again. Where the program was stopped without having
// given it back (SIGSTOP), all that it has pushed is taken back first.
func (t *terminal) retake() {
	if t.painter.isAway() && !t.stopped {
		return
	}
	t.stopped = false
	t.painter.leave(true)
	_, _ = term.MakeRaw(t.in.Fd())
	_ = t.painter.enter(true) // what fails here fails with the next frame too
}

// leaveOnPanic puts the terminal back before a panic goes on, so that what is
// printed about it can be read.
func (m *model) leaveOnPanic() {
	if p := recover(); p != nil {
		if m.terminal != nil {
			m.terminal.giveBack()
		}
		panic(p)
	}
}
