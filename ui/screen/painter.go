package screen

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/ui/display"
)

// minFrame is the minimum time between two frames.
const minFrame = time.Second / 120

// A painter writes frames to the terminal from its own goroutine, so that a stalled
// terminal delays nothing else. It paints at once after a pause or a key, otherwise one
// frame per minFrame, and nothing while nothing changes. The goroutine that receives an echo
// paints it itself: waking another one would take as long as painting. Bubble Tea's renderer, in
// contrast, checks 120 times a second. Unchanged rows are not even compared by cell.
type painter struct {
	out     *os.File
	profile colorprofile.Profile
	dirty   chan struct{} // capacity 1: there is a new frame
	hurry   chan struct{} // capacity 1: paint the next frame without a pause
	urgent  atomic.Bool   // the next view contains the echo of a key

	mu   sync.Mutex // guards next
	next frame

	busy     sync.Mutex // held while writing; guards the fields below
	inactive bool       // the terminal is not entered
	shown    frame
	rows     screenRows
	scrolls  bool // the terminal can scroll a part of the screen
	diff     *uv.TerminalRenderer
	rendered bytes.Buffer // output of diff
	buf      bytes.Buffer
	picture  terminalPicture
	patches  graphics.Display
	written  map[int]bool // rows with patches changed by drawCells
	err      error
}

// A frame is the desired state of the screen.
type frame struct {
	view       tea.View
	w, h       int
	rows       []string  // of the view; never changed in place
	regions    []*Region // parts that change without a new view
	picture    Placement
	patches    graphics.Patches // pictures of sessions
	background *Background      // nil for the terminal's own
	bells      int
	clip       string // text copied last
	clips      int    // number of copies
	notice     string // the last desktop notification
	notices    int    // number of notifications
	keyboard   uint8  // kitty keyboard flags in addition to ownKeyboard
	clusters   bool   // the terminal treats clusters as one character (mode 2027)
	sync       bool   // the terminal supports synchronised output (mode 2026)
	margins    bool   // the terminal supports left and right margins (mode 69)
}

func newPainter(out *os.File, profile colorprofile.Profile) *painter {
	return &painter{
		out: out, profile: profile, dirty: make(chan struct{}, 1), hurry: make(chan struct{}, 1), inactive: true,
		scrolls: os.Getenv("TERM") != "linux", // the console lacks SU and SD
	}
}

// updateFrame changes the next frame, and has it painted.
func (p *painter) updateFrame(change func(*frame)) {
	p.changeFrame(change)
	notifyChan(p.dirty)
}

// changeFrame changes the next frame.
func (p *painter) changeFrame(change func(*frame)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.next)
}

// setView replaces the view.
func (f *frame) setView(v tea.View, w, h int) {
	f.view, f.w, f.h, f.regions = v, w, h, nil
	f.rows = strings.Split(v.Content, "\n")
}

func (p *painter) nextFrame() frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// Run paints until ctx is done or writing fails. In the latter case it calls failed with the error.
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
		p.waitFrame(ctx)
	}
}

// SkipPause makes the painter paint the next frame without a pause, because a key was pressed or
// its echo has arrived.
func (p *painter) SkipPause() { notifyChan(p.hurry) }

// waitFrame keeps frames minFrame apart.
func (p *painter) waitFrame(ctx context.Context) {
	timer := time.NewTimer(minFrame)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.hurry:
	case <-ctx.Done():
	}
}

// enterScreen switches to the alternate screen, and sets the dashboard's modes. The next frame is
// painted completely.
func (p *painter) enterScreen() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	p.inactive = false
	p.shown = frame{}
	p.buf.Reset()
	p.forgetPictures()
	p.buf.WriteString(saveTitle + ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste + ansi.SetModeFocusEvent +
		ansi.SetModeLightDark + ansi.RequestBackgroundColor +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ownKeyboard))
	return p.flushBuffer()
}

// newRenderer returns a renderer that computes the difference between frames, starting
// with an erased screen.
func (p *painter) newRenderer() *uv.TerminalRenderer {
	r := uv.NewTerminalRenderer(&p.rendered, os.Environ())
	r.SetColorProfile(p.profile)
	r.SetFullscreen(true)
	r.SetRelativeCursor(false)
	r.SetTabStops(-1)
	r.SaveCursor()
	r.Erase()
	return r
}

