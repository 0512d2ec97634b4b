// Package display asks a person's terminal for its colours, the size of a cell and the pictures
// that it shows, and reads the answers. Whoever reads the terminal passes them in.
package display

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/passthrough"
	"tandem/engine/styled"
	"tandem/engine/vt/xcolor"
	"tandem/panes/graphics"
)

// A Terminal is the person's, as far as it has told. The zero value has told nothing.
type Terminal struct {
	colors styled.Palette // as answers come
	whole  styled.Palette // as of the last attributes, with which answers end
	asked  bool           // answers have come
	tells  bool           // it tells changes of its colours by itself
	pixels bool           // it can tell the mouse in pixels (mode 1016)

	kitty, sixel bool        // pictures that it shows
	cell         image.Point // of its size in pixels
	told         image.Point // what it said of a cell; counts where the size has no pixels
}

// Numbers of the colours that have a command of their own.
const (
	foreground = 10
	background = 11
	cursor     = 12
)

// Ask asks for everything. Every terminal answers what stands last, its attributes, so that
// it is known when the answers have come. The Linux console knows none of it, and what
// is between us and the terminal may take pictures out.
func Ask(getenv func(string) string) string {
	const more = "\x1b[?996n\x1b[?1016$p"
	switch {
	case getenv("TERM") == "linux":
		return ""
	case Multiplexed(getenv):
		return more + "\x1b[16t" + passthrough.AskColors
	}
	return more + graphics.Query + passthrough.AskColors
}

// AnswerLimit is how long after it was asked a terminal may still be about to answer.
const AnswerLimit = 500 * time.Millisecond

// Swallow reads a terminal's remaining answers to Ask until the deadline, so that the terminal's
// next reader does not take them for keys. The terminal must be in raw mode and have no other
// reader.
func Swallow(in *os.File, deadline time.Time) {
	var all []byte
	for one := make([]byte, 1); !endsAnswers(all); { // what is behind them was typed
		left := time.Until(deadline).Milliseconds()
		if left <= 0 {
			return
		}
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, int(left)); n == 0 || err != nil && err != unix.EINTR {
			return
		}
		switch n, err := unix.Read(int(in.Fd()), one); {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil || n == 0:
			return
		default:
			all = append(all, one...)
		}
	}
}

// endsAnswers reports whether p ends with the attributes, which are answered last.
func endsAnswers(p []byte) bool {
	i := bytes.LastIndexByte(p, '\x1b')
	return i >= 0 && bytes.HasPrefix(p[i:], []byte("\x1b[?")) && p[len(p)-1] == 'c'
}

// AskColors asks for the colours alone.
func AskColors(getenv func(string) string) string {
	if getenv("TERM") == "linux" {
		return ""
	}
	return passthrough.AskColors
}

// A News is what an answer has changed.
type News int

const (
	Nothing News = iota
	Told         // what Display gives may be new
	Changed      // the colours are others now: ask for them
)

// Answer takes in a whole control sequence or string from the terminal. What is none of
// its answers means nothing.
func (t *Terminal) Answer(p []byte) News {
	if command, ok := bytes.CutPrefix(p, []byte("\x1b]")); ok {
		command = bytes.TrimSuffix(bytes.TrimSuffix(command, []byte{'\a'}), []byte("\x1b\\"))
		t.colored(string(command))
		return Nothing
	}
	text := string(p)
	switch {
	case strings.HasPrefix(text, "\x1b_Gi="+strconv.Itoa(graphics.QueryID)+";OK"):
		t.Kitty()
		return Nothing
	case text == "\x1b[?997;1n", text == "\x1b[?997;2n":
		return t.Scheme()
	case strings.HasPrefix(text, "\x1b[?1016;") && strings.HasSuffix(text, "$y"):
		t.pixels = text[len("\x1b[?1016;")] >= '1' && text[len("\x1b[?1016;")] <= '3'
	case strings.HasPrefix(text, "\x1b[6;") && strings.HasSuffix(text, "t"):
		if size := numbers(text[4 : len(text)-1]); len(size) == 2 {
			t.CellSize(size[1], size[0])
		}
	case strings.HasPrefix(text, "\x1b[?") && strings.HasSuffix(text, "c"):
		return t.Attributes(numbers(text[3 : len(text)-1]))
	}
	return Nothing
}

