// Package picture draws the screen of a terminal, including pictures printed by programs, as PNG
// for agents that view images and as SVG for documents. It embeds its font, and draws geometric
// symbols missing in it. For other characters, a PNG falls back to the system's fonts, and then to
// boxes with the character's number.
package picture

import (
	"image/color"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/graphics"
)

// A Screen is the content to draw.
type Screen struct {
	Cols, Rows int
	Lines      []styled.Line // at most Rows; missing ones are blank
	Cursor     styled.Cursor // drawn if it is visible and on the screen
	Palette    styled.Palette
	Printed    map[uint64]*graphics.Picture // pictures in Lines, by number
}

// A Terminal provides the content of a screen, like *vt.Terminal.
type Terminal interface {
	Size() (cols, rows int)
	Bounds() (oldest, first, end int64)
	Lines(from int64, count int) []styled.NumberedLine
	Cursor() styled.Cursor
	Modes() vt.Modes
	Picture(number uint64) *graphics.Picture
}

// Of returns what a terminal shows now.
func Of(t Terminal) Screen {
	cols, rows := t.Size()
	_, first, end := t.Bounds()
	s := Screen{Cols: cols, Rows: rows, Lines: make([]styled.Line, 0, rows), Cursor: t.Cursor(), Palette: styled.DefaultPalette()}
	for _, l := range t.Lines(first, int(end-first)) {
		s.Lines = append(s.Lines, l.Line)
	}
	// The whole screen is inverted, including its empty parts.
	if t.Modes().ReverseScreen {
		s.Palette.Foreground, s.Palette.Background = s.Palette.Background, s.Palette.Foreground
	}
	s.Printed = printedOf(t, s.Lines)
	return s
}

// A look is a style with resolved colours.
type look struct {
	fg, bg, ul    color.RGBA
	hasBackground bool // bg differs from the screen's background
	bold          bool
	italic        bool
	strike        bool
	overline      bool
	underline     styled.Underline
	hidden        bool
}

// hasLine reports whether a line is drawn along the text, including spaces.
func (l look) hasLine() bool { return l.underline != styled.UnderlineNone || l.strike || l.overline }

func (s *Screen) lookOf(v styled.Style) look {
	fg, bg := s.colorOf(v.FG, s.Palette.Foreground), s.colorOf(v.BG, s.Palette.Background)
	hasBackground := v.BG != 0
	if v.Attrs&styled.Reverse != 0 {
		fg, bg, hasBackground = bg, fg, true
	}
	if v.Attrs&styled.Faint != 0 {
		fg = blend(fg, bg, 0.45)
	}
	l := look{
		fg: fg, bg: bg, ul: fg, hasBackground: hasBackground,
		bold: v.Attrs&styled.Bold != 0, italic: v.Attrs&styled.Italic != 0,
		strike: v.Attrs&styled.Strike != 0, overline: v.Attrs&styled.Overline != 0,
		underline: v.Underline, hidden: v.Attrs&styled.Conceal != 0,
	}
	if v.UL != 0 {
		l.ul = s.colorOf(v.UL, s.Palette.Foreground)
	}
	// Mark links, as terminals do.
	if v.Link != "" && l.underline == styled.UnderlineNone {
		l.underline = styled.UnderlineDotted
	}
	return l
}

func (s *Screen) colorOf(c, standard styled.Color) color.RGBA {
	switch {
	case c&styled.ColorRGB != 0:
		return rgb(c)
	case c&styled.ColorIndexed == 0:
		return rgb(standard)
	}
	return rgb(s.Palette.Lookup(int(c & 0xff)))
}

func rgb(c styled.Color) color.RGBA {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

// blend blends part of b into a.
func blend(a, b color.RGBA, part float64) color.RGBA {
	one := func(x, y uint8) uint8 { return uint8(float64(x)*(1-part) + float64(y)*part) }
	return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 255}
}

// A piece is a cluster of characters in its cells.
type piece struct {
	text  string
	x     int
	cells int
	look  look
}
