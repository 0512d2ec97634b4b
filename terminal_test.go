package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/vt"
	"tandem/engine/vt10x"
	"tandem/keys"
)

// A terminal is a person's terminal with tandem running in it.
type terminal struct {
	cmd    *exec.Cmd
	master *os.File
	ended  chan struct{} // closed when the program has ended and its output is read

	mu      sync.Mutex
	screen  *vt.Terminal
	clip    string        // what the program put on the clipboard last
	changed chan struct{} // closed at the next change, then replaced
}

// startTerminal runs this executable as tandem in a terminal of that size.
func startTerminal(cols, rows int, env []string, dir string, args ...string) (*terminal, error) {
	t := &terminal{ended: make(chan struct{}), changed: make(chan struct{})}
	t.screen = vt.New(vt.Options{Cols: cols, Rows: rows, Grid: vt10x.New, Reply: t.reply, Event: t.event})
	t.cmd = exec.Command("/proc/self/exe", args...)
	t.cmd.Env, t.cmd.Dir = env, dir
	master, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	t.master = master
	go t.read()
	return t, nil
}

// event takes what the program tells; the screen is locked.
func (t *terminal) event(e vt.Event) {
	if e, ok := e.(vt.ClipboardEvent); ok {
		t.clip = string(e.Data)
	}
}

// clipboard is what was put there last.
func (t *terminal) clipboard() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clip
}

// reply answers the program from a goroutine of its own, because the emulator
// calls it while the screen is locked.
func (t *terminal) reply(p []byte) {
	answer := append([]byte(nil), p...)
	go t.master.Write(answer)
}

func (t *terminal) read() {
	defer close(t.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		t.update(func() { t.screen.Write(buf[:n]) })
		if err != nil {
			t.cmd.Wait()
			return
		}
	}
}

func (t *terminal) update(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// text is the screen, a line a row, and what is closed with its next change. A
// frame that the program is writing is waited for.
func (t *terminal) text() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.screen.Modes().Sync {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-t.ended:
		case <-time.After(patience): // it hangs, and what there is tells more
		}
		t.mu.Lock()
	}
	_, first, end := t.screen.Bounds()
	var b strings.Builder
	for _, line := range t.screen.Lines(first, int(end-first)) {
		for _, run := range line.Line.Runs {
			b.WriteString(run.Text)
		}
		b.WriteByte('\n')
	}
	return b.String(), t.changed
}

// waitFor returns when the screen satisfies ok.
func (t *terminal) waitFor(ok func(screen string) bool) error {
	deadline := time.After(patience)
	for {
		screen, changed := t.text()
		if ok(screen) {
			return nil
		}
		select {
		case <-changed:
		case <-t.ended:
			if screen, _ := t.text(); ok(screen) {
				return nil
			}
			return fmt.Errorf("the program ended; last screen:\n%s", screen)
		case <-deadline:
			return fmt.Errorf("the screen never came to match; it is:\n%s", screen)
		}
	}
}

// press types keys: names, or text after a colon.
func (t *terminal) press(names ...string) error {
	for _, name := range names {
		if text, ok := strings.CutPrefix(name, ":"); ok {
			if _, err := t.Write([]byte(text)); err != nil {
				return err
			}
			continue
		}
		key, err := keys.Parse(name)
		if err != nil {
			return err
		}
		if _, err := t.Write(keys.Encode(nil, key, t.modes())); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) paste(text string) error {
	_, err := t.Write(keys.EncodePaste(nil, text, t.modes()))
	return err
}

func (t *terminal) modes() keys.Modes {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.screen.Modes()
	return keys.Modes{AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, BracketedPaste: m.BracketedPaste,
		ModifyOther: m.ModifyOther, Kitty: m.Kitty}
}

func (t *terminal) Write(p []byte) (int, error) { return t.master.Write(p) }

func (t *terminal) resize(cols, rows int) error {
	t.update(func() { t.screen.Resize(cols, rows) })
	return pty.Setsize(t.master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

// exitStatus waits for the program's end; 128 + n after signal n.
func (t *terminal) exitStatus() (int, error) {
	select {
	case <-t.ended:
	case <-time.After(patience):
		screen, _ := t.text()
		return 0, fmt.Errorf("the program did not end; the screen is:\n%s", screen)
	}
	status := t.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

func (t *terminal) close() {
	t.cmd.Process.Kill()
	<-t.ended
	t.master.Close()
}

func pidfdOpen(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }

func pidfdKill(fd int) error { return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) }

// pidfdWait returns when the process behind fd has ended.
func pidfdWait(fd int, limit time.Duration) error {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, int(limit.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return errors.New("the process did not end")
		default:
			return nil
		}
	}
}
