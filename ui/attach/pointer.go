package attach

import (
	"tandem/engine/api"
	"tandem/keys"
)

// A terminal handed over by the dashboard reports mouse and focus events to the run,
// whatever the program requested: the dashboard wants the wheel and the left button if the
// program does not. The filter therefore drops the modes programs set, and the run passes
// wanted events to the engine, which encodes them for the program.

// wheelKeys is the number of cursor keys per step of the wheel.
const wheelKeys = 3

// handleMouse routes a mouse event. The program receives it if it requested the mouse, and
// the wheel as cursor keys on its alternate screen. The wheel up and the left button
// otherwise end the run: the caller scrolls and selects.
func (in *input) handleMouse(e keys.Event) {
	l, m := in.run.link, e.Mouse
	down := m.Kind == keys.MouseDown
	arrow := map[keys.Button]keys.Code{keys.WheelUp: keys.Up, keys.WheelDown: keys.Down}[m.Button]
	switch {
	case l.wantsMouse.Load() && m.Mods&keys.Shift == 0:
		in.consumeEvent(e)
		l.sendEvent(api.Input{Mouse: &m})
	case down && arrow != 0 && l.alt.Load():
		in.consumeEvent(e)
		for range wheelKeys {
			l.sendEvent(api.Input{Key: &keys.Key{Code: arrow}})
		}
	case down && (m.Button == keys.WheelUp || m.Button == keys.ButtonLeft):
		in.handBackAt(e)
	default:
		in.consumeEvent(e)
	}
}

// handleFocus handles a focus event. When focus is lost, a caller that handed over its terminal
// gets it back. When focus returns, the terminal's colours are queried again, because they may
// have changed.
func (in *input) handleFocus(e keys.Event) {
	on := e.Kind == keys.EventFocusIn
	if !on && in.run.decodesMouse() {
		in.handBackAt(e)
		return
	}
	in.consumeEvent(e)
	if !in.run.ReadOnly {
		in.run.link.sendEvent(api.Input{Focus: &on})
	}
	if on && !in.run.known.reportsChanges() {
		in.run.askColors()
	}
}

// handBackAt ends the run before an event, which is for the caller.
func (in *input) handBackAt(e keys.Event) {
	in.sendUpTo(e.Start)
	in.stopped, in.stopAt = true, e.Start
	in.run.link.stopRun(Outcome{Reason: HandedBack})
}
