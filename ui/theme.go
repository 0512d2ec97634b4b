package ui

import (
	"os"

	"github.com/charmbracelet/colorprofile"

	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/screen"
)

// theming is how the dashboard looks: in the theme of the settings, or of this run.
type theming struct {
	m       *model
	look    widget.Look
	ground  *screen.Ground // that is painted; nil is the terminal's own
	dark    bool
	told    bool     // the terminal has told whether it is dark
	silent  bool     // it answered later queries, but not the one for its background
	picked  string   // for this run, or being tried; "" is the theme of the settings
	kept    []string // chosen for good here, and not read from the configuration yet
	profile colorprofile.Profile
}

// setDark takes the theme that goes with the terminal's background, unless the
// person named one.
func (t *theming) setDark(dark bool) {
	if t.told && t.dark == dark {
		return
	}
	t.told, t.dark = true, dark
	t.apply()
}

// setSilent records that the terminal does not report its background, and selects the neutral
// theme unless the user chose a theme or a painted background.
func (t *theming) setSilent() {
	if !t.told && !t.silent {
		t.silent = true
		t.apply()
	}
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
	if t.told {
		theme = theme.On(t.dark)
	}
	t.ground = t.groundOf(theme)
	if t.silent && !t.told && t.ground == nil && (settings.Theme == "" || settings.Theme == "auto") {
		theme = themes.Neutral()
	}
	t.look = widget.NewLook(theme.Styles(t.profile), themes.GlyphsFor(os.Environ()))
	t.look.Heavy = t.profile <= colorprofile.Ascii
}

// groundOf is what a theme paints behind everything: its own ground, if the person
// wants that, or the terminal's is of the other kind, on which it could not be read.
func (t *theming) groundOf(theme themes.Theme) *screen.Ground {
	wanted := t.m.o.Background || t.told && theme.Dark != t.dark
	back := theme.Back(t.profile)
	if !wanted || back == nil {
		return nil
	}
	return &screen.Ground{Text: theme.Palette.Text, Back: back, ANSI: theme.ANSI}
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
