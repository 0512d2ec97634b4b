package ui

import (
	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// A dialog is the overlay that is open, if one is, and what it shows of waiting.
type dialog struct {
	m     *model
	open  overlay.Overlay
	at    widget.Rect     // where one was drawn last
	seen  overlay.Overlay // the one that was
	press overlayPress
	busy  busySign
}

// A busySign turns while an overlay waits for something.
type busySign struct {
	spinner spinner.Model
	turning bool // a tick is on its way
}

// isBusy reports whether the overlay waits for something.
func (d *dialog) isBusy() bool {
	o, ok := d.open.(interface{ Busy() bool })
	return ok && o.Busy()
}

// pump has the sign turn as soon as something is waited for.
func (d *dialog) pump() tea.Cmd {
	s := &d.busy
	if s.turning || !d.isBusy() {
		return nil
	}
	frames := spinner.MiniDot
	if d.m.theme.look.Glyphs == themes.ASCIIGlyphs() {
		frames = spinner.Line
	}
	s.spinner, s.turning = spinner.New(spinner.WithSpinner(frames)), true
	return s.spinner.Tick
}

// turn shows the next frame of the sign, or ends it.
func (d *dialog) turn(msg spinner.TickMsg) (cmd tea.Cmd) {
	if d.busy.turning = d.isBusy(); d.busy.turning {
		d.busy.spinner, cmd = d.busy.spinner.Update(msg)
	}
	return cmd
}

// sign is the sign beside what is waited for.
func (d *dialog) sign() string {
	if !d.busy.turning {
		return ""
	}
	return d.busy.spinner.View() + " "
}
