package themes

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Styles are the styles used for drawing. They are values and may be shared; build them only once.
type Styles struct {
	Text    lipgloss.Style
	Strong  lipgloss.Style
	Muted   lipgloss.Style
	Faint   lipgloss.Style
	Accent  lipgloss.Style
	Success lipgloss.Style
	Warning lipgloss.Style
	Danger  lipgloss.Style
	Info    lipgloss.Style

	Border     lipgloss.Style
	TitleFocus lipgloss.Style // of the focused pane

	Selection     lipgloss.Style // selected row of the focused list
	SelectionIdle lipgloss.Style // selected row of another list
	Match         lipgloss.Style // the part of a row matched by a filter

	Bar        lipgloss.Style // background and text of the bars
	BarActive  lipgloss.Style // the current view
	BarMuted   lipgloss.Style
	BarChip    lipgloss.Style // an emphasized item in the status bar
	BarKey     lipgloss.Style // a key in the status bar
	BarSuccess lipgloss.Style
	BarWarning lipgloss.Style
	BarDanger  lipgloss.Style

	Dimmed lipgloss.Style // everything behind a dialog

	HelpKey lipgloss.Style // a key in help
}

// Styles builds the styles for a colour profile. With 16 colours or none, no background colour is
// distinguishable: the bars have none, and reverse video marks only the current view, the selected
// row and chips.
func (t Theme) Styles(profile colorprofile.Profile) Styles {
	b := styleBuilder{t.palette(profile), t.Own || profile <= colorprofile.ANSI}
	p := b.palette
	return Styles{
		Text: b.foreground(p.Text), Strong: b.foreground(p.Text).Bold(true), Muted: b.foreground(p.Muted), Faint: b.foreground(p.Faint),
		Accent: b.foreground(p.Accent), Success: b.foreground(p.Success), Warning: b.foreground(p.Warning),
		Danger: b.foreground(p.Danger), Info: b.foreground(p.Info),

		Border: b.foreground(p.Border), TitleFocus: b.foreground(p.Accent).Bold(true),

		Selection:     b.onBackground(p.SelectionText, p.Selection).Bold(b.plain),
		SelectionIdle: b.foreground(p.Text).Bold(true),
		Match:         b.foreground(p.Accent).Underline(true),

		Bar: b.barStyle(p.BarText, p.Text), BarActive: b.onBackground(p.Accent, p.Bar).Bold(true),
		BarMuted: b.barStyle(p.BarMuted, p.Muted), BarKey: b.barStyle(p.Accent, p.Accent).Bold(true),
		BarChip:    b.onBackground(p.Bar, p.Accent).Bold(true),
		BarSuccess: b.barStyle(p.Success, p.Success), BarWarning: b.barStyle(p.Warning, p.Warning), BarDanger: b.barStyle(p.Danger, p.Danger).Bold(b.plain),

		Dimmed: b.dimStyle(), HelpKey: b.foreground(p.Accent).Bold(true),
	}
}

type styleBuilder struct {
	palette Palette
	plain   bool // use reverse video instead of backgrounds
}

func (b styleBuilder) foreground(c color.Color) lipgloss.Style {
	// The terminal's default colour cannot be blended, only drawn faint.
	if _, dim := c.(dimColor); dim {
		return lipgloss.NewStyle().Faint(true)
	}
	return lipgloss.NewStyle().Foreground(c)
}

// dimStyle returns a colour between borders and faint text. The 16 colours of a terminal have no
// reliable colour in between.
func (b styleBuilder) dimStyle() lipgloss.Style {
	if b.plain {
		return lipgloss.NewStyle().Faint(true)
	}
	// The middle one of three steps is halfway between the two colours.
	return b.foreground(lipgloss.Blend1D(3, b.palette.Border, b.palette.Faint)[1])
}

// barStyle returns the style of text on a bar in the colour fg. If bars have no background, the
// text gets the colour plain.
func (b styleBuilder) barStyle(fg, plain color.Color) lipgloss.Style {
	if b.plain {
		return b.foreground(plain)
	}
	return b.onBackground(fg, b.palette.Bar)
}

func (b styleBuilder) onBackground(fg, background color.Color) lipgloss.Style {
	// Reverse video needs no colours.
	if b.plain {
		return lipgloss.NewStyle().Reverse(true)
	}
	return lipgloss.NewStyle().Foreground(fg).Background(background)
}
