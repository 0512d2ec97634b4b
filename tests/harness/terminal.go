package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt10x"
	"tandem/keys"
)

// A Terminal is a user's terminal with tandem running in it.
type Terminal struct {
	cmd    *exec.Cmd
	master *os.File
	exited chan struct{} // closed once the program has exited and its output is read
	answer chan []byte   // the emulator's replies, in order

	notices string // file with the messages of the status bar, one per line
	noticed int    // end of the last line found by waitNotice

	mu        sync.Mutex
	screen    *vt.Terminal
	clipboard string        // the program's last copy to the clipboard
	changed   chan struct{} // closed at the next change, then replaced
}

// StartTerminal runs this executable as tandem in a terminal of cols × rows. The
// caller closes it.
func StartTerminal(cols, rows int, env []string, dir string, args ...string) (*Terminal, error) {
	t := &Terminal{exited: make(chan struct{}), answer: make(chan []byte, 1<<10), changed: make(chan struct{})}
	t.screen = vt.New(vt.Options{Cols: cols, Rows: rows, Grid: vt10x.New, Reply: t.queueReply, Event: t.handleEvent})
	notices, err := os.MkdirTemp("", "td")
	if err != nil {
		return nil, err
	}
	t.notices = filepath.Join(notices, "notices")
	t.cmd = exec.Command("/proc/self/exe", args...)
	t.cmd.Env, t.cmd.Dir = append(env[:len(env):len(env)], "TANDEM_NOTICES="+t.notices), dir
	master, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		os.RemoveAll(notices)
		return nil, err
	}
	t.master = master
	go t.readOutput()
	go t.writeReplies()
	return t, nil
}

// handleEvent handles an event of the emulator, which calls it with the screen locked.
func (t *Terminal) handleEvent(e vt.Event) {
	if e, ok := e.(vt.ClipboardEvent); ok {
		t.clipboard = string(e.Data)
	}
}

// Clipboard returns the program's last copy to the clipboard.
func (t *Terminal) Clipboard() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clipboard
}

// queueReply queues a reply to the program. The emulator calls it with the screen locked, so it must
// not wait for a program that does not read.
func (t *Terminal) queueReply(p []byte) {
	select {
	case t.answer <- append([]byte(nil), p...):
	default: // so many unread answers that the program will not miss one
	}
}

// writeReplies writes the emulator's replies in order, because programs rely on that.
func (t *Terminal) writeReplies() {
	for {
		select {
		case p := <-t.answer:
			if _, err := t.master.Write(p); err != nil {
				return
			}
		case <-t.exited:
			return
		}
	}
}

func (t *Terminal) readOutput() {
	defer close(t.exited)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		t.updateScreen(func() { t.screen.Write(buf[:n]) })
		if err != nil {
			t.cmd.Wait()
			return
		}
	}
}

// PID returns the process id of the program.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Done is closed once the program has exited and its output is read.
func (t *Terminal) Done() <-chan struct{} { return t.exited }

// Emulator locks the emulator and passes it to the function use.
func (t *Terminal) Emulator(use func(*vt.Terminal)) { t.updateScreen(func() { use(t.screen) }) }

func (t *Terminal) updateScreen(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// Text returns the screen, one line per row, and a channel closed at its next
// change. It waits for the end of a synchronised frame.
func (t *Terminal) Text() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for over := false; t.screen.Modes().Sync && !over; {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-t.exited: // killed within a frame
			over = true
		case <-time.After(Patience): // the half-drawn screen is the best evidence
			over = true
		}
		t.mu.Lock()
	}
	var b strings.Builder
	for _, line := range t.screenLines() {
		for _, run := range line.Line.Runs {
			b.WriteString(run.Text)
		}
		b.WriteByte('\n')
	}
	return b.String(), t.changed
}

// Lines returns the screen with its styles, one line per row.
func (t *Terminal) Lines() []styled.NumberedLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screenLines()
}

func (t *Terminal) screenLines() []styled.NumberedLine {
	_, first, end := t.screen.Bounds()
	return t.screen.Lines(first, int(end-first))
}

// WaitFor waits until the screen satisfies ok.
func (t *Terminal) WaitFor(ok func(screen string) bool) error {
	deadline := time.After(Patience)
	for {
		screen, changed := t.Text()
		if ok(screen) {
			return nil
		}
		select {
		case <-changed:
		case <-t.exited:
			// The last output may have arrived together with the exit.
			if screen, _ := t.Text(); ok(screen) {
				return nil
			}
			return fmt.Errorf("the program exited; last screen:\n%s", screen)
		case <-deadline:
			return fmt.Errorf("the screen never matched; it shows:\n%s", screen)
		}
	}
}

// Press types keys: names as in "ctrl+b", or text after a colon.
func (t *Terminal) Press(names ...string) error {
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
		if _, err := t.Write(keys.Encode(nil, key, t.keyModes())); err != nil {
			return err
		}
	}
	return nil
}

// Paste pastes text as a terminal does.
func (t *Terminal) Paste(text string) error {
	_, err := t.Write(keys.EncodePaste(nil, text, t.keyModes()))
	return err
}

func (t *Terminal) keyModes() keys.Modes {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.screen.Modes()
	return keys.Modes{AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, BracketedPaste: m.BracketedPaste,
		ModifyOther: m.ModifyOther, Kitty: m.Kitty}
}

// Write sends bytes to the program as if typed.
func (t *Terminal) Write(p []byte) (int, error) { return t.master.Write(p) }

// Resize changes the terminal's size.
func (t *Terminal) Resize(cols, rows int) error {
	t.updateScreen(func() { t.screen.Resize(cols, rows) })
	return pty.Setsize(t.master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

// ExitStatus waits for the program to exit; 128 + n means signal n.
func (t *Terminal) ExitStatus() (int, error) {
	select {
	case <-t.exited:
	case <-time.After(Patience):
		screen, _ := t.Text()
		return 0, fmt.Errorf("the program did not exit; the screen shows:\n%s", screen)
	}
	status := t.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// Close kills the program and waits for it.
func (t *Terminal) Close() {
	t.cmd.Process.Kill()
	<-t.exited
	t.master.Close()
	os.RemoveAll(filepath.Dir(t.notices))
}
