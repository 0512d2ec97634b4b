package screen

import (
	"image"
	"image/color"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/panes/graphics"
)

// Pictures is what the terminal told of how it shows pictures.
type Pictures struct {
	kitty, sixel bool
	cell         image.Point // of the terminal's size in pixels
	told         image.Point // what it said of a cell; counts where the size has no pixels
	backdrop     color.RGBA  // the colour behind; zero while that is not known
}

// sixelAttribute is the attribute in DA1 of a terminal that shows sixels.
const sixelAttribute = 4

// multiplexed reports whether something between us and the terminal takes out
// what it does not know, pictures too, or would show them at another place.
func multiplexed(getenv func(string) string) bool {
	name := getenv("TERM")
	return getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
}

// asksPictures reports whether the terminal is to be asked for pictures.
func asksPictures(getenv func(string) string) bool {
	return !multiplexed(getenv) && getenv("TERM") != "linux"
}

// Learn takes in what the terminal answers of pictures; other messages mean
// nothing to it.
func (p *Pictures) Learn(msg tea.Msg) {
	switch msg := msg.(type) {
	case uv.KittyGraphicsEvent:
		if msg.Options.ID == graphics.QueryID && string(msg.Payload) == "OK" {
			p.kitty = true
		}
	case uv.PrimaryDeviceAttributesEvent:
		p.sixel = len(msg) > 1 && slices.Contains(msg[1:], sixelAttribute) // behind the class
	case uv.CellSizeEvent:
		p.told = image.Pt(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		if msg.Color != nil {
			r, g, b, _ := msg.Color.RGBA()
			p.backdrop = color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
		}
	}
}

// Measured takes in the size of a cell in pixels, as Terminal.Cell has it.
func (p *Pictures) Measured(cell image.Point) { p.cell = cell }

// Screen is how pictures are shown: as the person wants it, else as well as the
// terminal can. dark is what to think of a terminal that does not tell its
// background.
func (p *Pictures) Screen(wanted string, dark bool) graphics.Screen {
	s := graphics.Screen{Cell: p.cell, Backdrop: p.backdrop}
	if !sensible(s.Cell) {
		s.Cell = p.told
	}
	if !sensible(s.Cell) {
		s.Cell = image.Point{}
	}
	if s.Backdrop.A == 0 {
		s.Backdrop = color.RGBA{A: 255}
		if !dark {
			s.Backdrop = color.RGBA{255, 255, 255, 255}
		}
	}
	s.Protocol = p.protocol(wanted, s.Cell != image.Point{})
	return s
}

func (p *Pictures) protocol(wanted string, measured bool) graphics.Protocol {
	switch {
	case wanted == "off":
		return graphics.Off
	case wanted == "kitty":
		return graphics.Kitty
	case wanted == "sixel":
		return graphics.Sixel
	case wanted == "blocks", multiplexed(os.Getenv):
		return graphics.Blocks
	case p.kitty:
		return graphics.Kitty
	case p.sixel && measured:
		return graphics.Sixel
	}
	return graphics.Blocks
}

// sensible reports whether a cell can be as large as that, in pixels.
func sensible(cell image.Point) bool {
	return cell.X >= 2 && cell.Y >= 4 && cell.X <= 200 && cell.Y <= 400
}
