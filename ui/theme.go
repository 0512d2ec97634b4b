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
	theme, err := themes.ByName(m.o.themeFor(m.dark), m.dark)
	if err != nil {
		theme = themes.ForBackground(m.dark)
	}
	m.look = panes.NewLook(theme.Styles(m.profile), themes.GlyphsFor(os.Environ()))
	m.dirty = true
}

// themeFor is the name of the theme on a dark or light background.
func (o Options) themeFor(dark bool) string {
	switch {
	case o.Theme != "" && o.Theme != "auto":
		return o.Theme
	case dark:
		return o.ThemeDark
	}
	return o.ThemeLight
}

func (m *model) setProfile(p colorprofile.Profile) {
	if m.profile != p {
		m.profile = p
		m.dress()
	}
}

// noteMode learns what the terminal can do: count clusters as one, which is
// then switched on, and hold its screen back while a frame is written.
func (m *model) noteMode(msg tea.ModeReportMsg) {
	known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
	if !known || m.terminal == nil {
		return
	}
	switch msg.Mode {
	case ansi.ModeUnicodeCore:
		m.widths = panes.PerCluster
		m.dirty = true
		m.terminal.painter.update(func(f *frame) { f.clusters = true })
	case ansi.ModeSynchronizedOutput:
		m.terminal.painter.update(func(f *frame) { f.sync = true })
	}
}
