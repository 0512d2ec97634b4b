package display

import (
	"image"
	"image/color"
	"os"
	"strings"

	"tandem/panes/kit/graphics"
)

// IsMultiplexed reports whether a multiplexer runs between Tandem and the terminal. It drops
// sequences unknown to it, including pictures, or shows them in the wrong place.
func IsMultiplexed(getenv func(string) string) bool {
	name := getenv("TERM")
	return getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
}

// PictureScreen returns how to draw pictures: as the user configured, else in the best way
// the terminal supports. dark is assumed for a terminal that does not report its
// background.
func (t *Terminal) PictureScreen(wanted string, dark bool) graphics.Screen {
	s := graphics.Screen{Cell: t.cellSize(), Backdrop: color.RGBA{A: 255}}
	switch ground := t.colors.Background; {
	case ground != 0:
		s.Backdrop = color.RGBA{uint8(ground >> 16), uint8(ground >> 8), uint8(ground), 255}
	case !dark:
		s.Backdrop = color.RGBA{255, 255, 255, 255}
	}
	s.Protocol = t.chooseProtocol(wanted, s.Cell != image.Point{})
	return s
}

// SupportsPictures reports which pictures the terminal shows as programs print them. known is false
// until it has answered, unless the configuration says so. All other pictures are drawn as
// PictureScreen says. A multiplexer that reports sixels shows them itself.
func (t *Terminal) SupportsPictures(wanted string) (kitty, sixel, known bool) {
	switch wanted {
	case "kitty", "sixel", "blocks", "off":
		return wanted == "kitty", wanted == "sixel", true
	}
	return t.kitty && !IsMultiplexed(os.Getenv), t.sixel, t.answered || os.Getenv("TERM") == "linux"
}

func (t *Terminal) chooseProtocol(wanted string, measured bool) graphics.Protocol {
	switch {
	case wanted == "off":
		return graphics.Off
	case wanted == "kitty":
		return graphics.Kitty
	case wanted == "sixel":
		return graphics.Sixel
	case wanted == "blocks", IsMultiplexed(os.Getenv):
		return graphics.Blocks
	case t.kitty:
		return graphics.Kitty
	case t.sixel && measured:
		return graphics.Sixel
	}
	return graphics.Blocks
}
