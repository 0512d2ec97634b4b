package ui

import (
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes"
	"tandem/themes"
)

// setDark takes the theme that goes with the terminal's background, unless the
// person named one.
func (m *model) setDark(dark bool) {
	if m.dark == dark {
		return
	}
	m.dark = dark
	m.dress()
}

// dress makes the look anew.
func (m *model) dress() {
	theme := themes.ForBackground(m.dark)
	if named, err := themes.ByName(m.o.Theme); err == nil {
		theme = named
	}
	m.look = panes.NewLook(theme.Styles(m.profile), themes.GlyphsFor(os.Environ()))
	m.dirty = true
}

func (m *model) setProfile(p colorprofile.Profile) {
	if m.profile != p {
		m.profile = p
		m.dress()
	}
}

// noteMode learns whether the terminal counts clusters as one: Bubble Tea then
// switches that on, and measures accordingly.
func (m *model) noteMode(msg tea.ModeReportMsg) {
	if msg.Mode != ansi.ModeUnicodeCore {
		return
	}
	switch msg.Value {
	case ansi.ModeReset, ansi.ModeSet, ansi.ModePermanentlySet:
		m.widths = panes.PerCluster
		m.dirty = true
	}
}
