package attach

import (
	"tandem/engine/api"
	"tandem/keys"
)

// A terminal that was handed over tells the run of the mouse and of the keyboard's
// coming and going, whatever the program has asked for: the wheel and the left button are the caller's where they are not
// the program's. So the modes that programs set stop at the filter, and what
// they are to be told goes to the engine, which encodes it for them.

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

// focused handles the terminal's keyboard going to another window, which a caller that the
// terminal was handed over by has to know, or coming back: the terminal may have other
// colours then.
func (in *input) focused(e keys.Event) {
	on := e.Kind == keys.EventFocusIn
	if !on && in.run.points() {
		in.handBack(e)
		return
	}
	in.swallow(e)
	if !in.run.ReadOnly {
		in.run.link.tell(api.Input{Focus: &on})
	}
	if on && !in.run.told.tells() {
		in.run.askColors()
	}
}

// handBack ends the run before an event, which is the caller's.
func (in *input) handBack(e keys.Event) {
	in.passUpTo(e.Start)
	in.over, in.end = true, e.Start
	in.run.link.stop(Outcome{Reason: HandedBack})
}
