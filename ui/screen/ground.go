package screen

import (
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/ui/display"
)

// A Background replaces the terminal's own colours.
type Background struct {
	Text, Back color.Color     // of text and cells without a colour
	ANSI       [16]color.Color // the 16 colours that programs select by number
}

// applyStyle returns a style on the background; nil is the terminal's own.
func (g *Background) applyStyle(s uv.Style) uv.Style {
	if g != nil {
		s.Fg, s.Bg, s.UnderlineColor = g.mapColor(s.Fg), g.mapColor(s.Bg), g.mapColor(s.UnderlineColor)
		if s.Fg == nil {
			s.Fg = g.Text
		}
		if s.Bg == nil {
			s.Bg = g.Back
		}
	}
	s.Fg, s.Bg, s.UnderlineColor = markExact(s.Fg), markExact(s.Bg), markExact(s.UnderlineColor)
	return s
}

// markExact makes an exact colour differ from every palette colour, by an opacity that sequences do
// not include. The renderer compares colours by their default components. It would take a palette
// colour for the equal exact colour, although the terminal's theme may show them differently.
func markExact(c color.Color) color.Color {
	if rgb, ok := c.(color.RGBA); ok {
		rgb.A = 0xfe
		return rgb
	}
	return c
}

// mapColor replaces a palette colour below 16 by the background's own.
func (g *Background) mapColor(c color.Color) color.Color {
	n := len(g.ANSI)
	switch c := c.(type) {
	case ansi.BasicColor:
		n = int(c)
	case ansi.IndexedColor:
		n = int(c)
	}
	if n < len(g.ANSI) {
		return g.ANSI[n]
	}
	return c
}

// ApplyTo returns the display as programs see it: with the background's colours, if g is
// not nil.
func (g *Background) ApplyTo(d api.Display) api.Display {
	if g == nil {
		return d
	}
	text := display.ConvertColor(g.Text)
	d.Colors = styled.Palette{Foreground: text, Background: display.ConvertColor(g.Back), Cursor: text}
	for i, c := range g.ANSI {
		d.Colors.Colors[i] = display.ConvertColor(c)
	}
	return d
}

// cursorColor returns the sequence for the cursor's colour: the one set by the program,
// else that of text on a painted background, where the terminal's own may be invisible. ""
// keeps the terminal's own.
func (f *frame) cursorColor() string {
	switch c := f.view.Cursor; {
	case c != nil && c.Color != nil:
		return ansi.SetCursorColor(ansi.XRGBColor{Color: c.Color}.String())
	case f.background != nil:
		return ansi.SetCursorColor(ansi.XRGBColor{Color: f.background.Text}.String())
	}
	return ""
}