// Sequences that save and restore the window title (XTWINOPS 22 and 23).
const (
	saveTitle    = "\x1b[22;0t"
	restoreTitle = "\x1b[23;0t"
)

// leaveScreen undoes enterScreen.
func (p *painter) leaveScreen() {
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.inactive {
		return
	}
	p.inactive = true
	p.buf.Reset()
	p.forgetPictures()
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
		ansi.ResetStyle + ansi.SetCursorStyle(0) + ansi.SetModeTextCursorEnable +
		ansi.ResetModeAltScreenSaveCursor + restoreTitle)
	// Writing may fail because the terminal is gone.
	_ = p.flushBuffer()
}

// forgetPictures deletes all pictures from the terminal.
func (p *painter) forgetPictures() {
	p.buf.Write(p.patches.AppendClear(p.picture.appendForget(nil)))
	p.patches.Reset()
}

// queryTerminal queries the terminal's properties. The answers arrive as messages.
func (p *painter) queryTerminal() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	p.buf.Reset()
	p.buf.WriteString(ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore + ansi.RequestModeLeftRightMargin + display.QuerySequence(os.Getenv))
	return p.flushBuffer()
}

// queryColors queries the terminal's colours, if the painter owns it.
func (p *painter) queryColors() {
	p.busy.Lock()
	defer p.busy.Unlock()
	if !p.inactive {
		p.buf.Reset()
		p.buf.WriteString(display.ColorQuery(os.Getenv))
		// An error here recurs with the next frame.
		_ = p.flushBuffer()
	}
}

// flushBuffer writes the buffer to the terminal.
func (p *painter) flushBuffer() error {
	if p.buf.Len() == 0 || p.err != nil {
		return p.err
	}
	_, p.err = p.out.Write(p.buf.Bytes())
	// The buffer held a picture; its memory is not kept.
	if p.buf.Cap() > 1<<20 {
		p.buf = bytes.Buffer{}
	}
	p.buf.Reset()
	return p.err
}

// Paint writes the difference between the shown and the next frame.
func (p *painter) Paint() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	return p.paint()
}

// tryPaint is Paint, unless somebody else is writing; ok is false if the frame was not painted.
func (p *painter) tryPaint() (ok bool) {
	if !p.busy.TryLock() {
		return false
	}
	defer p.busy.Unlock()
	return p.paint() == nil
}

// paint is Paint with busy held.
func (p *painter) paint() error {
	f := p.nextFrame()
	if p.inactive || f.w <= 0 || f.h <= 0 {
		return nil
	}
	p.buf.Reset()
	p.writeModes(f)
	// Modes come first: some affect how the cells below are shown.
	hurt, erased := p.drawCells(f)
	p.placePicture(f, hurt, erased)
	p.shown = f
	return p.flushBuffer()
}

// ownKeyboard holds the kitty keyboard flags the dashboard needs. Alternate keys give the
// shifted character on the user's layout.
const ownKeyboard = ansi.KittyDisambiguateEscapeCodes | ansi.KittyReportAlternateKeys

// keyboardFlags returns the flags to request from the terminal for a program that has requested the
// given flags. The dashboard needs its own as well, and the text of keys sent as escape codes.
func keyboardFlags(requested uint8) int {
	flags := int(requested) | ownKeyboard
	if flags&ansi.KittyReportAllKeysAsEscapeCodes != 0 {
		flags |= ansi.KittyReportAssociatedKeys
	}
	return flags
}

// writeModes writes changed modes and other state besides the cells.
func (p *painter) writeModes(f frame) {
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
		p.buf.WriteString(mouseSequence(was.view.MouseMode, f.view.MouseMode))
	}
	if f.view.WindowTitle != was.view.WindowTitle {
		p.buf.WriteString(ansi.SetWindowTitle(f.view.WindowTitle))
	}
	if now, before := progressSequence(f.view.ProgressBar), progressSequence(was.view.ProgressBar); now != before && showsProgress(os.Getenv) {
		p.buf.WriteString(now)
	}
	if f.clips != was.clips && was.w > 0 {
		p.buf.WriteString(ansi.SetSystemClipboard(f.clip))
	}
	if f.notices != was.notices && was.w > 0 {
		p.buf.WriteString(notifySequence(f.notice, os.Getenv))
	}
	if f.bells != was.bells && was.w > 0 {
		p.buf.WriteByte('\a')
	}
}

