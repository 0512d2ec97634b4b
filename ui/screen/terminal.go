package screen

import (
	"context"
	"fmt"
	"image"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"tandem/panes/graphics"
)

// stalled is how long a terminal that takes no output may hold up the end.
const stalled = 500 * time.Millisecond

// A Terminal is the person's, in raw mode, with what paints on it.
type Terminal struct {
	in, out *os.File
	saved   *term.State
	*painter
	stopped bool // by SIGTSTP, with the terminal given back
}

// Open makes the terminal the dashboard's until Close.
func Open(in, out *os.File) (*Terminal, error) {
	saved, err := term.MakeRaw(in.Fd())
	if err != nil {
		return nil, fmt.Errorf("open the dashboard: make terminal raw: %w", err)
	}
	t := New(out, colorprofile.Detect(out, os.Environ()))
	t.in, t.saved = in, saved
	err = t.painter.enter(true)
	if err == nil {
		err = t.painter.ask()
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("open the dashboard: write to terminal: %w", err)
	}
	return t, nil
}

// Close puts the terminal back as it was. It may be called again.
func (t *Terminal) Close() {
	done := make(chan struct{})
	go func() { // ends when the terminal takes its output or is closed
		defer close(done)
		t.painter.leave(true)
	}()
	t.Await(done)
	_ = term.Restore(t.in.Fd(), t.saved) // the terminal may be gone
}

// Await waits for what writes to the terminal, but not on a stalled one.
func (t *Terminal) Await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(stalled):
	}
}

// Size is the terminal's size in cells; a usual one if it cannot be told.
func (t *Terminal) Size() (w, h int) {
	w, h, err := term.GetSize(t.out.Fd())
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// Watch tells of every change of the size until ctx ends, gives the terminal
// back before the program is stopped and takes it again when it goes on.
func (t *Terminal) Watch(ctx context.Context, send func(tea.Msg)) {
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
			w, h := t.Size()
			send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}
}

// suspend stops the program, as SIGTSTP would have without a handler. A session
// that has the terminal does so itself.
func (t *Terminal) suspend() {
	if t.painter.isAway() {
		return
	}
	t.stopped = true
	t.Close()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // cannot fail
}

// retake takes the terminal again. Where the program was stopped without having
// given it back (SIGSTOP), all that it has pushed is taken back first.
func (t *Terminal) retake() {
	if t.painter.isAway() && !t.stopped {
		return
	}
	t.stopped = false
	t.painter.leave(true)
	_, _ = term.MakeRaw(t.in.Fd())
	_ = t.painter.enter(true) // what fails here fails with the next frame too
	t.AskColors()
}

// Cell is the size of a cell in pixels; zero where the terminal does not tell.
func (t *Terminal) Cell() image.Point {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return image.Point{}
	}
	return image.Pt(int(size.Xpixel/size.Col), int(size.Ypixel/size.Row))
}

// New is a terminal that is painted on without having been taken, such as a file
// in a test.
func New(out *os.File, profile colorprofile.Profile) *Terminal {
	return &Terminal{out: out, painter: newPainter(out, profile)}
}

// Cooked is the terminal's state before it was opened.
func (t *Terminal) Cooked() *term.State { return t.saved }

// Profile is the colours that the terminal can show.
func (t *Terminal) Profile() colorprofile.Profile { return t.painter.profile }

// Show makes a view of a size, on a ground and with a picture over its cells, what is
// painted next, with the pictures of sessions.
func (t *Terminal) Show(v tea.View, w, h int, g *Ground, p Placed, patches graphics.Patches) {
	t.painter.update(func(f *frame) {
		f.view, f.w, f.h, f.ground, f.picture, f.patches = v, w, h, g, p, patches
	})
	if t.painter.urgent.Swap(false) {
		t.painter.Hurry()
	}
}

// HurryNext has the next view painted at once, whatever was painted just before.
func (t *Terminal) HurryNext() { t.painter.urgent.Store(true) }

// Keyboard requests the kitty keyboard flags set by the focused program.
func (t *Terminal) Keyboard(flags uint8) {
	t.painter.update(func(f *frame) { f.keyboard = flags })
}

// Copy puts text on the terminal's clipboard.
func (t *Terminal) Copy(text string) {
	t.painter.update(func(f *frame) { f.clip, f.clips = text, f.clips+1 })
}

// Notify has the terminal tell the desktop.
func (t *Terminal) Notify(text string) {
	t.painter.update(func(f *frame) { f.notice, f.notices = text, f.notices+1 })
}

// Bell rings.
func (t *Terminal) Bell() { t.painter.update(func(f *frame) { f.bells++ }) }

// Learn takes in what the terminal answers of its modes. It counts clusters as
// one where it can, and holds its screen back while a frame is written.
func (t *Terminal) Learn(msg tea.ModeReportMsg) {
	if known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet; !known {
		return
	}
	switch msg.Mode {
	case ansi.ModeUnicodeCore:
		t.painter.update(func(f *frame) { f.clusters = true })
	case ansi.ModeSynchronizedOutput:
		t.painter.update(func(f *frame) { f.sync = true })
	}
}

// AskColors asks the terminal, if there is one, for its colours; it answers with messages.
func (t *Terminal) AskColors() {
	if t != nil {
		t.painter.askColors()
	}
}

// Leave lets somebody else have the terminal, in the alternate screen, until
// Enter.
func (t *Terminal) Leave() { t.painter.leave(false) }

// Enter takes the terminal again; everything is repainted.
func (t *Terminal) Enter() error { return t.painter.enter(false) }
