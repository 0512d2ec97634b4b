package themes

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// A Palette is colours by what they are for.
type Palette struct {
	Text        color.Color // what is read
	Muted       color.Color // what is read second: paths, ages, hints
	Faint       color.Color // what is only there: rules, placeholders
	Accent      color.Color // where the person is: active view, keys, matches
	Border      color.Color
	BorderFocus color.Color
	Success     color.Color
	Warning     color.Color
	Danger      color.Color
	Info        color.Color

	Selection     color.Color // ground of the selected row
	SelectionText color.Color
	Bar           color.Color // ground of the top and status bars
	BarText       color.Color
	BarMuted      color.Color
}

// A Theme is a palette with a name.
type Theme struct {
	Name    string
	Dark    bool
	Own     bool        // it uses the terminal's own 16 colours and nothing else
	Ground  color.Color // the background it is made for
	Palette Palette
	Basic   Palette         // for terminals of 16 colours
	Greys   Greys           // grounds and borders on terminals of 256 colours
	ANSI    [16]color.Color // the 16 colours of a terminal, for pictures of it
}

// named lists the themes in the order in which they are offered.
func named() []func() Theme {
	return []func() Theme{
		Dark, Light, catppuccinMocha, catppuccinLatte, gruvboxDark, gruvboxLight,
		tokyoNight, nord, dracula, solarizedDark, solarizedLight,
	}
}

// terminalName is the theme of the terminal's own colours.
const terminalName = "terminal"

// Names lists the themes by name.
func Names() []string {
	var names []string
	for _, theme := range named() {
		names = append(names, theme().Name)
	}
	return append(names, terminalName)
}

// ByName finds a theme, for a terminal whose background is dark or light.
func ByName(name string, dark bool) (Theme, error) {
	if name == terminalName {
		return terminal(dark), nil
	}
	for _, theme := range named() {
		if t := theme(); t.Name == name {
			return t, nil
		}
	}
	return Theme{}, fmt.Errorf("unknown theme %q; must be one of %s", name, strings.Join(Names(), ", "))
}

// ForBackground is the theme for a terminal whose background is dark or light.
func ForBackground(dark bool) Theme {
	if dark {
		return Dark()
	}
	return Light()
}

// Greys are the palette's quietest colours out of the 256 of a terminal: the
// nearest ones to tinted greys there are saturated.
type Greys struct{ Ground, Bar, Selection, Border color.Color }

// On is the theme on a terminal whose own background is dark or light: of its 16
// colours, only those suit that can be read there.
func (t Theme) On(dark bool) Theme {
	t.Basic = ForBackground(dark).Basic
	return t
}

// Back is the background to paint on a terminal of this profile; nil if the theme has
// none or the terminal could not show it.
func (t Theme) Back(p colorprofile.Profile) color.Color {
	switch {
	case t.Ground == nil || p <= colorprofile.ANSI:
		return nil
	case p == colorprofile.ANSI256:
		return t.Greys.Ground
	}
	return t.Ground
}

// palette picks the colours that a terminal of this profile can tell apart.
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

// Dark is calm on black and on the dark greys that terminals use.
func Dark() Theme {
	c := lipgloss.Color
	return newTheme("dark", true, c("#16181d"), Palette{
		Text: c("#dde1e8"), Muted: c("#a9b0bd"), Faint: c("#969daa"), Accent: c("#7cc4ff"),
		Border: c("#4a5160"), BorderFocus: c("#7cc4ff"),
		Success: c("#8fd694"), Warning: c("#f0c674"), Danger: c("#ff9b93"), Info: c("#8fd3e0"),
		Selection: c("#2f4256"), SelectionText: c("#ffffff"),
		Bar: c("#262b34"), BarText: c("#dde1e8"), BarMuted: c("#a9b0bd"),
	}, "#1e2127", "#ff7b72", "#8fd694", "#f0c674", "#7cc4ff", "#d8a6ff", "#8fd3e0", "#dde1e8",
		"#6b7280", "#ffa198", "#b5e8b8", "#ffe08a", "#a6d8ff", "#e8c8ff", "#b6e6ef", "#ffffff")
}

// Light is calm on white and on paper.
func Light() Theme {
	c := lipgloss.Color
	return newTheme("light", false, c("#ffffff"), Palette{
		Text: c("#1f2430"), Muted: c("#4b5362"), Faint: c("#5c6472"), Accent: c("#0b57a4"),
		Border: c("#b5bbc6"), BorderFocus: c("#0b57a4"),
		Success: c("#1a6b2c"), Warning: c("#7a4f00"), Danger: c("#b0221b"), Info: c("#0a6173"),
		Selection: c("#d3e5f8"), SelectionText: c("#10151f"),
		Bar: c("#e6e9ef"), BarText: c("#1f2430"), BarMuted: c("#4b5362"),
	}, "#1f2430", "#b0221b", "#1a6b2c", "#7a4f00", "#0b57a4", "#7b2fa0", "#0a6173", "#c9ced8",
		"#5c6472", "#d1372e", "#2a8540", "#976300", "#2673c4", "#9a4bc0", "#167c92", "#ffffff")
}

// newTheme is a theme with the 16 colours of a terminal in ansi.
func newTheme(name string, dark bool, ground color.Color, palette Palette, ansi ...string) Theme {
	t := Theme{Name: name, Dark: dark, Ground: ground, Palette: palette, Greys: lightGreys(), Basic: lightBasic()}
	if dark {
		t.Greys, t.Basic = darkGreys(), darkBasic()
	}
	for i, hex := range ansi {
		t.ANSI[i] = lipgloss.Color(hex)
	}
	return t
}

// terminal uses the colours that the person has given their terminal.
func terminal(dark bool) Theme {
	t := ForBackground(dark)
	t.Name, t.Own, t.Ground = terminalName, true, nil
	return t
}

// Neutral returns the theme for a terminal with an unknown background: the terminal's own text
// colour, dimmed for muted text, and the 16-colour entries legible on dark and light.
func Neutral() Theme {
	t := terminal(true)
	own := lipgloss.NoColor{}
	t.Basic = basic(own, dimColor{}, dimColor{}, own, lipgloss.Green, lipgloss.Magenta, lipgloss.Red)
	return t
}

// A dimColor is the terminal's own text colour, dimmed.
type dimColor struct{ lipgloss.NoColor }

func darkGreys() Greys {
	c := lipgloss.Color
	return Greys{Ground: c("233"), Bar: c("235"), Selection: c("238"), Border: c("240")}
}

func lightGreys() Greys {
	c := lipgloss.Color
	return Greys{Ground: c("231"), Bar: c("254"), Selection: c("252"), Border: c("249")}
}

func darkBasic() Palette {
	return basic(lipgloss.BrightWhite, lipgloss.White, lipgloss.White, lipgloss.BrightCyan, lipgloss.BrightGreen,
		lipgloss.BrightYellow, lipgloss.BrightRed)
}

func lightBasic() Palette {
	return basic(lipgloss.Black, lipgloss.Black, lipgloss.Black, lipgloss.Blue, lipgloss.Green,
		lipgloss.Magenta, lipgloss.Red)
}

// basic is a palette of the terminal's own 16 colours. The bars and the
// selection are told by reverse video there.
func basic(text, muted, faint, accent, success, warning, danger color.Color) Palette {
	return Palette{
		Text: text, Muted: muted, Faint: faint, Accent: accent,
		Border: faint, BorderFocus: accent,
		Success: success, Warning: warning, Danger: danger, Info: accent,
	}
}