// numbers are those of parameters; nil if these are others.
func numbers(text string) (all []int) {
	for part := range strings.SplitSeq(text, ";") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return nil
		}
		all = append(all, int(n))
	}
	return all
}

// colored takes in an answer of OSC 4, 10, 11 or 12.
func (t *Terminal) colored(command string) {
	code, spec, _ := strings.Cut(command, ";")
	n, err := strconv.ParseUint(code, 10, 8)
	if err != nil {
		return
	}
	at := -1
	if n == 4 {
		var index string
		index, spec, _ = strings.Cut(spec, ";")
		if i, err := strconv.ParseUint(index, 10, 8); err == nil && i < 16 {
			at = int(i)
		}
	}
	rgb, ok := xcolor.Parse(spec)
	switch c := styled.ColorRGB | styled.Color(rgb); {
	case !ok:
	case at >= 0:
		t.colors.Colors[at] = c
	case n == foreground:
		t.colors.Foreground = c
	case n == background:
		t.colors.Background = c
	case n == cursor:
		t.colors.Cursor = c
	}
}

// Foreground, Background and Cursor take in these colours; nil is none.
func (t *Terminal) Foreground(c color.Color) { take(&t.colors.Foreground, c) }
func (t *Terminal) Background(c color.Color) { take(&t.colors.Background, c) }
func (t *Terminal) Cursor(c color.Color)     { take(&t.colors.Cursor, c) }

func take(into *styled.Color, c color.Color) {
	if c != nil {
		*into = ColorOf(c)
	}
}

// ColorOf is a colour without what can be seen through it.
func ColorOf(c color.Color) styled.Color {
	r, g, b, _ := c.RGBA()
	return styled.ColorRGB | styled.Color(r>>8<<16|g>>8<<8|b>>8)
}

// Kitty takes in that the terminal speaks kitty's graphics protocol.
func (t *Terminal) Kitty() { t.kitty = true }

// CellSize takes in how many pixels a cell has.
func (t *Terminal) CellSize(w, h int) { t.told = image.Pt(w, h) }

// Scheme takes in that the terminal tells whether it is dark: the first time because it was
// asked.
func (t *Terminal) Scheme() News {
	if !t.tells {
		t.tells = true
		return Nothing
	}
	return Changed
}

// sixelAttribute is the attribute of a terminal that shows sixels.
const sixelAttribute = 4

// Attributes takes in the terminal's attributes (DA1), behind which no answer to what was
// asked before them comes.
func (t *Terminal) Attributes(all []int) News {
	t.sixel = len(all) > 1 && slices.Contains(all[1:], sixelAttribute) // behind the class
	t.whole, t.asked = t.colors, true
	return Told
}

// Tells reports whether the terminal tells by itself when its colours change (mode 2031).
func (t *Terminal) Tells() bool { return t.tells }

// Pixels reports whether the terminal can tell the mouse in pixels.
func (t *Terminal) Pixels() bool { return t.pixels }

// Measured takes in the size of a cell by the terminal's size in pixels.
func (t *Terminal) Measured(cell image.Point) { t.cell = cell }

// Display is what programs may know of the terminal; ok is false until it has answered.
func (t *Terminal) Display() (d api.Display, ok bool) {
	cell := t.cellSize()
	return api.Display{Colors: t.whole, CellWidth: cell.X, CellHeight: cell.Y, Pixels: t.pixels}, t.asked
}

// cellSize is how many pixels a cell has; zero if that is not known.
func (t *Terminal) cellSize() image.Point {
	for _, cell := range [...]image.Point{t.cell, t.told} {
		if cell.X >= 2 && cell.Y >= 4 && cell.X <= 200 && cell.Y <= 400 {
			return cell
		}
	}
	return image.Point{}
}
