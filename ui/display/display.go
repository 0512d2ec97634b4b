// Package display queries a user's terminal for its colours, the size of a cell and its
// support for pictures, and parses the answers. The caller reads the terminal and passes
// them in.
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
	"tandem/engine/screen/passthrough"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/xcolor"
	"tandem/panes/kit/graphics"
)

// A Terminal holds what the user's terminal has reported about itself. The zero value
// knows nothing.
type Terminal struct {
	colors        styled.Palette // updated with each answer
	complete      styled.Palette // colors at the last attributes report, which ends a series of answers
	answered      bool           // a series of answers is complete
	reportsScheme bool           // it reports changes of its colours by itself
	pixels        bool           // it can report the mouse in pixels (mode 1016)

	kitty, sixel bool        // supported picture protocols
	cell         image.Point // computed from its size in pixels
	toldCell     image.Point // reported by the terminal; used if the size has no pixels
}

// Numbers of the colours with an OSC command of their own.
const (
	foreground = 10
	background = 11
	cursor     = 12
)

// QuerySequence returns a query for everything. It ends with a query for the attributes, which
// every terminal answers, so that answer ends the others. The Linux console is an exception: it
// answers nothing, and gets no query. A multiplexer gets no query for pictures, as it may drop
// them.
func QuerySequence(getenv func(string) string) string {
	const more = "\x1b[?996n\x1b[?1016$p"
	switch {
	case getenv("TERM") == "linux":
		return ""
	case IsMultiplexed(getenv):
		return more + "\x1b[16t" + passthrough.AskColors
	}
	return more + graphics.Query + passthrough.AskColors
}

// AnswerLimit is how long a terminal may take to answer.
const AnswerLimit = 500 * time.Millisecond

// DrainAnswers reads a terminal's remaining answers until the deadline, to keep the
// terminal's next reader from taking them for keys. The terminal must be in raw mode and
// have no other reader.
func DrainAnswers(in *os.File, deadline time.Time) {
	var all []byte
	// One byte is read at a time: what follows the answers was typed.
	for one := make([]byte, 1); !endsWithAttributes(all); {
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

// endsWithAttributes reports whether p ends with a report of device attributes (DA1), which the
// terminal sends last.
func endsWithAttributes(p []byte) bool {
	i := bytes.LastIndexByte(p, '\x1b')
	return i >= 0 && bytes.HasPrefix(p[i:], []byte("\x1b[?")) && p[len(p)-1] == 'c'
}

// ColorQuery returns a query for the colours only.
func ColorQuery(getenv func(string) string) string {
	if getenv("TERM") == "linux" {
		return ""
	}
	return passthrough.AskColors
}

// An Effect is what an answer has changed.
type Effect int

const (
	NoEffect       Effect = iota
	DisplayUpdated        // the result of Display may have changed
	ColorsChanged         // the colours have changed and must be queried
)

// HandleAnswer parses a complete control sequence or string from the terminal. Anything but an
// answer has no effect.
func (t *Terminal) HandleAnswer(p []byte) Effect {
	if command, ok := bytes.CutPrefix(p, []byte("\x1b]")); ok {
		command = bytes.TrimSuffix(bytes.TrimSuffix(command, []byte{'\a'}), []byte("\x1b\\"))
		t.parseColor(string(command))
		return NoEffect
	}
	text := string(p)
	switch {
	case strings.HasPrefix(text, "\x1b_Gi="+strconv.Itoa(graphics.QueryID)+";OK"):
		t.SetKitty()
		return NoEffect
	case text == "\x1b[?997;1n", text == "\x1b[?997;2n":
		return t.NoteScheme()
	case strings.HasPrefix(text, "\x1b[?1016;") && strings.HasSuffix(text, "$y"):
		t.pixels = text[len("\x1b[?1016;")] >= '1' && text[len("\x1b[?1016;")] <= '3'
	case strings.HasPrefix(text, "\x1b[6;") && strings.HasSuffix(text, "t"):
		if size := parseNumbers(text[4 : len(text)-1]); len(size) == 2 {
			t.SetCellSize(size[1], size[0])
		}
	case strings.HasPrefix(text, "\x1b[?") && strings.HasSuffix(text, "c"):
		return t.SetAttributes(parseNumbers(text[3 : len(text)-1]))
	}
	return NoEffect
}

// parseNumbers parses parameters; nil if they are not all numbers.
func parseNumbers(text string) (all []int) {
	for part := range strings.SplitSeq(text, ";") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return nil
		}
		all = append(all, int(n))
	}
	return all
}

// parseColor records an answer to OSC 4, 10, 11 or 12.
func (t *Terminal) parseColor(command string) {
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

// SetForeground records a colour, as SetBackground and SetCursor do; nil has no effect.
func (t *Terminal) SetForeground(c color.Color) { setColor(&t.colors.Foreground, c) }
func (t *Terminal) SetBackground(c color.Color) { setColor(&t.colors.Background, c) }
func (t *Terminal) SetCursor(c color.Color)     { setColor(&t.colors.Cursor, c) }

func setColor(into *styled.Color, c color.Color) {
	if c != nil {
		*into = ConvertColor(c)
	}
}

// ConvertColor converts a colour, ignoring its alpha.
func ConvertColor(c color.Color) styled.Color {
	r, g, b, _ := c.RGBA()
	return styled.ColorRGB | styled.Color(r>>8<<16|g>>8<<8|b>>8)
}

// SetKitty records support for kitty's graphics protocol.
func (t *Terminal) SetKitty() { t.kitty = true }

// SetCellSize records the size of a cell in pixels.
func (t *Terminal) SetCellSize(w, h int) { t.toldCell = image.Pt(w, h) }

// NoteScheme records a report of the terminal's dark or light scheme. The first answers a
// query; later ones mean that the colours have changed.
func (t *Terminal) NoteScheme() Effect {
	if !t.reportsScheme {
		t.reportsScheme = true
		return NoEffect
	}
	return ColorsChanged
}

// sixelAttribute is the attribute of a terminal with support for sixels.
const sixelAttribute = 4

// SetAttributes records the terminal's attributes (DA1), which end the answers to earlier
// queries.
func (t *Terminal) SetAttributes(all []int) Effect {
	// The first attribute is the terminal's class.
	t.sixel = len(all) > 1 && slices.Contains(all[1:], sixelAttribute)
	t.complete, t.answered = t.colors, true
	return DisplayUpdated
}

// ReportsChanges reports whether the terminal reports changes of its colours by itself
// (mode 2031).
func (t *Terminal) ReportsChanges() bool { return t.reportsScheme }

// Pixels reports whether the terminal can report the mouse in pixels.
func (t *Terminal) Pixels() bool { return t.pixels }

// SetMeasuredCell records the size of a cell computed from the terminal's size in pixels.
func (t *Terminal) SetMeasuredCell(cell image.Point) { t.cell = cell }

// Display returns what programs may know about the terminal; ok is false until it has answered.
func (t *Terminal) Display() (d api.Display, ok bool) {
	cell := t.cellSize()
	return api.Display{Colors: t.complete, CellWidth: cell.X, CellHeight: cell.Y, Pixels: t.pixels}, t.answered
}

// cellSize returns the size of a cell in pixels; zero if unknown.
func (t *Terminal) cellSize() image.Point {
	// Implausible sizes are ignored: pictures scaled to them would be useless.
	for _, cell := range [...]image.Point{t.cell, t.toldCell} {
		if cell.X >= 2 && cell.Y >= 4 && cell.X <= 200 && cell.Y <= 400 {
			return cell
		}
	}
	return image.Point{}
}
