package attach

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/passthrough"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	enterAlt  = "\x1b[?1049h"
	saveTitle = "\x1b[22;0t"
	oldTitle  = "\x1b[23;0t"
)

const (
	// stallTick is how often a write that the terminal does not take looks
	// whether the run has ended.
	stallTick = 50 * time.Millisecond
	// leaveLimit is how long a terminal that takes nothing may hold up the end
	// of a run; then the output it has not taken is thrown away.
	leaveLimit = 250 * time.Millisecond
)

// errStalled says that the terminal takes no output.
var errStalled = errors.New("the terminal takes no output")

// A terminal is the person's, in raw mode and on its alternate screen from
// enter until leave.
type terminal struct {
	in, out *os.File
	asks    string      // what it is asked at first
	asked   time.Time   // and when
	keepAlt bool        // the alternate screen is shown before and after
	cooked  *term.State // before the caller made it raw; nil if it has not
	fd      int         // to write to: out, opened again so that no write blocks

	hurried  atomic.Bool // the run is over, so output may be dropped
	colored  atomic.Bool // output may have changed the colours
	progress atomic.Bool // output set a progress indicator (OSC 9;4)

	writing sync.Mutex // held for a piece of output, and while the terminal is lent

	mu     sync.Mutex
	saved  *term.State // nil unless the terminal is in raw mode
	forget []byte      // what takes the pictures off it that are drawn on it
}

func newTerminal(in, out *os.File, keepAlt bool) (*terminal, error) {
	for _, f := range [...]*os.File{in, out} {
		if f == nil || !term.IsTerminal(f.Fd()) {
			return nil, api.Errorf(api.CodeInvalid, "attach to session: standard input and output have to be a terminal").
				WithHint("`tandem send` and `tandem screen` work without one")
		}
	}
	t := &terminal{in: in, out: out, keepAlt: keepAlt}
	t.fd = reopen(out)
	return t, nil
}

func (t *terminal) close() {
	if t.fd != int(t.out.Fd()) {
		unix.Close(t.fd)
	}
}

// hurry makes writes that the terminal does not take fail.
func (t *terminal) hurry() { t.hurried.Store(true) }

// A termSize is a terminal's size in cells, and that of a cell in pixels; zero where it
// cannot be told.
type termSize struct {
	api.Size
	cell image.Point
}

func (t *terminal) size() (s termSize) {
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

// enter makes the terminal the session's.
func (t *terminal) enter() error {
	if err := t.raw(); err != nil {
		return err
	}
	t.asked = time.Now()
	if err := t.write([]byte(begins(!t.keepAlt) + t.asks)); err != nil {
		t.leave()
		return fmt.Errorf("attach to session: write to terminal: %w", err)
	}
	return nil
}

// begins is what the terminal is sent first; alt says that it is not on its
// alternate screen yet.
func begins(alt bool) string {
	screen := passthrough.KeepModes + passthrough.RestModes() + passthrough.Tells + passthrough.Home
	if alt {
		screen = saveTitle + enterAlt + screen
	}
	return screen
}

// ends is what the terminal is sent last; alt says that it goes back to its main
// screen.
func (t *terminal) ends(alt bool) string {
	screen := passthrough.RestModes() + passthrough.KeptModes
	if t.colored.Load() {
		screen += passthrough.RestColors
	}
	if t.progress.Load() {
		screen += passthrough.RestProgress
	}
	screen += string(t.forget)
	if alt {
		screen += passthrough.LeaveAlt + "\x1b[?25h" + oldTitle
	}
	return screen
}

// forgets takes in what takes pictures off the terminal.
func (t *terminal) forgets(pictures func(dst []byte) []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget = pictures(t.forget[:0])
}

// lend gives the terminal back to who had it before the run, and before its
// caller, until use returns. What is written meanwhile waits. Before that, takeBack is
// called: the terminal may be somebody else's.
func (t *terminal) lend(takeBack, use func()) {
	t.writing.Lock()
	defer t.writing.Unlock()
	takeBack()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	t.writeLast([]byte(t.ends(true)))
	_ = term.Restore(t.in.Fd(), cmp.Or(t.cooked, t.saved))
	use()
	_, _ = term.MakeRaw(t.in.Fd())
	t.writeLast([]byte(begins(true)))
}

// raw switches off all that the kernel does to bytes. The state before the
// first call is what leave restores.
func (t *terminal) raw() error {
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

// leave gives the terminal back as it was. It does nothing the second time.
func (t *terminal) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	t.writeLast([]byte(t.ends(!t.keepAlt)))
	_ = term.Restore(t.in.Fd(), t.saved)
	t.saved = nil
}

// restoreOnPanic is deferred where a panic would end the program with the
// terminal raw. It restores what the caller changed too, which may get no chance to.
func (t *terminal) restoreOnPanic() {
	if p := recover(); p != nil {
		t.mu.Lock()
		t.keepAlt = false
		if t.saved != nil {
			t.saved = cmp.Or(t.cooked, t.saved)
		}
		t.mu.Unlock()
		t.leave()
		panic(p)
	}
}

// write writes all of p, and waits for the terminal to take it until the run
// has ended.
func (t *terminal) write(p []byte) error {
	for len(p) > 0 {
		t.writing.Lock()
		n, err := t.writeSome(p, stallTick)
		t.writing.Unlock()
		p = p[n:]
		if err != nil {
			return err
		}
		if n == 0 && t.hurried.Load() {
			return errStalled
		}
	}
	return nil
}

// writeSome writes what the terminal takes, after waiting at most limit for it
// to take anything.
func (t *terminal) writeSome(p []byte, limit time.Duration) (int, error) {
	n, err := unix.Write(t.fd, p)
	if err == unix.EAGAIN {
		_, err = poll([]unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLOUT}}, int(limit.Milliseconds()))
	}
	if err == unix.EINTR {
		err = nil
	}
	return max(n, 0), err
}

// writeLast writes what gives the terminal back. Where it takes nothing, what
// it was sent before is thrown away first.
func (t *terminal) writeLast(p []byte) {
	for _, last := range [...]bool{false, true} {
		for deadline := time.Now().Add(leaveLimit); len(p) > 0 && time.Now().Before(deadline); {
			n, err := t.writeSome(p, leaveLimit)
			if err != nil {
				return // it is gone, and needs no restoring
			}
			p = p[n:]
		}
		if len(p) == 0 || last {
			return
		}
		discardOutput(t.out)
	}
}

// note shows a line at the bottom, until the next repaint.
func (t *terminal) note(text string) {
	size := t.size()
	if size.Rows == 0 {
		return
	}
	// A terminal that is gone is noticed by reading from it.
	_ = t.write(noteLine(size.Size, text))
}

// drawNote draws a note where a program's output may have stopped within a sequence.
// writing is held.
func (t *terminal) drawNote(text string) {
	if size := t.size(); size.Rows > 0 {
		_, _ = t.writeSome(append([]byte{0x18}, noteLine(size.Size, text)...), stallTick)
	}
}

// noteLine draws text in the last row.
func noteLine(size api.Size, text string) []byte {
	return fmt.Appendf(nil, "\x1b7\x1b[%d;1H\x1b[0;7m%-*.*s\x1b[0m\x1b8", size.Rows, size.Cols, size.Cols, text)
}

// bell rings.
func (t *terminal) bell() { _ = t.write([]byte{0x07}) }

// poll waits for one of fds; timeout is in milliseconds, -1 for none.
func poll(fds []unix.PollFd, timeout int) (n int, err error) {
	for {
		n, err = unix.Poll(fds, timeout)
		if err != unix.EINTR {
			return n, err
		}
	}
}
