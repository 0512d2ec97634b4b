package widget

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/themes"
)

// An Ink is a style as the SGR sequence that begins it; "" is the terminal's
// default.
type Ink string

// InkOf is the ink of a style that only has colours and attributes.
func InkOf(s lipgloss.Style) Ink {
	begin, _, _ := strings.Cut(s.Render("x"), "x")
	return Ink(begin)
}

// Text is s in this ink.
func (k Ink) Text(s string) string {
	if k == "" || s == "" {
		return s
	}
	return string(k) + s + SgrReset
}

// A Look is the set of inks and glyphs that everything is drawn in.
type Look struct {
	Text      Ink // ordinary text
	Dim       Ink // second in importance
	Faint     Ink // decoration
	Rule      Ink // borders
	Strong    Ink // headings
	Accent    Ink // what has the focus
	Title     Ink // of the pane with the focus
	Good      Ink // runs
	Warn      Ink // waits for the person
	Bad       Ink // failed
	Info      Ink // of another kind
	Key       Ink // a key's name
	Bar       Ink // the two bars
	BarDim    Ink // second in importance in a bar
	BarKey    Ink // a key's name in a bar
	BarGood   Ink
	BarWarn   Ink
	BarBad    Ink
	Chip      Ink // what stands out in a bar
	Tab       Ink // the view that is shown
	Selected  Ink // the row that the keys act on
	Current   Ink // the row of what is shown, while another pane has the keys
	Match     Ink // what a filter is
	Found     Ink // what a search is for
	FoundHere Ink // the same in the line that was found last

	Dimmed Ink // what a dialog lies over

	Heavy  bool // the frame of what has the focus is of heavy lines: there is no colour to tell it by
	Glyphs themes.Glyphs
}

// NewLook makes a look from a theme's styles.
func NewLook(s themes.Styles, g themes.Glyphs) Look {
	return Look{
		Found: InkOf(s.Warning.Reverse(true)), FoundHere: InkOf(s.Accent.Reverse(true)),
		Text: InkOf(s.Text), Dim: InkOf(s.Muted), Faint: InkOf(s.Faint), Rule: InkOf(s.Border),
		Strong: InkOf(s.Strong), Accent: InkOf(s.BorderFocus), Title: InkOf(s.TitleFocus),
		Good: InkOf(s.Success), Warn: InkOf(s.Warning), Bad: InkOf(s.Danger), Info: InkOf(s.Info), Key: InkOf(s.HelpKey),
		Bar: InkOf(s.Bar), BarDim: InkOf(s.BarMuted), BarKey: InkOf(s.BarKey),
		BarGood: InkOf(s.BarSuccess), BarWarn: InkOf(s.BarWarning), BarBad: InkOf(s.BarDanger),
		Chip: InkOf(s.BarChip), Tab: InkOf(s.BarActive), Selected: InkOf(s.Selection), Current: InkOf(s.SelectionIdle), Match: InkOf(s.Match),
		Dimmed: InkOf(s.Dimmed), Glyphs: g,
	}
}

// Edge is a piece of border, of what has the focus or of another.
func (l *Look) Edge(line string, focused bool) string {
	switch {
	case !focused:
		return l.Rule.Text(line)
	case l.Heavy:
		line = strings.Map(heavy, line)
	}
	return l.Accent.Text(line)
}

// heavy is a piece of border in heavy lines, of which there are no round corners.
func heavy(r rune) rune {
	switch r {
	case '─':
		return '━'
	case '│':
		return '┃'
	case '┬':
		return '┳'
	case '┴':
		return '┻'
	case '├':
		return '┣'
	case '┤':
		return '┫'
	case '┼':
		return '╋'
	case '╭':
		return '┏'
	case '╮':
		return '┓'
	case '╰':
		return '┗'
	case '╯':
		return '┛'
	}
	return r
}

// Behind is a row that a dialog lies over: its words without their colours. The
// pixels of a picture keep theirs, without which there is nothing to see.
func (l *Look) Behind(row string) string {
	const pixels = "▀"
	if !strings.Contains(row, pixels) {
		return l.Dimmed.Text(ansi.Strip(row))
	}
	var out strings.Builder
	ink := ""
	for row != "" {
		piece, w := firstCluster(row)
		row = row[len(piece):]
		switch {
		case piece[0] == '\x1b' && w == 0:
			ink = piece
		case piece == pixels:
			out.WriteString(ink + piece + SgrReset)
		default:
			out.WriteString(l.Dimmed.Text(piece))
		}
	}
	return out.String()
}

// Tints is how many inks tell names apart.
const Tints = 6

// Tint is one of the inks that tell names apart, from 0. They are the theme's own,
// and so can be read on its ground; the red of errors is not among them.
func (l *Look) Tint(n int) Ink {
	return [Tints]Ink{l.Accent, l.Info, l.Good, l.Warn, l.Strong, l.Dim}[n%Tints]
}

// Filled is n cells of the pattern that stands where a session's screen does
// not reach.
func (l *Look) Filled(n int) string {
	if n <= 0 {
		return ""
	}
	return l.Rule.Text(strings.Repeat("·", n))
}

// lineBreak is the sign for one in a text of a single row.
func (l *Look) lineBreak() rune {
	if l.Glyphs.Ellipsis == "…" {
		return '↵'
	}
	return ';'
}
