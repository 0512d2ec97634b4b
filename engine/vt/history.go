package vt

import (
	"encoding/binary"
	"slices"
	"sort"
	"unicode/utf8"

	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
)

// chunkSize is how many bytes of lines are kept together. Lines are dropped
// one by one, their memory a chunk at a time.
const (
	chunkSize  = 32 << 10
	chunkLines = 1024
)

// Kinds of packed runs: how the text divides into cells.
const (
	runNarrow      = iota // one code point a cell
	runWide               // one code point in two cells
	runCluster            // one cluster in one cell
	runWideCluster        // one cluster in two cells
)

// Flags that open a packed line's list of runs.
const (
	lineWrapped = 1 << iota
	linePlain   // one narrow run in the default style; no list follows

	lineSizeShift = iota // two bits of the LineSize are above, and two of the RowMark above them
	lineMarkShift = lineSizeShift + 2
)

// A history holds the lines that left the screen, packed: text, then a list of
// runs (style, kind, bytes). It is bounded by lines and by bytes, and in steady state
// allocates nothing.
type history struct {
	maxLines, maxBytes int
	chunks             []*chunk // oldest first
	spare              *chunk
	oldest, end        int64 // numbers of the first line kept, and of the next
	bytes              int
	runs               []byte

	strips     map[int64]*graphics.Strips // of pictures, by line
	stripLines []int64                    // lines that have or had some, oldest first
}

type chunk struct {
	first int64
	lines []packedLine
	buf   []byte
}

// A packedLine is where a line's text starts in its chunk, and its runs.
type packedLine struct{ text, runs uint32 }

func (c *chunk) size() int { return cap(c.buf) + 8*cap(c.lines) }

func (c *chunk) end() int64 { return c.first + int64(len(c.lines)) }

// push appends a line under number h.end.
func (h *history) push(cells []grid.Cell, attrs lineAttrs, clusters []string) {
	if h.maxLines <= 0 {
		h.end++
		h.oldest = h.end
		return
	}
	if attrs.strips != nil {
		h.keepStrips(attrs.strips)
	}
	c := h.room()
	before := c.size()
	at := packedLine{text: uint32(len(c.buf))}
	c.buf, h.runs = packText(c.buf, h.runs[:0], cells, clusters)
	at.runs = uint32(len(c.buf))
	flags := byte(attrs.size)<<lineSizeShift | byte(attrs.mark)<<lineMarkShift
	if attrs.wrapped {
		flags |= lineWrapped
	}
	if len(h.runs) == 0 {
		c.buf = append(c.buf, flags|linePlain)
	} else {
		c.buf = append(append(c.buf, flags), h.runs...)
	}
	c.lines = append(c.lines, at)
	h.end++
	h.bytes += c.size() - before
	h.trim()
}

// room gives the chunk that the next line goes to.
func (h *history) room() *chunk {
	if n := len(h.chunks); n > 0 {
		if c := h.chunks[n-1]; len(c.buf) < chunkSize && len(c.lines) < chunkLines {
			return c
		}
	}
	c := h.spare
	h.spare = nil
	if c == nil {
		c = &chunk{}
	}
	c.first, c.lines, c.buf = h.end, c.lines[:0], c.buf[:0]
	h.chunks = append(h.chunks, c)
	h.bytes += c.size()
	return c
}

func (h *history) trim() {
	h.oldest = max(h.oldest, h.end-int64(h.maxLines))
	for len(h.chunks) > 1 && (h.chunks[0].end() <= h.oldest || h.bytes > h.maxBytes) {
		h.dropChunk()
	}
	for len(h.stripLines) > 0 && h.stripLines[0] < h.oldest {
		delete(h.strips, h.stripLines[0])
		h.stripLines = h.stripLines[1:]
	}
}

// keepStrips keeps what of pictures is in the line that is pushed next.
func (h *history) keepStrips(s *graphics.Strips) {
	if h.strips == nil {
		h.strips = map[int64]*graphics.Strips{}
	}
	h.strips[h.end] = s
	h.stripLines = append(h.stripLines, h.end)
}

func (h *history) dropChunk() {
	c := h.chunks[0]
	h.bytes -= c.size()
	h.oldest = max(h.oldest, c.end())
	if c.size() <= 4*chunkSize {
		h.spare = c
	}
	n := copy(h.chunks, h.chunks[1:])
	h.chunks[n] = nil
	h.chunks = h.chunks[:n]
}

