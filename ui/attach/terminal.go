package attach

import (
	"errors"
	"fmt"
	"image"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/passthrough"
	"tandem/ui/display"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	enterAlt     = "\x1b[?1049h"
	saveTitle    = "\x1b[22;0t"
	restoreTitle = "\x1b[23;0t"
)

const (
	// stallTick is how often a stalled write checks whether the run has ended.
	stallTick = 50 * time.Millisecond
	// maxLeaveTime is how long a terminal that takes no output may delay the end of a run. The
	// output it has not taken is then dropped.
	maxLeaveTime = 250 * time.Millisecond
)

// errStalled is returned if the terminal takes no output.
var errStalled = errors.New("the terminal accepts no output")

// A terminal is the user's terminal. It is raw, and on its alternate screen, between
// enterScreen and leaveScreen.
type terminal struct {
	in, out   *os.File
	queries   string    // sent at the start
	queriedAt time.Time // time at which they were sent
	fd        int       // for writing: out reopened, so that writes do not block

	abandoned atomic.Bool // the run has ended: output may be dropped
	colored   atomic.Bool // output may have changed the colours
	progress  atomic.Bool // output set a progress indicator (OSC 9;4)

	writing sync.Mutex // held while output is written, and while the terminal is lent out

	mu     sync.Mutex
	saved  *term.State // nil unless the terminal is raw
	forget []byte      // deletes the pictures on the terminal
}

func newTerminal(in, out *os.File) (*terminal, error) {
	for _, f := range [...]*os.File{in, out} {
		if f == nil || !term.IsTerminal(f.Fd()) {
			return nil, api.Errorf(api.CodeInvalid, "attach to session: standard input and output must be a terminal").
				WithHint("`tandem send` and `tandem screen` work without one")
		}
	}
	t := &terminal{in: in, out: out, queries: display.QuerySequence(os.Getenv)}
	t.fd = reopenTerminal(out)
	return t, nil
}

func (t *terminal) close() {
	if t.fd != int(t.out.Fd()) {
		unix.Close(t.fd)
	}
}

// abandonOutput makes writes fail if the terminal does not take them.
func (t *terminal) abandonOutput() { t.abandoned.Store(true) }

// A termSize is the terminal's size in cells, and the size of a cell in pixels; zero if
// unknown.
type termSize struct {
	api.Size
	cell image.Point
}

func (t *terminal) currentSize() (s termSize) {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return s
	}
	s.Size = api.Size{Cols: int(size.Col), Rows: int(size.Row)}
	if s.Cols > 0 && s.Rows > 0 {
		s.cell = image.Pt(int(size.Xpixel)/s.Cols, int(size.Ypixel)/s.Rows)
	}
	return s
}

// enterScreen prepares the terminal for the session.
func (t *terminal) enterScreen() error {
	if err := t.makeRaw(); err != nil {
		return err
	}
	t.queriedAt = time.Now()
	if err := t.writeAll([]byte(enterSequence() + t.queries)); err != nil {
		t.leaveScreen()
		return fmt.Errorf("attach to session: write to terminal: %w", err)
	}
	return nil
}

// enterSequence returns the initial sequence.
func enterSequence() string {
	return saveTitle + enterAlt + passthrough.KeepModes + passthrough.RestModes() + passthrough.Tells + passthrough.Home
}

// leaveSequence returns the final sequence.
func (t *terminal) leaveSequence() string {
	screen := passthrough.RestModes() + passthrough.KeptModes
	if t.colored.Load() {
		screen += passthrough.RestColors
	}
	if t.progress.Load() {
		screen += passthrough.RestProgress
	}
	return screen + string(t.forget) + passthrough.LeaveAlt + "\x1b[?25h" + restoreTitle
}

// setForget records the sequence that deletes the pictures on the terminal.
func (t *terminal) setForget(pictures func(dst []byte) []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget = pictures(t.forget[:0])
}

