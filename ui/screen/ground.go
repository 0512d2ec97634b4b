package screen

import (
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/ui/display"
)

// A Ground is what is painted in place of the terminal's own colours.
type Ground struct {
	Text, Back color.Color     // of what has no colour of its own
	ANSI       [16]color.Color // the 16 colours that programs ask for by number
}

// on is a style on the ground; nil is the terminal's own.
func (g *Ground) on(s uv.Style) uv.Style {
	if g == nil {
		return s
	}
	s.Fg, s.Bg, s.UnderlineColor = g.named(s.Fg), g.named(s.Bg), g.named(s.UnderlineColor)
	if s.Fg == nil {
		s.Fg = g.Text
	}
	if s.Bg == nil {
		s.Bg = g.Back
	}
	return s
}

// named is the ground's own of the colours that have a number below 16.
func (g *Ground) named(c color.Color) color.Color {
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

// Over is a terminal as programs have it: with the colours of the ground, if there is one.
func (g *Ground) Over(d api.Display) api.Display {
	if g == nil {
		return d
	}
	text := display.ColorOf(g.Text)
	d.Colors = styled.Palette{Foreground: text, Background: display.ColorOf(g.Back), Cursor: text}
	for i, c := range g.ANSI {
		d.Colors.Colors[i] = display.ColorOf(c)
	}
	return d
}

// cursorColor is what gives the cursor its colour: the one that a program has chosen, else
// on a ground that of text, as one for the terminal's background may not be seen; "" is
// the terminal's own.
func (f *frame) cursorColor() string {
	switch c := f.view.Cursor; {
	case c != nil && c.Color != nil:
		return ansi.SetCursorColor(ansi.XRGBColor{Color: c.Color}.String())
	case f.ground != nil:
		return ansi.SetCursorColor(ansi.XRGBColor{Color: f.ground.Text}.String())
	}
	return ""
}