// mouseSequence returns the sequence that switches between mouse modes.
func mouseSequence(from, to tea.MouseMode) string {
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

// drawCells writes changed cells, erasing the screen first if necessary. erased reports
// whether it did, hurt whether the picture may be damaged.
func (p *painter) drawCells(f frame) (hurt, erased bool) {
	p.rendered.Reset()
	if f.w != p.shown.w || f.h != p.shown.h || f.clusters != p.shown.clusters {
		erased = true
		p.rows = newScreenRows(f.w, f.h)
		// A resized renderer would treat the new cells as empty forever.
		p.diff = p.newRenderer()
		p.diff.Resize(f.w, f.h)
	}
	clear(p.written)
	all := erased || f.background != p.shown.background
	if n := p.rows.draw(f, all); n >= minScrolled && !all && p.scrolls {
		p.scrollRows(f)
	}
	for y, changed := range p.rows.changed {
		if !changed {
			continue
		}
		before, line := p.rows.replace(y)
		if p.rows.wide[y] && !erased {
			p.leaveWideCell(y)
		}
		if f.patches.CrossesRow(y) {
			p.markWritten(y)
		}
		p.rows.touch(y)
		hurt = hurt || f.picture.coversRow(y) && f.picture.isDamagedBy(before, line)
	}
	p.render()
	return hurt, erased
}

// render makes the renderer write the changed cells. The renderer's output ends with a plain style
// and no link, but the renderer would still take the last link for the current one, so its pen is
// reset.
func (p *painter) render() {
	p.diff.Render(p.rows.cells)
	x, y := p.diff.Position()
	p.diff.RestoreCursor()
	p.diff.SetPosition(x, y)
}

// markWritten records that a row of the screen has been written: pictures of sessions in it may
// have to be drawn again.
func (p *painter) markWritten(y int) {
	if p.written == nil {
		p.written = map[int]bool{}
	}
	p.written[y] = true
}

// leaveWideCell runs before row y, which has wide cells, is rendered. If the cursor is on
// the second half of a wide cell, the renderer would move right by writing the text after
// it, one column early.
func (p *painter) leaveWideCell(y int) {
	// Rendering the rows above shows where the cursor will be.
	p.render()
	line := p.rows.cells.Line(y)
	if x, _ := p.diff.Position(); x > 0 && x < len(line) && line[x].Width == 0 {
		p.diff.MoveTo(0, y)
	}
}

// placePicture finishes the frame: it writes the rendered cells, then the pictures, and then places
// the cursor, which is hidden while drawing.
func (p *painter) placePicture(f frame, hurt, erased bool) {
	c, was := f.view.Cursor, p.shown.view.Cursor
	if c != nil {
		p.diff.MoveTo(c.X, c.Y)
	}
	// Flush writes to a buffer, which cannot fail.
	_ = p.diff.Flush()
	turn := p.picture.changeTo(f.picture, hurt, erased)
	turn.put = p.patches.AppendUpdate(turn.put, f.patches, p.written, erased)
	drawn := p.rendered.Len() > 0 || turn.isVisible()
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
	p.buf.Write(p.rendered.Bytes())
	if len(turn.put) > 0 {
		p.buf.Write(turn.put)
		// Drawing pictures has moved the cursor. Put it where the renderer assumes it.
		x, y := p.diff.Position()
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

// cursorStyle returns the parameter of DECSCUSR for a cursor.
func cursorStyle(c *tea.Cursor) int {
	if c.Shape == look.OwnCursor {
		return 0
	}
	style := 2*int(c.Shape) + 1
	if !c.Blink {
		style++
	}
	return style
}

// notifyChan signals a channel of capacity 1 without blocking.
func notifyChan(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
