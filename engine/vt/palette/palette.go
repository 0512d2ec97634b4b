// Package palette keeps the colours of one terminal: what the person's terminal has, what
// the program has changed of it, and what a program is answered that asks for them (OSC 4,
// 5, 10 to 12 and what takes them back). How cells look is up to whoever draws them.
package palette

import (
	"bytes"
	"strconv"

	"tandem/engine/styled"
	"tandem/engine/vt/xcolor"
)

// Places behind the 256 numbered colours: those that stand for bold, underline, blink,
// reverse and italic (OSC 5), then the dynamic ones (OSC 10, 11, 12).
const (
	special    = 256
	specials   = 5
	foreground = special + specials + iota - 2
	background
	cursor
	count
)

// A Table is the colours of a terminal. The zero value has the default palette's.
type Table struct {
	own     styled.Palette       // complete, but for the zero value's
	changed map[int]uint32       // by the program
	drawn   *styled.ColorChanges // nil until asked for
}

// Changes returns the colours changed by the program; nil if none. Later changes do not modify the
// returned value.
func (t *Table) Changes() *styled.ColorChanges {
	if t.drawn != nil || len(t.changed) == 0 {
		return t.drawn
	}
	c := &styled.ColorChanges{Indexed: map[int]styled.Color{}}
	for n, rgb := range t.changed {
		switch color := styled.ColorRGB | styled.Color(rgb); {
		case n == foreground:
			c.Foreground = color
		case n == background:
			c.Background = color
		case n < special:
			c.Indexed[n] = color
		}
	}
	if c.Foreground != 0 || c.Background != 0 || len(c.Indexed) > 0 {
		t.drawn = c
	}
	return t.drawn
}

// SetOwn says what the person's terminal has. flipped reports whether that is light now
// and was dark, or the other way round.
func (t *Table) SetOwn(p styled.Palette) (flipped bool) {
	light := t.Light()
	t.own = p.WithDefaults()
	return t.Light() != light
}

// Light reports whether the person's terminal has a ground for dark text.
func (t *Table) Light() bool { return t.own.Light() }

// Reset takes back what the program has changed.
func (t *Table) Reset() { t.changed, t.drawn = nil, nil }

// Cursor is the colour that the program has given the cursor; 0 if it has given none.
func (t *Table) Cursor() styled.Color {
	if rgb, ok := t.changed[cursor]; ok {
		return styled.ColorRGB | styled.Color(rgb)
	}
	return 0
}

// set changes colour n, or resets it if on is false.
func (t *Table) set(n int, rgb uint32, on bool) {
	if was, ok := t.changed[n]; ok == on && (!on || was == rgb) {
		return
	}
	t.drawn = nil
	if !on {
		delete(t.changed, n)
		return
	}
	if t.changed == nil {
		t.changed = map[int]uint32{}
	}
	t.changed[n] = rgb
}

// Command does operating system command n, one of 4, 5, 10 to 12, 104, 105 and 110 to 112.
// The answers to what it asks end as the command did.
func (t *Table) Command(n int, b []byte, end string) (reply []byte) {
	switch n {
	case 4:
		return t.numbered(n, 0, foreground, b, end)
	case 5:
		return t.numbered(n, special, specials, b, end)
	case 10, 11, 12:
		return t.dynamic(n, b, end)
	case 104:
		t.reset(0, foreground, b)
	case 105:
		t.reset(special, specials, b)
	case 110, 111, 112:
		t.set(foreground+n-110, 0, false)
	}
	return nil
}

// numbered does OSC 4 and 5: pairs of index and colour, or ? to ask. The colours are n ones
// from first on.
func (t *Table) numbered(osc, first, n int, b []byte, end string) (reply []byte) {
	for range foreground {
		at, rest, _ := bytes.Cut(b, []byte{';'})
		spec, rest, more := bytes.Cut(rest, []byte{';'})
		i := index(at, n)
		if i < 0 {
			return reply
		}
		reply = t.setOrTell(reply, first+i, string(spec), strconv.Itoa(osc)+";"+strconv.Itoa(i), end)
		if b = rest; !more {
			return reply
		}
	}
	return reply
}

// dynamic does OSC 10, 11 and 12; further colours go to the next numbers.
func (t *Table) dynamic(osc int, b []byte, end string) (reply []byte) {
	for ; osc <= 12; osc++ {
		spec, rest, more := bytes.Cut(b, []byte{';'})
		reply = t.setOrTell(reply, foreground+osc-10, string(spec), strconv.Itoa(osc), end)
		if b = rest; !more {
			return reply
		}
	}
	return reply
}

func (t *Table) setOrTell(reply []byte, n int, spec, command, end string) []byte {
	if spec == "?" {
		reply = append(append(reply, "\x1b]"...), command...)
		return append(xcolor.AppendRGB(append(reply, ';'), t.color(n)), end...)
	}
	if rgb, ok := xcolor.Parse(spec); ok {
		t.set(n, rgb, true)
	}
	return reply
}

// reset does OSC 104 and 105: the colours named, or all n of them.
func (t *Table) reset(first, n int, b []byte) {
	if len(b) == 0 {
		for i := range n {
			t.set(first+i, 0, false)
		}
		return
	}
	for at := range bytes.SplitSeq(b, []byte{';'}) {
		if i := index(at, n); i >= 0 {
			t.set(first+i, 0, false)
		}
	}
}

// index is a number below n in decimal; -1 if b is none.
func index(b []byte, n int) int {
	i, err := strconv.ParseUint(string(b), 10, 16)
	if err != nil || int(i) >= n {
		return -1
	}
	return int(i)
}

// color is what a question is answered with.
func (t *Table) color(n int) uint32 {
	if rgb, ok := t.changed[n]; ok {
		return rgb
	}
	if t.own == (styled.Palette{}) {
		t.own = styled.DefaultPalette()
	}
	var c styled.Color
	switch {
	case n < special:
		c = t.own.Lookup(n)
	case n < foreground: // special ones are the text's
		return t.color(foreground)
	case n == foreground:
		c = t.own.Foreground
	case n == background:
		c = t.own.Background
	default:
		c = t.own.Cursor
	}
	return uint32(c & 0xFFFFFF)
}

// AppendChanges appends what makes the same changes to another terminal.
func (t *Table) AppendChanges(dst []byte) []byte {
	for n := range count {
		rgb, ok := t.changed[n]
		if !ok {
			continue
		}
		dst = append(dst, "\x1b]"...)
		if n < foreground {
			dst = append(dst, "4;"...)
			dst = strconv.AppendInt(dst, int64(n), 10)
		} else {
			dst = strconv.AppendInt(dst, int64(n-foreground+10), 10)
		}
		dst = append(xcolor.AppendRGB(append(dst, ';'), rgb), "\x1b\\"...)
	}
	return dst
}
