package screen

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/graphics"
	"tandem/panes/widget"
	"tandem/ui/display"
)

// minFrame is the least time between two frames.
const minFrame = time.Second / 120

// A painter writes views to the terminal, from a goroutine of its own: a
// terminal that takes nothing holds up nobody. It writes a frame at once after
// a pause or a key, else one every minFrame, and nothing at all while nothing
// changes, which Bubble Tea's renderer, that looks 120 times a second, does
// not. Rows that are as before are not even looked at.
type painter struct {
	out     *os.File
	profile colorprofile.Profile
	dirty   chan struct{} // of 1
	typed   chan struct{} // of 1
	urgent  atomic.Bool   // the next view is the echo of a key

	mu   sync.Mutex // guards next
	next frame

	busy    sync.Mutex // held while writing; guards the rest
	away    bool       // the terminal is not entered, or somebody else has it
	shown   frame
	rows    []string // of shown
	cells   *uv.RenderBuffer
	diff    *uv.TerminalRenderer
	moves   bytes.Buffer // what diff writes
	buf     bytes.Buffer
	kept    keptPicture
	patches graphics.Display
	written map[int]bool // rows with patches that draw has changed
	err     error
}

// A frame is what the screen should be.
type frame struct {
	view     tea.View
	w, h     int
	picture  Placed
	patches  graphics.Patches // pictures of sessions
	ground   *Ground          // nil for the terminal's own
	bells    int
	clip     string // what was copied last
	clips    int    // counts copies
	notice   string // what the desktop was told last
	notices  int    // counts that
	keyboard uint8  // kitty keyboard flags in addition to ownKeyboard
	clusters bool   // the terminal counts clusters as one (mode 2027)
	sync     bool   // it shows synchronised output (mode 2026)
}

func newPainter(out *os.File, profile colorprofile.Profile) *painter {
	return &painter{out: out, profile: profile, dirty: make(chan struct{}, 1), typed: make(chan struct{}, 1), away: true}
}

// update changes the frame to be shown next.
func (p *painter) update(change func(*frame)) {
	p.mu.Lock()
	change(&p.next)
	p.mu.Unlock()
	ring(p.dirty)
}

func (p *painter) latest() frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// Run paints until ctx ends or the terminal fails, which it tells.
func (p *painter) Run(ctx context.Context, failed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.dirty:
		}
		if err := p.Paint(); err != nil {
			failed(err)
			return
		}
		p.rest(ctx)
	}
}

// Hurry ends a rest, or the next one: a key was pressed, or its echo is to be seen.
func (p *painter) Hurry() { ring(p.typed) }

// rest keeps frames apart.
func (p *painter) rest(ctx context.Context) {
	timer := time.NewTimer(minFrame)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.typed:
	case <-ctx.Done():
	}
}

// enter takes the terminal: its alternate screen, unless that is shown
// already, and the modes of the dashboard. Everything is repainted.
func (p *painter) enter(alt bool) error {
	p.busy.Lock()
	defer p.busy.Unlock()
	p.away = false
	p.shown, p.rows = frame{}, nil
	p.buf.Reset()
	p.forget()
	if alt {
		p.buf.WriteString(saveTitle + ansi.SetModeAltScreenSaveCursor)
	}
	p.buf.WriteString(ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent +
		ansi.SetModeLightDark + ansi.RequestBackgroundColor +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ownKeyboard))
	return p.flush()
}

// renderer is what finds the differences between two frames. It begins with an
// erased screen.
func (p *painter) renderer() *uv.TerminalRenderer {
	r := uv.NewTerminalRenderer(&p.moves, os.Environ())
	r.SetColorProfile(p.profile)
	r.SetFullscreen(true)
	r.SetRelativeCursor(false)
	r.SetTabStops(-1)
	r.Erase()
	return r
}

// The title on the terminal's stack (XTWINOPS 22 and 23).
const (
	saveTitle = "\x1b[22;0t"
	oldTitle  = "\x1b[23;0t"
)

