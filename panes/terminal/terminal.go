package terminal

import (
	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/keys"
	"tandem/panes/graphics"
	"tandem/panes/widget"
	"tandem/ui/predict"
)

// A Terminal is a pane that shows one session live and types into it. All its
// methods are for the goroutine that draws; what arrives comes through Feed.
type Terminal struct {
	ID     string // the session's
	Feed   *Feed
	Outbox *outbox.Outbox // what it gets

	Pictures graphics.Screen // how the pictures of its program are drawn
	Predict  predict.Mode    // when what is typed is shown before the program has shown it

	Scroll  ScrollMode
	Pointer Pointer // what the mouse selects

	size     api.Size     // area that the pane has
	hidden   bool         // out of sight
	told     *api.Size    // size that the session was told; nil if it was told none
	display  *api.Display // what the person's terminal is like; nil if that is not known
	shown    *api.Display // display that the session was told; nil if it was told none
	ended    *api.Process
	afterEnd []widget.Hint // keys of a pane whose program is gone
	err      error
	bells    uint32
	heard    bool
	behind   bool // what the person has seen elsewhere may not be here yet
	answers  int  // of the feed
	serial   int  // of the attachment

	kitty   uint8  // keyboard flags set by the program
	version uint64 // of the screen
	changed bool
	sized   bool // the screen has the pane's size
	settled bool // a size that differs from it is here to stay
	echo    echo
	rows    []string
	patches []graphics.Patch // over rows
}

// NewTerminal makes a pane for a session; somebody has to fill its Feed.
func NewTerminal(id string) *Terminal {
	t := &Terminal{ID: id, Outbox: new(outbox.Outbox)}
	t.Feed = &Feed{Outbox: t.Outbox}
	t.Scroll.screen, t.Scroll.outbox = &t.Feed.Screen, t.Outbox
	t.Pointer.scroll = &t.Scroll
	return t
}

// Sync takes over what has arrived in the feed since the last time. It reports
// whether the bell rang.
func (t *Terminal) Sync() (rang bool) {
	st := t.Feed.status()
	screen := t.Feed.Screen.State()
	if st.ended != t.ended || st.err != t.err || screen.version != t.version || st.kitty != t.kitty {
		t.changed = true
	}
	t.kitty = st.kitty
	t.ended, t.err, t.version = st.ended, st.err, screen.version
	t.sized = api.Size{Cols: screen.Cols, Rows: screen.Rows} == t.size
	t.confirm(st, screen)
	t.behind = t.behind && st.answers == t.answers && t.Outbox.Connected() && st.serial == t.serial
	t.answers = st.answers
	if t.ended != nil || t.err != nil {
		t.Outbox.Close()
	}
	if st.serial != t.serial {
		t.serial, t.told, t.shown, t.Scroll.known = st.serial, nil, st.told, false
		t.Resized()
	}
	t.tellDisplay()
	if !screen.Known {
		return false
	}
	rang = t.heard && screen.Bells != t.bells
	t.bells, t.heard = screen.Bells, true
	t.Scroll.follow(screen)
	t.Scroll.clamp(screen)
	t.Scroll.fetch()
	return rang
}

// Keyboard returns the kitty keyboard flags set by the program, or 0 if the pane is in scroll
// mode or the program has exited.
func (t *Terminal) Keyboard() uint8 {
	if t.Scroll.active || t.ended != nil {
		return 0
	}
	return t.kitty
}

// CatchUp has the session show all that its program has written; until that has
// arrived the pane is Behind.
func (t *Terminal) CatchUp() { t.behind = t.Outbox.Tell(api.Input{Lines: &api.LineRange{}}) }

// Behind reports whether the person may have seen more of the session than the pane
// knows, or the session is about to take another size.
func (t *Terminal) Behind() bool {
	return t.behind || !t.sized && !t.settled && t.Outbox.Connected() && t.ended == nil
}

