// Package look holds the inks and glyphs with which everything is drawn. It also draws what all
// panes have: borders, headings, hints and empty pages.
package look

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/text"
	"tandem/themes"
)

// An Ink is a style, in the form of the SGR sequence that starts it; "" is the terminal's default
// style.
type Ink string

// InkOf returns the ink of a style, which may have only colours and attributes.
func InkOf(s lipgloss.Style) Ink {
	begin, _, _ := strings.Cut(s.Render("x"), "x")
	return Ink(begin)
}

// Text returns s in this ink.
func (k Ink) Text(s string) string {
	if k == "" || s == "" {
		return s
	}
	return string(k) + s + text.SgrReset
}

// A Look is the set of inks and glyphs for drawing.
type Look struct {
	Text      Ink // ordinary text
	Dim       Ink // less important text
	Faint     Ink // decoration
	Rule      Ink // borders
	Strong    Ink // headings
	Accent    Ink // focused elements
	Title     Ink // the focused pane's title
	Good      Ink // running
	Warn      Ink // waiting for the user
	Bad       Ink // failed
	Info      Ink // other information
	Key       Ink // a key's name
	Bar       Ink // the two bars
	BarDim    Ink // less important text in a bar
	BarKey    Ink // a key's name in a bar
	BarGood   Ink
	BarWarn   Ink
	BarBad    Ink
	Chip      Ink // highlights in a bar
	Tab       Ink // the current view
	Selected  Ink // the row affected by keys
	Current   Ink // the shown row while another pane has the focus
	Match     Ink // text matching a filter
	Found     Ink // text matching a search
	FoundHere Ink // the same in the line found last

	Dimmed Ink // text below a dialog

	Heavy  bool // the focused frame has heavy lines, because there is no colour
	Glyphs themes.Glyphs
}

// NewLook returns a look with a theme's styles.
func NewLook(s themes.Styles, g themes.Glyphs) Look {
	return Look{
		Found: InkOf(s.Warning.Reverse(true)), FoundHere: InkOf(s.Accent.Reverse(true)),
		Text: InkOf(s.Text), Dim: InkOf(s.Muted), Faint: InkOf(s.Faint), Rule: InkOf(s.Border),
		Strong: InkOf(s.Strong), Accent: InkOf(s.Accent), Title: InkOf(s.TitleFocus),
		Good: InkOf(s.Success), Warn: InkOf(s.Warning), Bad: InkOf(s.Danger), Info: InkOf(s.Info), Key: InkOf(s.HelpKey),
		Bar: InkOf(s.Bar), BarDim: InkOf(s.BarMuted), BarKey: InkOf(s.BarKey),
		BarGood: InkOf(s.BarSuccess), BarWarn: InkOf(s.BarWarning), BarBad: InkOf(s.BarDanger),
		Chip: InkOf(s.BarChip), Tab: InkOf(s.BarActive), Selected: InkOf(s.Selection), Current: InkOf(s.SelectionIdle), Match: InkOf(s.Match),
		Dimmed: InkOf(s.Dimmed), Glyphs: g,
	}
}

// Edge returns a piece of border in its style, which depends on focused.
func (l *Look) Edge(line string, focused bool) string {
	switch {
	case !focused:
		return l.Rule.Text(line)
	case l.Heavy:
		line = strings.Map(heavyRune, line)
	}
	return l.Accent.Text(line)
}

// heavyRune returns the heavy form of a border character; there are no heavy round corners.
func heavyRune(r rune) rune {
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

// Behind returns a row as drawn behind an open dialog, without its colours. Half blocks that draw
// an image keep theirs, because nothing else of the image would remain.
func (l *Look) Behind(row string) string {
	const pixels = "▀"
	if !strings.Contains(row, pixels) {
		return l.Dimmed.Text(ansi.Strip(row))
	}
	var out strings.Builder
	ink := ""
	for row != "" {
		piece, w := text.FirstCluster(row)
		row = row[len(piece):]
		switch {
		case piece[0] == '\x1b' && w == 0:
			ink = piece
		case piece == pixels:
			out.WriteString(ink + piece + text.SgrReset)
		default:
			out.WriteString(l.Dimmed.Text(piece))
		}
	}
	return out.String()
}

// Tints is the number of inks for telling names apart.
const Tints = 6

// Tint returns the ink with number n, counted from 0, for telling names apart. The inks are the
// theme's own and readable on its background. The red of errors is not among them.
func (l *Look) Tint(n int) Ink {
	return [Tints]Ink{l.Accent, l.Info, l.Good, l.Warn, l.Strong, l.Dim}[n%Tints]
}

// FillPattern returns n cells of the pattern outside a session's screen.
func (l *Look) FillPattern(n int) string {
	if n <= 0 {
		return ""
	}
	return l.Rule.Text(strings.Repeat("·", n))
}

// LineBreak returns the sign for a line break in one-row text.
func (l *Look) LineBreak() rune {
	if l.Glyphs.Ellipsis == "…" {
		return '↵'
	}
	return ';'
}