// leave puts the terminal back as enter found it. With alt false the alternate
// screen stays, for somebody else who has it now.
func (p *painter) leave(alt bool) {
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.away {
		return
	}
	p.away = true
	p.buf.Reset()
	p.forget()
	if p.shown.sync {
		p.buf.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	if p.shown.clusters {
		p.buf.WriteString(ansi.ResetModeUnicodeCore)
	}
	if p.shown.cursorColor() != "" {
		p.buf.WriteString(ansi.ResetCursorColor)
	}
	if p.shown.view.ProgressBar != nil && showsProgress(os.Getenv) {
		p.buf.WriteString(ansi.ResetProgressBar)
	}
	p.buf.WriteString(ansi.PopKittyKeyboard(1) + ansi.ResetModifyOtherKeys +
		ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr +
		ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModeLightDark +
		ansi.ResetStyle + ansi.SetCursorStyle(0) + ansi.SetModeTextCursorEnable)
	if alt {
		p.buf.WriteString(ansi.ResetModeAltScreenSaveCursor + oldTitle)
	}
	_ = p.flush() // the terminal may be gone
}

// forget writes what leaves no pictures in the terminal.
func (p *painter) forget() {
	p.buf.Write(p.patches.AppendClear(p.kept.forget(nil)))
	p.patches.Reset()
}

// isAway reports whether somebody else has the terminal.
func (p *painter) isAway() bool {
	p.busy.Lock()
	defer p.busy.Unlock()
	return p.away
}

// ask asks the terminal what it is; it answers with messages.
func (p *painter) ask() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	p.buf.Reset()
	p.buf.WriteString(ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore + display.Ask(os.Getenv))
	return p.flush()
}

// askColors asks the terminal for its colours, unless somebody else has it.
func (p *painter) askColors() {
	p.busy.Lock()
	defer p.busy.Unlock()
	if !p.away {
		p.buf.Reset()
		p.buf.WriteString(display.AskColors(os.Getenv))
		_ = p.flush() // what fails here fails with the next frame too
	}
}

// flush writes what is in buf.
func (p *painter) flush() error {
	if p.buf.Len() == 0 || p.err != nil {
		return p.err
	}
	_, p.err = p.out.Write(p.buf.Bytes())
	if p.buf.Cap() > 1<<20 { // a picture was in it
		p.buf = bytes.Buffer{}
	}
	p.buf.Reset()
	return p.err
}

// Paint writes what differs between the frame shown and the next one.
func (p *painter) Paint() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	f := p.latest()
	if p.away || f.w <= 0 || f.h <= 0 {
		return nil
	}
	p.buf.Reset()
	p.modes(f)
	hurt, erased := p.draw(f)
	p.place(f, hurt, erased)
	p.shown = f
	return p.flush()
}

// ownKeyboard holds the kitty keyboard flags the dashboard needs. Alternate keys give the
// shifted character on the user's layout.
const ownKeyboard = ansi.KittyDisambiguateEscapeCodes | ansi.KittyReportAlternateKeys

// keyboardFlags returns the flags to request when a program has set set. The dashboard also
// needs the text of keys sent as escape codes.
func keyboardFlags(set uint8) int {
	flags := int(set) | ownKeyboard
	if flags&ansi.KittyReportAllKeysAsEscapeCodes != 0 {
		flags |= ansi.KittyReportAssociatedKeys
	}
	return flags
}

// modes switches what is asked of the terminal beside its cells.
func (p *painter) modes(f frame) {
	was := p.shown
	if now := f.cursorColor(); now != was.cursorColor() {
		p.buf.WriteString(cmp.Or(now, ansi.ResetCursorColor))
	}
	if f.keyboard != was.keyboard {
		p.buf.WriteString(ansi.KittyKeyboard(keyboardFlags(f.keyboard), 1))
	}
	if f.clusters && !was.clusters {
		p.buf.WriteString(ansi.SetModeUnicodeCore)
	}
	if f.view.MouseMode != was.view.MouseMode {
		p.buf.WriteString(mouseMode(was.view.MouseMode, f.view.MouseMode))
	}
	if f.view.WindowTitle != was.view.WindowTitle {
		p.buf.WriteString(ansi.SetWindowTitle(f.view.WindowTitle))
	}
	if now, before := progress(f.view.ProgressBar), progress(was.view.ProgressBar); now != before && showsProgress(os.Getenv) {
		p.buf.WriteString(now)
	}
	if f.clips != was.clips && was.w > 0 {
		p.buf.WriteString(ansi.SetSystemClipboard(f.clip))
	}
	if f.notices != was.notices && was.w > 0 {
		p.buf.WriteString(notification(f.notice, os.Getenv))
	}
	if f.bells != was.bells && was.w > 0 {
		p.buf.WriteByte('\a')
	}
}

