package history

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"tandem/engine/screen/vt/grid"
)

func appendRun(dst []byte, style grid.StyleID, kind, size int) []byte {
	dst = binary.AppendUvarint(dst, uint64(style)<<2|uint64(kind))
	return binary.AppendUvarint(dst, uint64(size))
}

func readRun(b []byte) (style grid.StyleID, kind, size, used int) {
	head, n := binary.Uvarint(b)
	length, m := binary.Uvarint(b[n:])
	return grid.StyleID(head >> 2), int(head & 3), int(length), n + m
}

// packText appends the text of cells to dst and their runs to runs; a single narrow run in the
// default style is omitted.
func packText(dst, runs []byte, cells []grid.Cell, clusters []string) (text, list []byte) {
	for i := 0; i < len(cells); {
		start, kind, n := len(dst), cellKind(cells, i), 0
		switch kind {
		case runNarrow:
			dst, n = packNarrow(dst, cells[i:])
			if cells[0].Style == 0 && n == len(cells) {
				return dst, runs
			}
		case runWide:
			dst, n = packWide(dst, cells[i:])
		default:
			dst = append(dst, clusters[cells[i].Glyph-grid.FirstCluster]...)
			n = 1 + kind - runCluster
		}
		runs = appendRun(runs, cells[i].Style, kind, len(dst)-start)
		i += n
	}
	return dst, runs
}

// packNarrow appends the code points of the cells up to the first of another style or kind, and
// returns the number of cells.
func packNarrow(dst []byte, cells []grid.Cell) (text []byte, n int) {
	style := cells[0].Style
	dst = slices.Grow(dst, utf8.UTFMax*len(cells))
	for n < len(cells) {
		// Colours change every few cells, so the call must have a chance to pay off.
		if n+8 <= len(cells) && cells[n+7].Style == style && cells[n].Glyph|cells[n+7].Glyph < utf8.RuneSelf {
			k := packEights(dst[len(dst):cap(dst)], cells[n:], style)
			dst = dst[:len(dst)+k]
			n += k
		}
		k := packASCII(dst[len(dst):cap(dst)], cells[n:], style)
		dst = dst[:len(dst)+k]
		n += k
		if n == len(cells) || cells[n].Style != style || cellKind(cells, n) != runNarrow {
			break
		}
		dst = utf8.AppendRune(dst, rune(cells[n].Glyph))
		n++
	}
	return dst, n
}

// packASCII packs the cells up to the first that is not ASCII in the given style.
func packASCII(dst []byte, cells []grid.Cell, style grid.StyleID) int {
	dst = dst[:len(cells)]
	for i, c := range cells {
		if c.Style != style || c.Glyph >= utf8.RuneSelf {
			return i
		}
		dst[i] = byte(max(c.Glyph, ' '))
	}
	return len(cells)
}

// packEights packs eight cells at a time, up to the first eight that are not all ASCII in the given
// style. Most output consists of such cells.
func packEights(dst []byte, cells []grid.Cell, style grid.StyleID) (n int) {
	const highBits = 0x8080808080808080
	for ; n+8 <= len(cells); n += 8 {
		c := (*[8]grid.Cell)(cells[n:])
		glyphs := c[0].Glyph | c[1].Glyph | c[2].Glyph | c[3].Glyph | c[4].Glyph | c[5].Glyph | c[6].Glyph | c[7].Glyph
		others := (c[0].Style ^ style) | (c[1].Style ^ style) | (c[2].Style ^ style) | (c[3].Style ^ style) |
			(c[4].Style ^ style) | (c[5].Style ^ style) | (c[6].Style ^ style) | (c[7].Style ^ style)
		if glyphs >= utf8.RuneSelf || others != 0 {
			break
		}
		text := uint64(c[0].Glyph) | uint64(c[1].Glyph)<<8 | uint64(c[2].Glyph)<<16 | uint64(c[3].Glyph)<<24 |
			uint64(c[4].Glyph)<<32 | uint64(c[5].Glyph)<<40 | uint64(c[6].Glyph)<<48 | uint64(c[7].Glyph)<<56
		// A byte of zero is a blank: it gets the bit of a space. Any other carries into its high bit.
		blank := ^(text + ^uint64(highBits)) & highBits
		binary.LittleEndian.PutUint64(dst[n:], text|blank>>2)
	}
	return n
}

// packWide is packNarrow for code points of two cells each.
func packWide(dst []byte, cells []grid.Cell) (text []byte, n int) {
	style := cells[0].Style
	for ; n+1 < len(cells) && cells[n+1].Glyph == grid.Tail; n += 2 {
		c := cells[n]
		if c.Style != style || c.Glyph >= grid.FirstCluster {
			break
		}
		if r := c.Glyph; r >= 0x800 && r <= 0xFFFF { // the most common case
			dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		} else {
			dst = utf8.AppendRune(dst, rune(r))
		}
	}
	return dst, n
}

// cellKind returns the kind of run for the cell.
func cellKind(cells []grid.Cell, i int) int {
	kind := runNarrow
	if g := cells[i].Glyph; g >= grid.FirstCluster && g != grid.Tail {
		kind = runCluster
	}
	if i+1 < len(cells) && cells[i+1].Glyph == grid.Tail {
		kind++
	}
	return kind
}

// unpackRun appends the cells of one run.
func unpackRun(dst []grid.Cell, text []byte, style grid.StyleID, kind int, intern func([]byte) grid.Glyph) []grid.Cell {
	switch kind {
	case runCluster:
		return append(dst, grid.Cell{Glyph: intern(text), Style: style})
	case runWideCluster:
		return append(dst, grid.Cell{Glyph: intern(text), Style: style}, grid.Cell{Glyph: grid.Tail, Style: style})
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		dst = append(dst, grid.Cell{Glyph: grid.Glyph(r), Style: style})
		if kind == runWide {
			dst = append(dst, grid.Cell{Glyph: grid.Tail, Style: style})
		}
	}
	return dst
}
