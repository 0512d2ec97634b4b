// Package styled defines styled text on a screen: colours, attributes, runs, lines and the cursor,
// and the SGR sequences that set a style. It is shared by emulators, senders and renderers of
// screens.
package styled

import "strconv"

// A Color is the default colour (0), one of the palette, or a true colour.
type Color uint32

// The kinds of a Color other than the default.
const (
	ColorIndexed Color = 1 << 24 // 0…255
	ColorRGB     Color = 2 << 24 // 0xRRGGBB
)

// Attr is a set of text attributes.
type Attr uint16

// The text attributes (SGR 1–9 and 53).
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Conceal
	Strike
	Overline
)

// Underline is the style of an underline; the values are those of SGR 4:n.
type Underline uint8

// The underline styles.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// A Rendition is the look of text as set by SGR (Select Graphic Rendition).
type Rendition struct {
	FG, BG, UL Color
	Attrs      Attr
	Underline  Underline
}

// A Style is the look of a cell. It is comparable.
type Style struct {
	Rendition
	Link string // target of an OSC 8 hyperlink, "" for none
}

// A Run is text in one style, without control characters; a wide cluster counts as two cells. The
// text takes the number of cells computed by package cellwidth, except that a single cluster takes
// Cells.
type Run struct {
	Style Style
	Text  string
	Cells int
}

// A Line is one row of a screen: runs from the first cell on. Cells after the
// last run are blank in the default style.
type Line struct {
	Runs    []Run
	Wrapped bool // continues on the next line
	Prompt  bool // a prompt starts here, as reported by a shell
	Output  bool // a command's output starts here, as reported by a shell
	Size    LineSize

	Pictures []Strip // in drawing order
}

// Text returns the line without styles.
func (l Line) Text() string {
	// Fast path: most lines have one style, and their text needs no copy.
	if len(l.Runs) == 1 {
		return l.Runs[0].Text
	}
	var b []byte
	for _, r := range l.Runs {
		b = append(b, r.Text...)
	}
	return string(b)
}

// A NumberedLine is a line with its absolute number.
type NumberedLine struct {
	N    int64
	Line Line
}

// LineSize is the size of the characters in a line (DECSWL, DECDWL, DECDHL).
type LineSize uint8

// The sizes of lines. All but the first show half as many columns, each two cells wide. The last
// two show the upper and the lower half of double-height characters.
const (
	SingleSize LineSize = iota
	DoubleWidth
	DoubleTop
	DoubleBottom
)

// AppendSGR appends the SGR parameters that set a style, starting with 0 to reset the previous one
// (ECMA-48 8.3.117; kitty's underlines). The underline colour is in T.416's form, because terminals
// without support for it would read ";58;5;…" as blinking. The link is not included.
func AppendSGR(dst []byte, s Style) []byte {
	dst = append(dst, '0')
	for i, parameter := range [...]string{";1", ";2", ";3", ";5", ";7", ";8", ";9", ";53"} {
		if s.Attrs&(1<<i) != 0 {
			dst = append(dst, parameter...)
		}
	}
	switch {
	case s.Underline == UnderlineSingle:
		dst = append(dst, ";4"...)
	case s.Underline > UnderlineSingle && s.Underline <= UnderlineDashed:
		dst = append(dst, ";4:"...)
		dst = append(dst, '0'+byte(s.Underline))
	}
	dst = appendColor(dst, s.FG, 30)
	dst = appendColor(dst, s.BG, 40)
	switch s.UL >> 24 {
	case ColorIndexed >> 24:
		dst = appendNumbers(append(dst, ";58:5"...), ':', s.UL&0xff)
	case ColorRGB >> 24:
		dst = appendNumbers(append(dst, ";58:2:"...), ':', s.UL>>16&0xff, s.UL>>8&0xff, s.UL&0xff)
	}
	return dst
}

// appendColor appends a text colour (base 30) or a background colour (base 40).
func appendColor(dst []byte, c Color, base Color) []byte {
	n := c & 0xff
	switch kind := c >> 24; {
	case kind == ColorIndexed>>24 && n < 8:
		return appendNumbers(dst, ';', base+n)
	case kind == ColorIndexed>>24 && n < 16:
		return appendNumbers(dst, ';', base+60+n-8)
	case kind == ColorIndexed>>24:
		return appendNumbers(dst, ';', base+8, 5, n)
	case kind == ColorRGB>>24:
		return appendNumbers(dst, ';', base+8, 2, c>>16&0xff, c>>8&0xff, n)
	}
	return dst
}

// appendNumbers appends numbers, each after a separator.
func appendNumbers(dst []byte, separator byte, numbers ...Color) []byte {
	for _, n := range numbers {
		dst = strconv.AppendUint(append(dst, separator), uint64(n), 10)
	}
	return dst
}
