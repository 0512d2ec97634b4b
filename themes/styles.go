package themes

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Styles are what the dashboard draws with. Build them once; they are values
// and may be shared.
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

	Border      lipgloss.Style
	BorderFocus lipgloss.Style
	Title       lipgloss.Style // of a pane
	TitleFocus  lipgloss.Style // of the pane with the focus

	Selection     lipgloss.Style // selected row of the list with the focus
	SelectionIdle lipgloss.Style // selected row of another list
	Match         lipgloss.Style // the part of a row that a filter matched

	Bar        lipgloss.Style // the bars' ground and text
	BarActive  lipgloss.Style // the view that is shown
	BarMuted   lipgloss.Style
	BarChip    lipgloss.Style // what stands out in the status bar
	BarKey     lipgloss.Style // a key in the status bar
	BarSuccess lipgloss.Style
	BarWarning lipgloss.Style
	BarDanger  lipgloss.Style

	Dimmed lipgloss.Style // what a dialog lies over

	HelpKey  lipgloss.Style // a key in the help overlay
	HelpText lipgloss.Style
	Heading  lipgloss.Style
}

// Styles builds the styles for a terminal of this colour profile. Where it has
// 16 colours or none, there are no grounds that could be told apart: the bars have
// none, and reverse video is for what has to stand out, the view that is shown, the
// selected row and chips.
func (t Theme) Styles(profile colorprofile.Profile) Styles {
	b := builder{t.palette(profile), t.Own || profile <= colorprofile.ANSI}
	p := b.palette
	s := Styles{
		Text: b.fg(p.Text), Strong: b.fg(p.Text).Bold(true), Muted: b.fg(p.Muted), Faint: b.fg(p.Faint),
		Accent: b.fg(p.Accent), Success: b.fg(p.Success), Warning: b.fg(p.Warning),
		Danger: b.fg(p.Danger), Info: b.fg(p.Info),

		Border: b.fg(p.Border), BorderFocus: b.fg(p.BorderFocus),
		Title: b.fg(p.Muted), TitleFocus: b.fg(p.Accent).Bold(true),

		Selection:     b.on(p.SelectionText, p.Selection).Bold(b.plain),
		SelectionIdle: b.fg(p.Text).Bold(true),
		Match:         b.fg(p.Accent).Underline(true),

		Bar: b.bar(p.BarText, p.Text), BarActive: b.on(p.Accent, p.Bar).Bold(true),
		BarMuted: b.bar(p.BarMuted, p.Muted), BarKey: b.bar(p.Accent, p.Accent).Bold(true),
		BarChip:    b.on(p.Bar, p.Accent).Bold(true),
		BarSuccess: b.bar(p.Success, p.Success), BarWarning: b.bar(p.Warning, p.Warning), BarDanger: b.bar(p.Danger, p.Danger).Bold(b.plain),

		Dimmed: b.dimmed(),

		HelpKey: b.fg(p.Accent).Bold(true), HelpText: b.fg(p.Text),
		Heading: b.fg(p.Text).Bold(true).Underline(true),
	}
	return s
}

type builder struct {
	palette Palette
	plain   bool // grounds are told by reverse video
}

func (b builder) fg(c color.Color) lipgloss.Style {
	if _, dim := c.(dimColor); dim {
		return lipgloss.NewStyle().Faint(true)
	}
	return lipgloss.NewStyle().Foreground(c)
}

// dimmed is between borders and what is only there; the 16 colours of a terminal have
// nothing there that could be relied on.
func (b builder) dimmed() lipgloss.Style {
	if b.plain {
		return lipgloss.NewStyle().Faint(true)
	}
	return b.fg(lipgloss.Blend1D(3, b.palette.Border, b.palette.Faint)[1])
}

// bar is text on the bars' ground or, where that has none, text of the plain colour.
func (b builder) bar(fg, plain color.Color) lipgloss.Style {
	if b.plain {
		return b.fg(plain)
	}
	return b.on(fg, b.palette.Bar)
}

func (b builder) on(fg, ground color.Color) lipgloss.Style {
	if b.plain {
		return lipgloss.NewStyle().Reverse(true)
	}
	return lipgloss.NewStyle().Foreground(fg).Background(ground)
}