// dropHalf forgets the older half and says whether there was anything.
func (h *history) dropHalf() bool {
	if h.oldest == h.end {
		return false
	}
	h.oldest += (h.end - h.oldest + 1) / 2
	h.trim()
	return true
}

// unwrapLast says that the last line does not go on, and whether it did.
func (h *history) unwrapLast() bool {
	if h.oldest == h.end {
		return false
	}
	c := h.chunks[len(h.chunks)-1]
	flags := &c.buf[c.lines[len(c.lines)-1].runs]
	was := *flags&lineWrapped != 0
	*flags &^= lineWrapped
	return was
}

// clear forgets all lines; numbering goes on.
func (h *history) clear() {
	h.chunks, h.spare, h.bytes, h.oldest = nil, nil, 0, h.end
	h.strips, h.stripLines = nil, nil
}

// get appends the cells of line n, which must be kept, to dst.
func (h *history) get(n int64, dst []grid.Cell, intern func([]byte) grid.Glyph) (cells []grid.Cell, attrs lineAttrs) {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].end() > n })
	c := h.chunks[i]
	text, runs := c.line(int(n - c.first))
	flags := runs[0]
	attrs = attrsOf(flags)
	attrs.strips = h.strips[n]
	if flags&linePlain != 0 {
		return unpackRun(dst, text, 0, runNarrow, intern), attrs
	}
	for r := runs[1:]; len(r) > 0; {
		style, kind, size, used := readRun(r)
		r = r[used:]
		dst = unpackRun(dst, text[:size], style, kind, intern)
		text = text[size:]
	}
	return dst, attrs
}

// attrsOf reads the flags of a packed line.
func attrsOf(flags byte) lineAttrs {
	return lineAttrs{flags&lineWrapped != 0, styled.LineSize(flags >> lineSizeShift & 3), RowMark(flags >> lineMarkShift & 3), nil}
}

// packed gives the text of line n, which must be kept, as it lies there.
func (h *history) packed(n int64) (text []byte, attrs lineAttrs) {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].end() > n })
	c := h.chunks[i]
	text, runs := c.line(int(n - c.first))
	return text, attrsOf(runs[0])
}

// line gives the text and the runs (flags first) of the i-th line.
func (c *chunk) line(i int) (text, runs []byte) {
	l, end := c.lines[i], uint32(len(c.buf))
	if i+1 < len(c.lines) {
		end = c.lines[i+1].text
	}
	return c.buf[l.text:l.runs], c.buf[l.runs:end]
}

// eachStyle calls f for every style that a kept line uses.
func (h *history) eachStyle(f func(grid.StyleID)) {
	for _, c := range h.chunks {
		for i := int(max(h.oldest-c.first, 0)); i < len(c.lines); i++ {
			_, runs := c.line(i)
			for r := runs[1:]; len(r) > 0; {
				style, _, _, used := readRun(r)
				f(style)
				r = r[used:]
			}
		}
	}
}

func appendRun(dst []byte, style grid.StyleID, kind, size int) []byte {
	dst = binary.AppendUvarint(dst, uint64(style)<<2|uint64(kind))
	return binary.AppendUvarint(dst, uint64(size))
}

func readRun(b []byte) (style grid.StyleID, kind, size, used int) {
	head, n := binary.Uvarint(b)
	length, m := binary.Uvarint(b[n:])
	return grid.StyleID(head >> 2), int(head & 3), int(length), n + m
}

// packText appends the text of cells to dst and their runs to runs; a single
// narrow run in the default style goes without saying.
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

// packNarrow appends the code points of the cells up to the first of another
// style or kind, and says how many cells these are.
func packNarrow(dst []byte, cells []grid.Cell) (text []byte, n int) {
	style := cells[0].Style
	dst = slices.Grow(dst, utf8.UTFMax*len(cells))
	for n < len(cells) {
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

// packASCII packs the cells up to the first that is not ASCII in one style.
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

// packWide does what packNarrow does for code points that take two cells each.
func packWide(dst []byte, cells []grid.Cell) (text []byte, n int) {
	style := cells[0].Style
	for ; n+1 < len(cells) && cells[n+1].Glyph == grid.Tail; n += 2 {
		c := cells[n]
		if c.Style != style || c.Glyph >= grid.FirstCluster {
			break
		}
		if r := c.Glyph; r >= 0x800 && r <= 0xFFFF { // by far the most
			dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		} else {
			dst = utf8.AppendRune(dst, rune(r))
		}
	}
	return dst, n
}

// cellKind is the kind of run that the cell belongs to.
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
