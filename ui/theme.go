package ui

import (
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/themes"
	"tandem/ui/screen"
)

// themeState derives the dashboard's look from the settings, the terminal's background and
// the theme being tried.
type themeState struct {
	o          *Options
	say        func(text string, bad bool) tea.Cmd
	ask        func(dialog.Overlay)
	look       look.Look
	background *screen.Background // to paint; nil leaves the terminal's own
	dark       bool
	reported   bool     // the terminal has reported whether it is dark
	silent     bool     // it answered later queries, but not the one for its background
	picked     string   // for this run, or being tried; empty selects that of the settings
	saving     []string // themes written to the configuration but not read back yet
	profile    colorprofile.Profile
}

// setDark selects the theme for the terminal's background, unless the user named one.
func (t *themeState) setDark(dark bool) {
	if t.reported && t.dark == dark {
		return
	}
	t.reported, t.dark = true, dark
	t.rebuildLook()
}

// setSilent records that the terminal does not report its background, and selects the neutral
// theme unless the user chose a theme or a painted background.
func (t *themeState) setSilent() {
	if !t.reported && !t.silent {
		t.silent = true
		t.rebuildLook()
	}
}

// rebuildLook computes the styles after a change of the theme, the background or the
// colour profile.
func (t *themeState) rebuildLook() {
	wanted := t.o.Dashboard
	if t.picked != "" {
		wanted.Theme = t.picked
	}
	theme, err := themes.ByName(wanted.ThemeFor(t.dark), t.dark)
	if err != nil {
		theme = themes.ForBackground(t.dark)
	}
	if t.reported {
		theme = theme.On(t.dark)
	}
	t.background = t.backgroundFor(theme)
	if t.silent && !t.reported && t.background == nil && wanted.Theme == "auto" {
		theme = themes.Neutral()
	}
	t.look = look.NewLook(theme.Styles(t.profile), themes.GlyphsFor(os.Environ()))
	t.look.Heavy = t.profile <= colorprofile.Ascii
}

// backgroundFor returns the background to paint for a theme; nil for none. It is painted
// if the user wants it, or if the theme would be unreadable on the terminal's own.
func (t *themeState) backgroundFor(theme themes.Theme) *screen.Background {
	wanted := t.o.Background || t.reported && theme.Dark != t.dark
	back := theme.BackgroundFor(t.profile)
	if !wanted || back == nil {
		return nil
	}
	return &screen.Background{Text: theme.Palette.Text, Back: back, ANSI: theme.ANSI}
}

// countColors returns the number of colours of the terminal.
func (t *themeState) countColors() int {
	switch t.profile {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	}
	return 0
}

func (t *themeState) setProfile(p colorprofile.Profile) {
	if t.profile != p {
		t.profile = p
		t.rebuildLook()
	}
}
