package ui

import (
	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// A dialog holds the open overlay, if any, and its progress indicator.
type dialog struct {
	m     *model
	open  overlay.Overlay
	at    widget.Rect     // of the overlay drawn last
	seen  overlay.Overlay // overlay drawn last
	press overlayPress
	busy  busySpinner
}

// A busySpinner turns while an overlay waits.
type busySpinner struct {
	spinner spinner.Model
	turning bool // a tick is scheduled
}

// isBusy reports whether the overlay waits for a result.
func (d *dialog) isBusy() bool {
	o, ok := d.open.(interface{ Busy() bool })
	return ok && o.Busy()
}

// startSpinner starts the spinner if the overlay waits.
func (d *dialog) startSpinner() tea.Cmd {
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

// advanceSpinner shows the next frame, or stops the spinner.
func (d *dialog) advanceSpinner(msg spinner.TickMsg) (cmd tea.Cmd) {
	if d.busy.turning = d.isBusy(); d.busy.turning {
		d.busy.spinner, cmd = d.busy.spinner.Update(msg)
	}
	return cmd
}

// spinnerText returns the current frame and a space; empty if the spinner stands still.
func (d *dialog) spinnerText() string {
	if !d.busy.turning {
		return ""
	}
	return d.busy.spinner.View() + " "
}
