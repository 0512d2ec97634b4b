// Package picture draws what a terminal shows, with the pictures that programs have printed, as PNG for agents that look at
// images and as SVG for documents. It brings its font along; geometric signs
// that this lacks are drawn here, and for the characters of other scripts a PNG
// falls back to the fonts of the system, and then to boxes with their numbers.
package picture

import (
	"image/color"

	"tandem/engine/styled"
	"tandem/engine/vt"
	"tandem/engine/vt/graphics"
)

// A Screen is what is drawn.
type Screen struct {
	Cols, Rows int
	Lines      []styled.Line // at most Rows of them; those that lack are blank
	Cursor     styled.Cursor // drawn when it is visible and on the screen
	Palette    styled.Palette
	Printed    map[uint64]*graphics.Picture // by number, those of the lines
}

// A Terminal is what shows a screen, as *vt.Terminal does.
type Terminal interface {
	Size() (cols, rows int)
	Bounds() (oldest, first, end int64)
	Lines(from int64, count int) []styled.NumberedLine
	Cursor() styled.Cursor
	Modes() vt.Modes
	Picture(number uint64) *graphics.Picture
}

// Of is what a terminal shows now.
func Of(t Terminal) Screen {
	cols, rows := t.Size()
	_, first, end := t.Bounds()
	s := Screen{Cols: cols, Rows: rows, Lines: make([]styled.Line, 0, rows), Cursor: t.Cursor(), Palette: styled.DefaultPalette()}
	for _, l := range t.Lines(first, int(end-first)) {
		s.Lines = append(s.Lines, l.Line)
	}
	if t.Modes().ReverseScreen {
		s.Palette.Foreground, s.Palette.Background = s.Palette.Background, s.Palette.Foreground
	}
	s.Printed = printedOf(t, s.Lines)
	return s
}

// A look is a style made of colours.
type look struct {
	fg, bg, ul color.RGBA
	ground     bool // bg is not the screen's own background
	bold       bool
	italic     bool
	strike     bool
	overline   bool
	underline  styled.Underline
	hidden     bool
}

// lined reports whether a line is drawn along the text, spaces too.
func (l look) lined() bool { return l.underline != styled.UnderlineNone || l.strike || l.overline }

func (s *Screen) look(v styled.Style) look {
	fg, bg := s.color(v.FG, s.Palette.Foreground), s.color(v.BG, s.Palette.Background)
	ground := v.BG != 0
	if v.Attrs&styled.Reverse != 0 {
		fg, bg, ground = bg, fg, true
	}
	if v.Attrs&styled.Faint != 0 {
		fg = mix(fg, bg, 0.45)
	}
	l := look{
		fg: fg, bg: bg, ul: fg, ground: ground,
		bold: v.Attrs&styled.Bold != 0, italic: v.Attrs&styled.Italic != 0,
		strike: v.Attrs&styled.Strike != 0, overline: v.Attrs&styled.Overline != 0,
		underline: v.Underline, hidden: v.Attrs&styled.Conceal != 0,
	}
	if v.UL != 0 {
		l.ul = s.color(v.UL, s.Palette.Foreground)
	}
	if v.Link != "" && l.underline == styled.UnderlineNone {
		l.underline = styled.UnderlineDotted
	}
	return l
}

func (s *Screen) color(c, standard styled.Color) color.RGBA {
	switch {
	case c&styled.ColorRGB != 0:
		return rgb(c)
	case c&styled.ColorIndexed == 0:
		return rgb(standard)
	}
	return rgb(s.Palette.Indexed(int(c & 0xff)))
}

func rgb(c styled.Color) color.RGBA {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

// mix goes part of the way from a to b.
func mix(a, b color.RGBA, part float64) color.RGBA {
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
