// Package simple handles runs of simple characters. A simple character always starts a new cluster,
// unless it follows a ZWJ or a leading Jamo. Nearly all text consists of them.
package simple

import (
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
	"tandem/engine/screen/vt/scan"
)

// StartsWith reports whether p starts with a simple character, possibly ASCII.
func StartsWith(p []byte) bool {
	if p[0] < utf8.RuneSelf {
		return scan.PrintableLen(p[:1]) == 1
	}
	r, n := scan.DecodeRune(p)
	return n > 0 && Width(r) > 0
}

// MeasureRow returns the length of the simple characters at the start of p that fit in cols columns,
// and appends their segments to list.
func MeasureRow(p []byte, cols int, list []history.Segment) (used int, segments []history.Segment) {
	first := len(list)
	for room := cols; used < len(p); {
		size, width := measureWide(p[used:], room)
		wide := size > 0
		if size == 0 {
			size = min(scan.PrintableLen(p[used:]), room)
			width = size
		}
		if size == 0 && p[used] >= utf8.RuneSelf {
			var r rune
			r, size = scan.DecodeRune(p[used:])
			width = Width(r)
			wide = width == 2
		}
		if size == 0 || width == 0 || width > room {
			break
		}
		if last := len(list) - 1; last >= first && list[last].Wide == wide {
			list[last].Size += uint16(size)
		} else {
			list = append(list, history.Segment{Wide: wide, Size: uint16(size)})
		}
		room -= width
		used += size
	}
	return used, list
}

// measureWide returns the length and width of the Chinese characters and Hangul syllables at the
// start of p that fit in room columns.
func measureWide(p []byte, room int) (size, width int) {
	for size+3 <= len(p) && width+2 <= room {
		c := p[size : size+3]
		if c[0]&0xF0 != 0xE0 || (c[1]^0x80)|(c[2]^0x80) >= 0x40 || !isCommonWide(rune(c[0]&0x0F)<<12|rune(c[1]&0x3F)<<6|rune(c[2]&0x3F)) {
			break
		}
		size += 3
		width += 2
	}
	return size, width
}

// Fill fills cells with the simple characters at the start of p, including ASCII if ascii is
// true. It returns the number of cells and bytes used.
func Fill(cells []grid.Cell, p []byte, style grid.StyleID, ascii bool) (filled, used int) {
	for used < len(p) && filled < len(cells) {
		if b := p[used]; b < 0x80 {
			if b < ' ' || b == 0x7F || !ascii {
				break
			}
			cells[filled] = grid.Cell{Glyph: grid.Glyph(b), Style: style}
			filled++
			used++
			continue
		}
		if n := fillWide(cells[filled:], p[used:], style); n > 0 {
			filled += 2 * n
			used += 3 * n
			continue
		}
		r, n := scan.DecodeRune(p[used:])
		w := Width(r)
		if n == 0 || w == 0 || filled+w > len(cells) {
			break
		}
		cells[filled] = grid.Cell{Glyph: grid.Glyph(r), Style: style}
		if w == 2 {
			cells[filled+1] = grid.Cell{Glyph: grid.Tail, Style: style}
		}
		filled += w
		used += n
	}
	return filled, used
}

// fillWide fills cells with the Chinese characters and Hangul syllables at the start of p, and
// returns their number. It decodes them itself, because most text beyond ASCII consists of them.
func fillWide(cells []grid.Cell, p []byte, style grid.StyleID) (n int) {
	for len(p) >= 3 && len(cells) >= 2 && p[0]&0xF0 == 0xE0 && (p[1]^0x80)|(p[2]^0x80) < 0x40 {
		r := rune(p[0]&0x0F)<<12 | rune(p[1]&0x3F)<<6 | rune(p[2]&0x3F)
		if !isCommonWide(r) {
			break
		}
		cells[0], cells[1] = grid.Cell{Glyph: grid.Glyph(r), Style: style}, grid.Cell{Glyph: grid.Tail, Style: style}
		cells, p = cells[2:], p[3:]
		n++
	}
	return n
}

// IsLeadingJamo reports whether r is the start of a Hangul syllable, which a character after it may join.
func IsLeadingJamo(r rune) bool { return r >= 0x1100 && r <= 0x115F || r >= 0xA960 && r <= 0xA97C }

// isCommonWide reports whether r is a common Chinese character or a Hangul syllable; most wide
// characters are.
func isCommonWide(r rune) bool { return r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 }

// Width returns the width of a simple character, and 0 for any other.
func Width(r rune) int {
	switch {
	case isCommonWide(r):
		return 2
	case r < 0xA0:
		return 0
	case r < 0x300, r >= 0x370 && r < 0x483, r >= 0x48A && r < 0x530:
		return 1
	case r >= 0x2010 && r < 0x2028, r >= 0x2190 && r < 0x231A, r >= 0x2500 && r < 0x25FD:
		return 1
	case r >= 0x3041 && r < 0x3097, r >= 0x30A1 && r < 0x3100, r >= 0x3400 && r < 0x4DC0:
		return 2
	case r >= 0x3001 && r < 0x302A, r >= 0xFF01 && r < 0xFF61, r >= 0x1F600 && r < 0x1F650:
		return 2
	case r >= 0x1F300 && r < 0x1F3FB, r >= 0x1F400 && r < 0x1FB00:
		return cellwidth.Rune(r)
	}
	return 0
}
