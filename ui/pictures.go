package ui

import (
	"image"
	"image/color"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/sys/unix"

	"tandem/panes/graphics"
)

// pictures is what the terminal told of how it shows pictures.
type pictures struct {
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
	return getenv("TMUX") != "" || getenv("TERM_PROGRAM") == "tandem" || getenv("STY") != "" || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
}

// asksPictures reports whether the terminal is to be asked for pictures.
func asksPictures(getenv func(string) string) bool {
	return !multiplexed(getenv) && getenv("TERM") != "linux"
}

// seePictures learns from a message what the terminal can show, after it was
// handled, and passes it on.
func (m *model) seePictures(msg tea.Msg) {
	p := &m.pictures
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
	case tea.WindowSizeMsg, zoomedOut:
		if m.terminal != nil {
			p.cell = m.terminal.cell()
		}
	}
	if s := m.pictureScreen(); s != m.files.preview.Screen {
		m.files.preview.Screen = s
		m.dirty = true
	}
}

// pictureScreen is how pictures are shown: as the person wants it, else as well
// as the terminal can.
func (m *model) pictureScreen() graphics.Screen {
	p := &m.pictures
	s := graphics.Screen{Cell: p.cell, Backdrop: p.backdrop}
	if !sensible(s.Cell) {
		s.Cell = p.told
	}
	if !sensible(s.Cell) {
		s.Cell = image.Point{}
	}
	if s.Backdrop.A == 0 {
		s.Backdrop = color.RGBA{A: 255}
		if !m.dark {
			s.Backdrop = color.RGBA{255, 255, 255, 255}
		}
	}
	s.Protocol = m.protocol(s.Cell != image.Point{})
	return s
}

func (m *model) protocol(measured bool) graphics.Protocol {
	p, wanted := &m.pictures, m.o.Pictures
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

// cell is the size of a cell in pixels; zero where the terminal does not tell.
func (t *terminal) cell() image.Point {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return image.Point{}
	}
	return image.Pt(int(size.Xpixel/size.Col), int(size.Ypixel/size.Row))
}

// placedPicture is the picture that the terminal is to draw, over the cells
// that were drawn last.
func (m *model) placedPicture() placed {
	picture := m.files.preview.Picture()
	if !m.onFiles() || picture == nil {
		return placed{}
	}
	at := m.filesParts().preview
	if picture.Cols > at.w || picture.Rows > at.h {
		return placed{}
	}
	return placed{picture, at.x, at.y}
}

// coversPicture reports whether the overlay, as it was drawn last, lies over the
// picture.
func (m *model) coversPicture() bool {
	p := m.placedPicture()
	if m.overlay == nil || p.picture == nil {
		return false
	}
	at := image.Rect(p.x, p.y, p.x+p.picture.Cols, p.y+p.picture.Rows)
	o := m.overlayAt
	return at.Overlaps(image.Rect(o.x, o.y, o.x+o.w, o.y+o.h))
}
