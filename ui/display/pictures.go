package display

import (
	"image"
	"image/color"
	"os"
	"strings"

	"tandem/panes/graphics"
)

// Multiplexed reports whether something between us and the terminal takes out
// what it does not know, pictures too, or would show them at another place.
func Multiplexed(getenv func(string) string) bool {
	name := getenv("TERM")
	return getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
}

// Pictures is how pictures are shown: as the person wants it, else as well as the
// terminal can. dark is what to think of a terminal that does not tell its
// background.
func (t *Terminal) Pictures(wanted string, dark bool) graphics.Screen {
	s := graphics.Screen{Cell: t.cellSize(), Backdrop: color.RGBA{A: 255}}
	switch ground := t.colors.Background; {
	case ground != 0:
		s.Backdrop = color.RGBA{uint8(ground >> 16), uint8(ground >> 8), uint8(ground), 255}
	case !dark:
		s.Backdrop = color.RGBA{255, 255, 255, 255}
	}
	s.Protocol = t.protocol(wanted, s.Cell != image.Point{})
	return s
}

// Knows says which pictures the terminal shows as programs print them; known is false
// until it has answered, unless the person says it. It draws others as Pictures says. A
// multiplexer that says that it knows sixels has them on its own screen.
func (t *Terminal) Knows(wanted string) (kitty, sixel, known bool) {
	switch wanted {
	case "kitty", "sixel", "blocks", "off":
		return wanted == "kitty", wanted == "sixel", true
	}
	return t.kitty && !Multiplexed(os.Getenv), t.sixel, t.asked || os.Getenv("TERM") == "linux"
}

func (t *Terminal) protocol(wanted string, measured bool) graphics.Protocol {
	switch {
	case wanted == "off":
		return graphics.Off
	case wanted == "kitty":
		return graphics.Kitty
	case wanted == "sixel":
		return graphics.Sixel
	case wanted == "blocks", Multiplexed(os.Getenv):
		return graphics.Blocks
	case t.kitty:
		return graphics.Kitty
	case t.sixel && measured:
		return graphics.Sixel
	}
	return graphics.Blocks
}