// lendOut calls use with the terminal in its state before the run. Output waits meanwhile. takeBack
// is called first, as the engine may have the terminal.
func (t *terminal) lendOut(takeBack, use func()) {
	t.writing.Lock()
	defer t.writing.Unlock()
	takeBack()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	t.writeLast([]byte(t.leaveSequence()))
	_ = term.Restore(t.in.Fd(), t.saved)
	use()
	_, _ = term.MakeRaw(t.in.Fd())
	t.writeLast([]byte(enterSequence()))
}

// makeRaw makes the terminal raw. The state before the first call is the one leaveScreen
// restores.
func (t *terminal) makeRaw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, err := term.MakeRaw(t.in.Fd())
	if err != nil {
		return fmt.Errorf("attach to session: make terminal raw: %w", err)
	}
	if t.saved == nil {
		t.saved = state
	}
	return nil
}

// leaveScreen restores the terminal. Further calls do nothing.
func (t *terminal) leaveScreen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	t.writeLast([]byte(t.leaveSequence()))
	_ = term.Restore(t.in.Fd(), t.saved)
	t.saved = nil
}

// restoreOnPanic is deferred in goroutines whose panic would leave the terminal raw.
func (t *terminal) restoreOnPanic() {
	if p := recover(); p != nil {
		t.leaveScreen()
		panic(p)
	}
}

// writeAll writes p. It waits for the terminal to take it, until the run has ended.
func (t *terminal) writeAll(p []byte) error {
	for len(p) > 0 {
		t.writing.Lock()
		n, err := t.writeSome(p, stallTick)
		t.writing.Unlock()
		p = p[n:]
		if err != nil {
			return err
		}
		if n == 0 && t.abandoned.Load() {
			return errStalled
		}
	}
	return nil
}

// writeSome writes as much as the terminal takes, waiting at most limit for it to take
// anything.
func (t *terminal) writeSome(p []byte, limit time.Duration) (int, error) {
	n, err := unix.Write(t.fd, p)
	if err == unix.EAGAIN {
		_, err = pollFDs([]unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLOUT}}, int(limit.Milliseconds()))
	}
	if err == unix.EINTR {
		err = nil
	}
	return max(n, 0), err
}

// writeLast writes the final sequence. If the terminal takes nothing, its pending output
// is discarded first.
func (t *terminal) writeLast(p []byte) {
	for _, last := range [...]bool{false, true} {
		for deadline := time.Now().Add(maxLeaveTime); len(p) > 0 && time.Now().Before(deadline); {
			n, err := t.writeSome(p, maxLeaveTime)
			if err != nil {
				// It has hung up and needs no restoring.
				return
			}
			p = p[n:]
		}
		if len(p) == 0 || last {
			return
		}
		discardOutput(t.out)
	}
}

// writeNote shows a line in the last row, until the next repaint.
func (t *terminal) writeNote(text string) {
	size := t.currentSize()
	if size.Rows == 0 {
		return
	}
	// The reader notices a lost terminal, so errors are ignored.
	_ = t.writeAll(noteLine(size.Size, text))
}

// drawNote draws a note while a program's output may have stopped inside a sequence, which
// CAN (0x18) aborts. writing is held.
func (t *terminal) drawNote(text string) {
	if size := t.currentSize(); size.Rows > 0 {
		_, _ = t.writeSome(append([]byte{0x18}, noteLine(size.Size, text)...), stallTick)
	}
}

// noteLine returns the sequence that draws text in the last row.
func noteLine(size api.Size, text string) []byte {
	return fmt.Appendf(nil, "\x1b7\x1b[%d;1H\x1b[0;7m%-*.*s\x1b[0m\x1b8", size.Rows, size.Cols, size.Cols, text)
}

func (t *terminal) ringBell() { _ = t.writeAll([]byte{0x07}) }

// pollFDs waits for one of fds, retrying after signals. timeout is in milliseconds; -1
// waits forever.
func pollFDs(fds []unix.PollFd, timeout int) (n int, err error) {
	for {
		n, err = unix.Poll(fds, timeout)
		if err != unix.EINTR {
			return n, err
		}
	}
}
