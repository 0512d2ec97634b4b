package ui

import (
	"slices"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/themes"
)

// An openDialog holds the open overlay, if any, and its progress indicator.
type openDialog struct {
	m     *model
	open  dialog.Overlay
	at    look.Rect      // of the overlay drawn last
	seen  dialog.Overlay // overlay drawn last
	press overlayPress
	busy  busySpinner
}

// A busySpinner turns while an overlay waits.
type busySpinner struct {
	spinner spinner.Model
	turning bool // a tick is scheduled
}

// isBusy reports whether the overlay waits for a result.
func (d *openDialog) isBusy() bool {
	return d.open != nil && d.open.Traits().Busy
}

// startSpinner starts the spinner if the overlay waits.
func (d *openDialog) startSpinner() tea.Cmd {
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
func (d *openDialog) advanceSpinner(msg spinner.TickMsg) (cmd tea.Cmd) {
	if d.busy.turning = d.isBusy(); d.busy.turning {
		d.busy.spinner, cmd = d.busy.spinner.Update(msg)
	}
	return cmd
}

// spinnerText returns the current frame and a space; empty if the spinner stands still.
func (d *openDialog) spinnerText() string {
	if !d.busy.turning {
		return ""
	}
	return d.busy.spinner.View() + " "
}

func (m *model) showHelp() tea.Cmd {
	scopes := m.input.activeScopes()
	under := m.dialog.open
	if p := m.sessions.focusedPane(); p != nil && !p.Scroll.Active() && under == nil {
		scopes = append([]keymap.Scope{keymap.ScopePrefix}, scopes...)
	}
	sections := m.o.Bindings.Help(scopes...)
	if !m.showsTips() {
		for i := range sections {
			sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.HelpRow) bool { return r.Action == keymap.TipsHide })
		}
	}
	m.dialog.open = &dialog.Help{Sections: sections, Prefix: m.o.Bindings.PrefixKeys()[0].Show(), Closed: func() { m.dialog.open = under }}
	return nil
}

// runAnswer runs the handler of an overlay's answer, unless another overlay is open by
// now.
func (d *openDialog) runAnswer(a dialog.Answer) tea.Cmd {
	if d.open != a.Of {
		return nil
	}
	return a.Do()
}
