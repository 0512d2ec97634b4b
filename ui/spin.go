package ui

import (
	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/themes"
)

// A busySign turns while an overlay waits for something.
type busySign struct {
	spinner spinner.Model
	turning bool // a tick is on its way
}

// busy reports whether the overlay waits for something.
func (m *model) busy() bool {
	o, ok := m.overlay.(interface{ Busy() bool })
	return ok && o.Busy()
}

// pumpSpinner has the sign turn as soon as something is waited for.
func (m *model) pumpSpinner() tea.Cmd {
	s := &m.spinner
	if s.turning || !m.busy() {
		return nil
	}
	frames := spinner.MiniDot
	if m.look.Glyphs == themes.ASCIIGlyphs() {
		frames = spinner.Line
	}
	s.spinner, s.turning, m.dirty = spinner.New(spinner.WithSpinner(frames)), true, true
	return s.spinner.Tick
}

// turn shows the next frame of the sign, or ends it.
func (m *model) turn(msg spinner.TickMsg) (cmd tea.Cmd) {
	if m.spinner.turning = m.busy(); m.spinner.turning {
		m.spinner.spinner, cmd = m.spinner.spinner.Update(msg)
	}
	m.dirty = true
	return cmd
}

// Spinner is the sign beside what is waited for.
func (m *model) Spinner() string {
	if !m.spinner.turning {
		return ""
	}
	return m.spinner.spinner.View() + " "
}
