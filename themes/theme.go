package themes

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// A Palette assigns colours to purposes.
type Palette struct {
	Text    color.Color // main text
	Muted   color.Color // secondary text: paths, ages, hints
	Faint   color.Color // least important: rules, placeholders
	Accent  color.Color // focus: active view, keys, matches
	Border  color.Color
	Success color.Color
	Warning color.Color
	Danger  color.Color
	Info    color.Color

	Selection     color.Color // background of the selected row
	SelectionText color.Color
	Bar           color.Color // background of the top and status bars
	BarText       color.Color
	BarMuted      color.Color
}

// A Theme is a palette with a name.
type Theme struct {
	Name       string
	Dark       bool
	Own        bool        // uses only the terminal's own 16 colours
	Background color.Color // background the theme is designed for
	Palette    Palette
	Basic      Palette         // for terminals with 16 colours
	Greys      Greys           // backgrounds and borders for terminals with 256 colours
	ANSI       [16]color.Color // the 16 colours of a terminal, for images of it
}

// terminalName is the name of the theme with the terminal's own colours.
const terminalName = "terminal"

// Names returns the names of all themes.
func Names() []string {
	var names []string
	for _, theme := range allThemes() {
		names = append(names, theme.Name)
	}
	return append(names, terminalName)
}

// ByName returns the theme with a name, for a dark or a light background.
func ByName(name string, dark bool) (Theme, error) {
	if name == terminalName {
		return terminalTheme(dark), nil
	}
	for _, theme := range allThemes() {
		if theme.Name == name {
			return theme, nil
		}
	}
	return Theme{}, fmt.Errorf("unknown theme %q; must be one of %s", name, strings.Join(Names(), ", "))
}

// ForBackground returns the default theme for a dark or a light background.
func ForBackground(dark bool) Theme {
	if dark {
		return allThemes()[0]
	}
	return allThemes()[1]
}

// Greys are the quietest colours of a palette for terminals with 256 colours: the colours there
// nearest to tinted greys are too saturated.
type Greys struct{ Background, Bar, Selection, Border color.Color }

// On returns the theme for a terminal with a dark or light background of its own. Of the 16 basic
// colours, only some are legible there.
func (t Theme) On(dark bool) Theme {
	t.Basic = ForBackground(dark).Basic
	return t
}

// BackgroundFor returns the background to paint with a colour profile; nil if the theme has none or the
// terminal cannot show it.
func (t Theme) BackgroundFor(p colorprofile.Profile) color.Color {
	switch {
	case t.Background == nil || p <= colorprofile.ANSI:
		return nil
	case p == colorprofile.ANSI256:
		return t.Greys.Background
	}
	return t.Background
}

// palette returns the palette for a colour profile.
func (t Theme) palette(p colorprofile.Profile) Palette {
	palette := t.Palette
	switch {
	case t.Own || p == colorprofile.ANSI:
		return t.Basic
	case p == colorprofile.ANSI256:
		palette.Bar, palette.Selection, palette.Border = t.Greys.Bar, t.Greys.Selection, t.Greys.Border
	}
	return palette
}

// newTheme returns a theme; ansi are the 16 colours of a terminal.
func newTheme(name string, dark bool, background color.Color, palette Palette, ansi ...string) Theme {
	c := lipgloss.Color
	t := Theme{
		Name: name, Dark: dark, Background: background, Palette: palette,
		Greys: Greys{Background: c("231"), Bar: c("254"), Selection: c("252"), Border: c("249")},
		Basic: basicPalette(lipgloss.Black, lipgloss.Black, lipgloss.Black, lipgloss.Blue, lipgloss.Green,
			lipgloss.Magenta, lipgloss.Red),
	}
	if dark {
		t.Greys = Greys{Background: c("233"), Bar: c("235"), Selection: c("238"), Border: c("240")}
		t.Basic = basicPalette(lipgloss.BrightWhite, lipgloss.White, lipgloss.White, lipgloss.BrightCyan, lipgloss.BrightGreen,
			lipgloss.BrightYellow, lipgloss.BrightRed)
	}
	for i, hex := range ansi {
		t.ANSI[i] = c(hex)
	}
	return t
}

// terminalTheme returns the theme with the colours configured in the user's terminal.
func terminalTheme(dark bool) Theme {
	t := ForBackground(dark)
	// No background: the terminal's own stays.
	t.Name, t.Own, t.Background = terminalName, true, nil
	return t
}

// Neutral returns the theme for a terminal with an unknown background: the terminal's own text
// colour, dimmed for muted text, and those of the 16 colours that are legible on dark and light.
func Neutral() Theme {
	t := terminalTheme(true)
	own := lipgloss.NoColor{}
	t.Basic = basicPalette(own, dimColor{}, dimColor{}, own, lipgloss.Green, lipgloss.Magenta, lipgloss.Red)
	return t
}

// A dimColor is the terminal's own text colour, dimmed.
type dimColor struct{ lipgloss.NoColor }

// basicPalette returns a palette of the terminal's own 16 colours. Bars and the selection have no
// colours, as they use reverse video.
func basicPalette(text, muted, faint, accent, success, warning, danger color.Color) Palette {
	return Palette{
		Text: text, Muted: muted, Faint: faint, Accent: accent,
		Border: faint, Success: success, Warning: warning, Danger: danger, Info: accent,
	}
}
