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

	"tandem/panes/kit/graphics"
	"tandem/ui/jobcontrol"
)

// maxStall is how long a terminal that takes no output may delay the exit.
const maxStall = 500 * time.Millisecond

// A Terminal is the user's terminal in raw mode, with its painter.
type Terminal struct {
	in, out *os.File
	saved   *term.State
	*painter
	stops   chan os.Signal // SIGTSTP and SIGCONT since Open
	resizes chan os.Signal // capacity 1; the size may have changed
	suspend func()         // stops the program; tests replace it
}

// Open prepares the terminal for the dashboard, until Close.
func Open(in, out *os.File) (*Terminal, error) {
	t := New(out, colorprofile.Detect(out, os.Environ()))
	t.subscribe()
	saved, err := term.MakeRaw(in.Fd())
	if err != nil {
		t.unsubscribe()
		return nil, fmt.Errorf("open the dashboard: make terminal raw: %w", err)
	}
	t.in, t.saved = in, saved
	err = t.Enter()
	if err == nil {
		err = t.painter.queryTerminal()
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("open the dashboard: write to terminal: %w", err)
	}
	return t, nil
}

// subscribe starts receiving signals.
func (t *Terminal) subscribe() {
	signal.Notify(t.resizes, syscall.SIGWINCH)
	jobcontrol.Notify(t.stops)
}

func (t *Terminal) unsubscribe() {
	signal.Stop(t.stops)
	signal.Stop(t.resizes)
}

// Close restores the terminal. It may be called more than once.
func (t *Terminal) Close() {
	t.unsubscribe()
	t.restore()
}

func (t *Terminal) restore() {
	done := make(chan struct{})
	// The goroutine ends once the terminal takes its output or is closed.
	go func() {
		defer close(done)
		t.painter.leaveScreen()
	}()
	t.Await(done)
	// The terminal may be gone.
	_ = term.Restore(t.in.Fd(), t.saved)
}

// Await waits for done, which a goroutine writing to the terminal closes, but at most
// maxStall.
func (t *Terminal) Await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(maxStall):
	}
}

// Size returns the terminal's size in cells, 80×24 if it is unknown.
func (t *Terminal) Size() (w, h int) {
	w, h, err := term.GetSize(t.out.Fd())
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// WatchStops restores the terminal before the program is stopped, and takes it again when
// the program continues, until ctx is done.
func (t *Terminal) WatchStops(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-t.stops:
			t.handleStop(ctx, s)
			// The message makes the dashboard draw a frame.
			select {
			case t.resizes <- s:
			default:
			}
		}
	}
}

// WatchSize reports the size when it may have changed, until ctx is done. send may block.
func (t *Terminal) WatchSize(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.resizes:
			w, h := t.Size()
			send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}
}

func (t *Terminal) handleStop(ctx context.Context, s os.Signal) {
	if s == syscall.SIGTSTP {
		t.restore()
		t.suspend()
		jobcontrol.AwaitContinue(ctx, t.stops)
	} else {
		// The program was stopped without restoring the terminal (SIGSTOP), so its modes
		// are still set.
		t.painter.leaveScreen()
	}
	t.takeBack()
}

// takeBack makes the terminal raw again and draws on its alternate screen, after the program was
// stopped and continues.
func (t *Terminal) takeBack() {
	_, _ = term.MakeRaw(t.in.Fd())
	// An error here recurs with the next frame.
	_ = t.Enter()
	t.AskColors()
}

// Enter starts drawing, on the alternate screen.
func (t *Terminal) Enter() error { return t.painter.enterScreen() }

// Cell returns the size of a cell in pixels; zero if unknown.
func (t *Terminal) Cell() image.Point {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return image.Point{}
	}
	return image.Pt(int(size.Xpixel/size.Col), int(size.Ypixel/size.Row))
}

// New returns a Terminal on a file that was not prepared, such as one in a test.
func New(out *os.File, profile colorprofile.Profile) *Terminal {
	return &Terminal{
		out: out, painter: newPainter(out, profile),
		stops: make(chan os.Signal, 16), resizes: make(chan os.Signal, 1), suspend: jobcontrol.Stop,
	}
}

// Profile returns the terminal's colour profile.
func (t *Terminal) Profile() colorprofile.Profile { return t.painter.profile }

// Show sets the next frame: a view of w×h cells on a background, a picture over its cells,
// and the pictures of sessions. Regions may change without another call.
func (t *Terminal) Show(v tea.View, w, h int, g *Background, p Placement, patches graphics.Patches, regions ...*Region) {
	t.painter.updateFrame(func(f *frame) {
		f.setView(v, w, h)
		f.setRegions(regions, t.painter)
		f.background, f.picture, f.patches = g, p, patches
	})
	if t.painter.urgent.Swap(false) {
		t.painter.SkipPause()
	}
}

// SkipPauseNext paints the next view at once, no matter when the last one was painted.
func (t *Terminal) SkipPauseNext() { t.painter.urgent.Store(true) }

// Keyboard requests the kitty keyboard flags set by the focused program.
func (t *Terminal) Keyboard(flags uint8) {
	t.painter.updateFrame(func(f *frame) { f.keyboard = flags })
}

// Copy puts text on the terminal's clipboard.
func (t *Terminal) Copy(text string) {
	t.painter.updateFrame(func(f *frame) { f.clip, f.clips = text, f.clips+1 })
}

// Notify sends a desktop notification through the terminal.
func (t *Terminal) Notify(text string) {
	t.painter.updateFrame(func(f *frame) { f.notice, f.notices = text, f.notices+1 })
}

// Bell rings the terminal's bell.
func (t *Terminal) Bell() { t.painter.updateFrame(func(f *frame) { f.bells++ }) }

// RecordMode records a report of the terminal's modes. The painter uses clusters, synchronised
// output, and left and right margins if supported.
func (t *Terminal) RecordMode(msg tea.ModeReportMsg) {
	if known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet; !known {
		return
	}
	switch msg.Mode {
	case ansi.ModeUnicodeCore:
		t.painter.updateFrame(func(f *frame) { f.clusters = true })
	case ansi.ModeSynchronizedOutput:
		t.painter.updateFrame(func(f *frame) { f.sync = true })
	case ansi.ModeLeftRightMargin:
		t.painter.updateFrame(func(f *frame) { f.margins = true })
	}
}

// AskColors queries the terminal's colours; t may be nil. The answers arrive as messages.
func (t *Terminal) AskColors() {
	if t != nil {
		t.painter.queryColors()
	}
}