// Changed reports whether there is something new to draw since it was asked
// last.
func (t *Terminal) NeedsRedraw() bool {
	changed := t.changed
	t.changed = false
	return changed
}

// Ended is the session's last state once it has ended, else nil.
func (t *Terminal) Ended() *api.Process { return t.ended }

// Err says why the session cannot be shown; nil while it can.
func (t *Terminal) Err() error { return t.err }

// SetSize gives the pane its area in cells; Resized tells the session.
func (t *Terminal) SetSize(w, h int) {
	s := api.Size{Cols: max(w, 1), Rows: max(h, 1)}
	if s == t.size {
		return
	}
	t.size, t.sized, t.settled, t.Scroll.height = s, false, false, s.Rows
	t.Feed.setSize(s)
}

// SetHidden says whether the pane is out of sight, where its size does not count; Resized tells
// the session.
func (t *Terminal) SetHidden(hidden bool) {
	if hidden != t.hidden {
		t.hidden, t.settled = hidden, false
	}
}

// Resized tells the session the pane's size, which is zero out of sight, if it does not know
// it yet.
func (t *Terminal) Resized() {
	size := t.size
	if t.hidden {
		size = api.Size{}
	}
	if !t.Outbox.Connected() || t.told != nil && *t.told == size || t.ended != nil {
		return
	}
	t.told = &size
	t.Outbox.Send(api.Input{Resize: &size})
}

// SetDisplay says what the person's terminal is like; nil says that it is not known.
func (t *Terminal) SetDisplay(d *api.Display) {
	t.display = d
	t.Feed.setDisplay(d)
	t.tellDisplay()
}

// tellDisplay tells the session that, if it does not know.
func (t *Terminal) tellDisplay() {
	if now := t.display; now != nil && now != t.shown && t.Outbox.Tell(api.Input{Display: now}) {
		t.shown = now
	}
}

// Claim has this pane decide the session's size among all that show it, as if
// something was typed in it.
func (t *Terminal) Claim() { t.Outbox.Tell(api.Input{Bytes: []byte{}}) }

// Settle says that the session has had the time to take the pane's size; if it
// has another one now, that is shown.
func (t *Terminal) Settle() { t.settled = true }

// State is what is known of the session's screen.
func (t *Terminal) State() ScreenState { return t.Feed.Screen.State() }

// Focus tells the program that it has gained or lost the keyboard.
func (t *Terminal) Focus(on bool) {
	t.Outbox.Tell(api.Input{Focus: &on})
}

// WantsMouse reports whether a mouse event is the program's. With shift it is
// not, as terminals have it.
func (t *Terminal) WantsMouse(e keys.Mouse) bool {
	return t.State().Mouse != keys.MouseOff && !t.Scroll.active && t.ended == nil && e.Mods&keys.Shift == 0
}

// Mouse handles a mouse event at cells of this pane. What the program has not
// asked for scrolls, or, on the alternate screen, moves in the program's own
// text as cursor keys do. It reports whether the event meant something.
func (t *Terminal) Mouse(e keys.Mouse) bool {
	st := t.State()
	wheel := e.Button == keys.WheelUp || e.Button == keys.WheelDown
	if t.WantsMouse(e) {
		e.Y += st.above(t.size.Rows)
		return t.Outbox.Send(api.Input{Mouse: &e}) == nil
	}
	if !wheel || e.Kind != keys.MouseDown {
		return false
	}
	if st.Alt && t.ended == nil {
		t.wheelKeys(e.Button)
		return true
	}
	if e.Button == keys.WheelUp {
		t.Scroll.wheelBy(-wheelLines)
	} else {
		t.Scroll.wheelBy(wheelLines)
	}
	return true
}

const wheelLines = 3

// wheelKeys turns the wheel into cursor keys.
func (t *Terminal) wheelKeys(b keys.Button) {
	key := keys.Key{Code: keys.Down}
	if b == keys.WheelUp {
		key.Code = keys.Up
	}
	for range wheelLines {
		t.Outbox.Send(api.Input{Key: &key})
	}
}
