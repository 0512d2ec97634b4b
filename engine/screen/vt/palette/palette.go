// Package palette keeps the colours of one terminal: the user's own, and the program's changes to
// them. It answers the program's queries (OSC 4, 5, 10 to 12, and their resets). Drawing the cells
// is left to the callers.
package palette

import (
	"bytes"
	"strconv"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/xcolor"
)

// Positions after the 256 numbered colours: those for bold, underline, blink, reverse and italic
// (OSC 5), then the dynamic ones (OSC 10, 11, 12).
const (
	special    = 256
	specials   = 5
	foreground = special + specials + iota - 2
	background
	cursor
	count
)

// A Table is the colours of a terminal. The zero value has the default palette.
type Table struct {
	own     styled.Palette       // complete; zero for the default palette
	changed map[int]uint32       // by the program
	drawn   *styled.ColorChanges // cache of Changes; nil if out of date
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

// SetOwn sets the colours of the user's terminal. flipped reports whether it changed between light
// and dark.
func (t *Table) SetOwn(p styled.Palette) (flipped bool) {
	light := t.Light()
	t.own = p.WithDefaults()
	return t.Light() != light
}

// Light reports whether the user's terminal has a light background.
func (t *Table) Light() bool { return t.own.Light() }

// Reset undoes the program's changes.
func (t *Table) Reset() { t.changed, t.drawn = nil, nil }

// Cursor returns the cursor colour set by the program; 0 if none.
func (t *Table) Cursor() styled.Color {
	if rgb, ok := t.changed[cursor]; ok {
		return styled.ColorRGB | styled.Color(rgb)
	}
	return 0
}

// setColor changes colour n, or resets it if on is false.
func (t *Table) setColor(n int, rgb uint32, on bool) {
	// An unchanged colour keeps the cache, because programs often set the same colours again.
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

// Command executes operating system command n, one of 4, 5, 10 to 12, 104, 105 and 110 to 112. end
// is the terminator of the command, and of each reply to a query in it.
func (t *Table) Command(n int, b []byte, end string) (reply []byte) {
	switch n {
	case 4:
		return t.applyIndexed(n, 0, foreground, b, end)
	case 5:
		return t.applyIndexed(n, special, specials, b, end)
	case 10, 11, 12:
		return t.applyDynamic(n, b, end)
	case 104:
		t.resetColors(0, foreground, b)
	case 105:
		t.resetColors(special, specials, b)
	case 110, 111, 112:
		t.setColor(foreground+n-110, 0, false)
	}
	return nil
}

// applyIndexed executes OSC 4 and 5. b has pairs of an index and a colour, or ? for a query. The
// indices count from colour first, and n colours can be named.
func (t *Table) applyIndexed(osc, first, n int, b []byte, end string) (reply []byte) {
	// Bounded, because a query of a few bytes has a longer reply.
	for range foreground {
		at, rest, _ := bytes.Cut(b, []byte{';'})
		spec, rest, more := bytes.Cut(rest, []byte{';'})
		i := parseIndex(at, n)
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

// applyDynamic executes OSC 10, 11 and 12; further colours apply to the next numbers.
func (t *Table) applyDynamic(osc int, b []byte, end string) (reply []byte) {
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
		return append(xcolor.AppendRGB(append(reply, ';'), t.currentColor(n)), end...)
	}
	if rgb, ok := xcolor.Parse(spec); ok {
		t.setColor(n, rgb, true)
	}
	return reply
}

// resetColors executes OSC 104 and 105: it resets the listed colours, or all n of them.
func (t *Table) resetColors(first, n int, b []byte) {
	if len(b) == 0 {
		for i := range n {
			t.setColor(first+i, 0, false)
		}
		return
	}
	for at := range bytes.SplitSeq(b, []byte{';'}) {
		if i := parseIndex(at, n); i >= 0 {
			t.setColor(first+i, 0, false)
		}
	}
}

// parseIndex returns the decimal number in b if it is below n, or else -1.
func parseIndex(b []byte, n int) int {
	i, err := strconv.ParseUint(string(b), 10, 16)
	if err != nil || int(i) >= n {
		return -1
	}
	return int(i)
}

// currentColor returns the colour to report for a query.
func (t *Table) currentColor(n int) uint32 {
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
	case n < foreground: // special colours default to the text's
		return t.currentColor(foreground)
	case n == foreground:
		c = t.own.Foreground
	case n == background:
		c = t.own.Background
	default:
		c = t.own.Cursor
	}
	return uint32(c & 0xFFFFFF)
}

// AppendChanges appends the sequences that make the same changes in another terminal.
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
