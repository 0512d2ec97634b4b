package attach

import (
	"fmt"

	"tandem/engine/api"
	"tandem/keys"
)

// A terminal that was handed over tells the run of the mouse and of the keyboard's
// coming and going, whatever the program has asked for: the wheel and the left button are the caller's where they are not
// the program's. So the modes that programs set stop at the filter, and what
// they are to be told goes to the engine, which encodes it for them.

// isPointing says whether a private mode is about that.
func isPointing(mode int) bool {
	switch mode {
	case 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016:
		return true
	}
	return false
}

// point notes a mode that the program sets or resets.
func (f *filter) point(mode int, set bool) {
	switch mode {
	case 9, 1000, 1002, 1003:
		f.tracks = 0
		if set {
			f.tracks = mode
		}
	}
}

// noPointer is what the terminal is taken to track of the mouse while that is
// not known.
const noPointer = -1

// pointer is what makes the terminal tell as much of the mouse as the program
// wants, and the buttons in any case; nothing if it does.
func (f *filter) pointer() []byte {
	if !f.points || f.told == f.tracks {
		return nil
	}
	f.told = f.tracks
	return fmt.Appendf(nil, "\x1b[?1003l\x1b[?1002l\x1b[?%dh\x1b[?1006h\x1b[?1004h", max(f.tracks, 1000))
}

// wheelKeys is how many cursor keys a turn of the wheel is.
const wheelKeys = 3

// pointed handles an event of the mouse. The program gets what it has asked for,
// and on its alternate screen the wheel as cursor keys; with what remains the
// caller scrolls and selects.
func (in *input) pointed(e keys.Event) {
	l, m := in.run.link, e.Mouse
	down := m.Kind == keys.MouseDown
	arrow := map[keys.Button]keys.Code{keys.WheelUp: keys.Up, keys.WheelDown: keys.Down}[m.Button]
	switch {
	case l.points.Load() && m.Mods&keys.Shift == 0:
		in.swallow(e)
		l.tell(api.Input{Mouse: &m})
	case down && arrow != 0 && l.alt.Load():
		in.swallow(e)
		for range wheelKeys {
			l.tell(api.Input{Key: &keys.Key{Code: arrow}})
		}
	case down && (m.Button == keys.WheelUp || m.Button == keys.ButtonLeft):
		in.handBack(e)
	default:
		in.swallow(e)
	}
}

// focused handles the terminal's keyboard going to another window, which the caller
// has to know, or coming back.
func (in *input) focused(e keys.Event) {
	if e.Kind == keys.EventFocusOut {
		in.handBack(e)
		return
	}
	on := true
	in.swallow(e)
	in.run.link.tell(api.Input{Focus: &on})
}

// handBack ends the run before an event, which is the caller's.
func (in *input) handBack(e keys.Event) {
	in.passUpTo(e.Start)
	in.over, in.end = true, e.Start
	in.run.link.stop(Outcome{Reason: HandedBack})
}