// mouseMode is what changes the events of the mouse that the terminal tells of.
func mouseMode(from, to tea.MouseMode) string {
	switch {
	case to == tea.MouseModeNone:
		return ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr
	case to == tea.MouseModeAllMotion:
		return ansi.SetModeMouseExtSgr + ansi.SetModeMouseAnyEvent
	case from == tea.MouseModeAllMotion:
		return ansi.ResetModeMouseAnyEvent + ansi.SetModeMouseButtonEvent
	}
	return ansi.SetModeMouseExtSgr + ansi.SetModeMouseButtonEvent
}

// draw writes the cells that differ, after all were erased if need be. It
// reports whether that was so, and whether the picture may have been hurt.
func (p *painter) draw(f frame) (hurt, erased bool) {
	if f.w != p.shown.w || f.h != p.shown.h || f.clusters != p.shown.clusters {
		erased = true
		p.cells = uv.NewRenderBuffer(f.w, f.h)
		p.rows = make([]string, f.h)
		// Resized, it would take the cells that are new for empty for ever.
		p.diff = p.renderer()
		p.diff.Resize(f.w, f.h)
	}
	clear(p.written)
	all := erased || f.ground != p.shown.ground
	rest := f.view.Content
	for y := range f.h {
		var row string
		row, rest, _ = strings.Cut(rest, "\n")
		if row == p.rows[y] && !all {
			continue
		}
		var before uv.Line
		if f.picture.crosses(y) {
			before = slices.Clone(p.cells.Line(y))
		}
		if drawRow(p.cells.Line(y), row, f.clusters, f.ground) && !erased {
			p.leaveWide(y)
		}
		if f.patches.CrossesRow(y) {
			p.noteWritten(y)
		}
		p.cells.TouchLine(0, y, f.w)
		p.rows[y] = row
		hurt = hurt || before != nil && f.picture.hurtBy(before, p.cells.Line(y))
	}
	p.diff.Render(p.cells)
	return hurt, erased
}

// noteWritten notes that a row with pictures of sessions is written.
func (p *painter) noteWritten(y int) {
	if p.written == nil {
		p.written = map[int]bool{}
	}
	p.written[y] = true
}

// leaveWide is called before row y, which has wide cells, is rendered. From the
// second half of one the renderer would move to the right by writing what comes
// after it, one column early.
func (p *painter) leaveWide(y int) {
	p.diff.Render(p.cells) // the rows above, to know where the cursor is then
	line := p.cells.Line(y)
	if x, _ := p.diff.Position(); x > 0 && x < len(line) && line[x].Width == 0 {
		p.diff.MoveTo(0, y)
	}
}

// place puts the picture and the cursor where they belong, after everything was
// drawn with the cursor hidden.
func (p *painter) place(f frame, hurt, erased bool) {
	c, was := f.view.Cursor, p.shown.view.Cursor
	if c != nil {
		p.diff.MoveTo(c.X, c.Y)
	}
	p.moves.Reset()
	_ = p.diff.Flush() // into moves, which cannot fail
	turn := p.kept.turn(f.picture, hurt, erased)
	turn.put = p.patches.AppendUpdate(turn.put, f.patches, p.written, erased)
	drawn := p.moves.Len() > 0 || turn.any()
	if !drawn && sameCursor(c, was) {
		return
	}
	p.buf.Write(turn.before)
	if f.sync && drawn {
		p.buf.WriteString(ansi.SetModeSynchronizedOutput)
	}
	if was != nil && (drawn || c == nil) {
		p.buf.WriteString(ansi.ResetModeTextCursorEnable)
	}
	p.buf.Write(p.moves.Bytes())
	if len(turn.put) > 0 {
		p.buf.Write(turn.put)
		x, y := p.diff.Position() // where it believes that the cursor is
		p.buf.WriteString(ansi.CursorPosition(max(min(x, f.w-1), 0)+1, max(y, 0)+1))
	}
	if c != nil {
		if was == nil || c.Shape != was.Shape || c.Blink != was.Blink {
			p.buf.WriteString(ansi.SetCursorStyle(cursorStyle(c)))
		}
		p.buf.WriteString(ansi.SetModeTextCursorEnable)
	}
	if f.sync && drawn {
		p.buf.WriteString(ansi.ResetModeSynchronizedOutput)
	}
}

func sameCursor(a, b *tea.Cursor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// cursorStyle is the parameter of DECSCUSR.
func cursorStyle(c *tea.Cursor) int {
	if c.Shape == widget.OwnCursor {
		return 0
	}
	style := 2*int(c.Shape) + 1
	if !c.Blink {
		style++
	}
	return style
}

// ring wakes who waits at c, a channel of one, or will.
func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
