package ui

import (
	"os"

	"github.com/charmbracelet/colorprofile"

	"tandem/panes/widget"
	"tandem/themes"
)

// setDark takes the theme that goes with the terminal's background, unless the
// person named one.
func (m *model) setDark(dark bool) {
	m.groundTold = true
	if m.dark == dark {
		return
	}
	m.dark = dark
	m.dress()
}

// dress makes the look anew.
func (m *model) dress() {
	settings := m.o.Settings
	if m.themePicked != "" {
		settings.Theme = m.themePicked
	}
	theme, err := themes.ByName(settings.themeFor(m.dark), m.dark)
	if err != nil {
		theme = themes.ForBackground(m.dark)
	}
	m.look = widget.NewLook(theme.Styles(m.profile), themes.GlyphsFor(os.Environ()))
	m.dirty = true
}

// themeFor is the name of the theme on a dark or light background.
func (s Settings) themeFor(dark bool) string {
	switch {
	case s.Theme != "" && s.Theme != "auto":
		return s.Theme
	case dark:
		return s.ThemeDark
	}
	return s.ThemeLight
}

func (m *model) setProfile(p colorprofile.Profile) {
	if m.profile != p {
		m.profile = p
		m.dress()
	}
}
