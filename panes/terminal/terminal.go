package terminal

import (
	"crypto/rand"

	"tandem/engine/api"
	"tandem/engine/api/direct"
	"tandem/engine/api/outbox"
	"tandem/keys"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/predict"
)

// A Terminal shows a session live and sends input to it. Only the goroutine that draws it may call
// its methods; output arrives through Feed.
type Terminal struct {
	ID     string // of the session
	Feed   *Feed
	Outbox *outbox.Outbox // input for the session

	Pictures graphics.Screen // how pictures of the program are drawn
	Predict  predict.Mode    // when input is shown before its echo

	View    Viewport
	Scroll  ScrollMode
	Pointer Pointer // selection by mouse

	status  feedStatus  // as of the last Sync
	shown   ScreenState // as of the last Sync
	changed bool
	echo    echo

	canvas  canvas
	patches []graphics.Patch // over its rows
	plain   bool             // its rows are the program's screen
	exit    exitRow
}

// NewTerminal returns a terminal for a session. The caller feeds it with output through its Feed.
func NewTerminal(id string) *Terminal {
	t := &Terminal{ID: id, Outbox: new(outbox.Outbox)}
	t.Feed = &Feed{Outbox: t.Outbox, Keys: direct.NewPath(t.Outbox.Send), Input: rand.Text(), Attached: make(chan struct{}, 1)}
	t.View.feed, t.View.outbox = t.Feed, t.Outbox
	t.Scroll.screen, t.Scroll.outbox = &t.Feed.Screen, t.Outbox
	t.Pointer.scroll = &t.Scroll
	t.echo.screen, t.echo.outbox = &t.Feed.Screen, t.Outbox
	return t
}

// Sync applies the output received since the last call. It reports whether the program has rung the
// bell.
func (t *Terminal) Sync() (rang bool) {
	st, before := t.Feed.takeStatus(), t.status
	screen, shown := t.Feed.Screen.State(), t.shown
	// A live pane needs nothing more than to be drawn.
	isNew := screen.version != shown.version && !(t.plain && t.Feed.Screen.isDrawn())
	t.status, t.shown = st, screen
	if st.exited != before.exited || st.err != before.err || isNew || st.kitty != before.kitty || st.mark != nil {
		t.changed = true
	}
	t.View.applied = api.Size{Cols: screen.Cols, Rows: screen.Rows} == t.View.size
	t.echo.confirmGuesses(st, screen, t.changed)
	if st.hasEnded() {
		t.Outbox.Close()
	}
	// A new attachment knows nothing yet.
	if st.serial != before.serial {
		t.View.sentSize, t.View.sentDisplay, t.Scroll.anchorsSent = nil, st.sentDisplay, false
		t.View.SendSize()
	}
	t.View.sendDisplay()
	if !screen.Known {
		return false
	}
	// Follow a resize before anything else, because it renumbers the lines.
	t.Scroll.followResize(screen)
	t.Scroll.clampPosition(screen)
	t.Scroll.requestLines()
	return shown.Known && screen.Bells != shown.Bells
}

// Keyboard returns the kitty keyboard flags of the program, or 0 if the pane is in scroll mode or
// the program has exited.
func (t *Terminal) Keyboard() uint8 {
	if t.Scroll.active || t.status.exited != nil {
		return 0
	}
	return t.status.kitty
}

// NeedsRedraw reports whether anything changed since the last call.
func (t *Terminal) NeedsRedraw() bool {
	changed := t.changed
	t.changed = false
	return changed
}

// FinalState returns the session's last state after it has exited, else nil.
func (t *Terminal) FinalState() *api.Process { return t.status.exited }

// Err returns why the session cannot be shown; nil if it can.
func (t *Terminal) Err() error { return t.status.err }

// SetSize sets the size of the pane in cells. View.SendSize sends it to the session later.
func (t *Terminal) SetSize(w, h int) {
	t.View.setSize(api.Size{Cols: max(w, 1), Rows: max(h, 1)})
	t.Scroll.height = t.View.size.Rows
}

// State returns the state of the session's screen.
func (t *Terminal) State() ScreenState { return t.Feed.Screen.State() }

// Focus tells the program whether it has the keyboard.
func (t *Terminal) Focus(on bool) {
	if t.Outbox.Connected() {
		_ = t.Feed.Keys.Send(api.Input{Focus: &on}) // fails only if the connection is lost
	}
}

// WantsMouse reports whether a mouse event is for the program. As in other terminals, a program
// does not get events with shift.
func (t *Terminal) WantsMouse(e keys.Mouse) bool {
	return t.State().Mouse != keys.MouseOff && !t.Scroll.active && t.status.exited == nil && e.Mods&keys.Shift == 0
}

// Mouse handles a mouse event in cells of this pane. The wheel scrolls unless the program wants it;
// on the alternate screen it sends cursor keys. Mouse reports whether it used the event.
func (t *Terminal) Mouse(e keys.Mouse) bool {
	st := t.State()
	switch {
	case t.WantsMouse(e):
		// The program counts rows of its own screen, which may be higher than the pane.
		e.Y += st.rowsAbove(t.View.size.Rows)
		return t.Feed.Keys.Send(api.Input{Mouse: &e}) == nil
	case !e.IsWheel() || e.Kind != keys.MouseDown:
		return false
	case st.Alt && t.status.exited == nil:
		key := keys.Key{Code: keys.Down}
		if e.Button == keys.WheelUp {
			key.Code = keys.Up
		}
		for range wheelLines {
			t.Feed.Keys.Send(api.Input{Key: &key})
		}
	case e.Button == keys.WheelUp:
		t.Scroll.scrollByWheel(-wheelLines)
	default:
		t.Scroll.scrollByWheel(wheelLines)
	}
	return true
}

const wheelLines = 3
