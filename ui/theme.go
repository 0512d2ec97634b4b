package ui

import (
	"os"

	"github.com/charmbracelet/colorprofile"

	"tandem/panes/widget"
	"tandem/themes"
)

// theming is how the dashboard looks: in the theme of the settings, or of this run.
type theming struct {
	m       *model
	look    widget.Look
	dark    bool
	told    bool     // the terminal has told whether it is dark
	picked  string   // for this run, or being tried; "" is the theme of the settings
	kept    []string // chosen for good here, and not read from the configuration yet
	profile colorprofile.Profile
}

// setDark takes the theme that goes with the terminal's background, unless the
// person named one.
func (t *theming) setDark(dark bool) {
	t.told = true
	if t.dark == dark {
		return
	}
	t.dark = dark
	t.apply()
}

// apply rebuilds the look.
func (t *theming) apply() {
	settings := t.m.o.Settings
	if t.picked != "" {
		settings.Theme = t.picked
	}
	theme, err := themes.ByName(settings.ThemeFor(t.dark), t.dark)
	if err != nil {
		theme = themes.ForBackground(t.dark)
	}
	t.look = widget.NewLook(theme.Styles(t.profile), themes.GlyphsFor(os.Environ()))
	t.look.Heavy = t.profile <= colorprofile.Ascii
}

// ThemeFor is the name of the theme on a dark or light background.
func (s Settings) ThemeFor(dark bool) string {
	switch {
	case s.Theme != "" && s.Theme != "auto":
		return s.Theme
	case dark:
		return s.ThemeDark
	}
	return s.ThemeLight
}

func (t *theming) setProfile(p colorprofile.Profile) {
	if t.profile != p {
		t.profile = p
		t.apply()
	}
}
