// Package history keeps the lines that have left a screen in packed form.
package history

import (
	"bytes"
	"iter"
	"maps"
	"sort"
	"unicode/utf8"

	"tandem/engine/invariants"
	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
)

// chunkSize is how many bytes of lines are stored together. Lines are dropped one at a time, but
// their memory is freed by the chunk.
const (
	chunkSize  = 32 << 10
	chunkLines = 1024
)

// Kinds of packed runs: how their text divides into cells.
const (
	runNarrow      = iota // one code point per cell
	runWide               // one code point in two cells
	runCluster            // one cluster in one cell
	runWideCluster        // one cluster in two cells
)

// Flags at the start of a packed line's runs.
const (
	lineWrapped = 1 << iota
	linePlain   // one narrow run in the default style; no list follows

	lineSizeShift = iota // two bits of the LineSize start here, followed by two of the Mark
	lineMarkShift = lineSizeShift + 2
)

// Lines are the packed lines that have left the screen: text, then a list of runs (style, kind,
// bytes). They are bounded by number and bytes. In the steady state, adding a line allocates
// nothing.
type Lines struct {
	maxLines, maxBytes int
	chunks             []*chunk // oldest first
	spare              *chunk
	oldest, end        int64 // numbers of the first stored and of the next line
	bytes              int
	runs               []byte

	strips     map[int64]*graphics.Strips // of pictures, by line
	stripLines []int64                    // lines that have or had strips, oldest first
}

// Attrs are the properties of a line other than its cells.
type Attrs struct {
	Wrapped bool // continues in the next line
	Size    styled.LineSize
	Mark    Mark
	Strips  *graphics.Strips // of pictures; nil for none
}

// A Mark records what starts in a line, as reported by a shell (OSC 133).
type Mark uint8

const (
	MarkPrompt Mark = 1 << iota // a prompt (A)
	MarkOutput                  // a command's output (C)
)

type chunk struct {
	first int64
	lines []packedLine
	buf   []byte
}

// A packedLine is the offset of a line's text in its chunk, and of its runs.
type packedLine struct{ text, runs uint32 }

func (c *chunk) size() int { return cap(c.buf) + 8*cap(c.lines) }

func (c *chunk) end() int64 { return c.first + int64(len(c.lines)) }

// New returns an empty history. The first line gets the number next. It keeps at most maxLines, in
// at most maxBytes.
func New(maxLines, maxBytes int, next int64) Lines {
	return Lines{maxLines: maxLines, maxBytes: maxBytes, oldest: next, end: next}
}

// Oldest returns the number of the first stored line, or End.
func (h *Lines) Oldest() int64 { return h.oldest }

// End returns the number of the next line.
func (h *Lines) End() int64 { return h.end }

// Limits returns the maximum number of lines and of bytes.
func (h *Lines) Limits() (lines, bytes int) { return h.maxLines, h.maxBytes }

// Push appends a line under number h.end.
func (h *Lines) Push(cells []grid.Cell, attrs Attrs, clusters []string) {
	if h.maxLines <= 0 {
		h.end++
		h.oldest = h.end
		return
	}
	if attrs.Strips != nil {
		h.keepStrips(attrs.Strips)
	}
	c := h.chunkFor(utf8.UTFMax * len(cells))
	before := c.size()
	at := packedLine{text: uint32(len(c.buf))}
	c.buf, h.runs = packText(c.buf, h.runs[:0], cells, clusters)
	at.runs = uint32(len(c.buf))
	flags := byte(attrs.Size)<<lineSizeShift | byte(attrs.Mark)<<lineMarkShift
	if attrs.Wrapped {
		flags |= lineWrapped
	}
	if len(h.runs) == 0 {
		c.buf = append(c.buf, flags|linePlain)
	} else {
		c.buf = append(append(c.buf, flags), h.runs...)
	}
	h.noteAdded(c, at, before)
	if invariants.Enabled {
		h.checkPushed(cells, attrs, clusters)
	}
}

// PushText appends a line of printable ASCII in the default style, which may continue in the next.
// Trailing spaces of one that does not are dropped.
func (h *Lines) PushText(text []byte, wrapped bool) {
	if h.maxLines <= 0 {
		h.end++
		h.oldest = h.end
		return
	}
	c := h.chunkFor(len(text))
	before := c.size()
	start := len(c.buf)
	flags := byte(linePlain)
	if wrapped {
		flags |= lineWrapped
	} else {
		text = bytes.TrimRight(text, " ")
	}
	c.buf = append(append(c.buf, text...), flags)
	h.noteAdded(c, packedLine{uint32(start), uint32(start + len(text))}, before)
	if invariants.Enabled {
		h.checkPushedText(text, wrapped)
	}
}

// noteAdded records a line added to chunk c, which took before bytes without it.
func (h *Lines) noteAdded(c *chunk, line packedLine, before int) {
	c.lines = append(c.lines, line)
	h.end++
	h.bytes += c.size() - before
	h.trim()
}

// chunkFor returns the chunk for the next line, of about n bytes.
func (h *Lines) chunkFor(n int) *chunk {
	last := len(h.chunks) - 1
	if last >= 0 {
		if c := h.chunks[last]; (len(c.buf)+n < chunkSize || len(c.buf) == 0) && len(c.lines) < chunkLines {
			return c
		}
	}
	// Reuse the dropped chunk, so that steady output allocates nothing.
	c := h.spare
	h.spare = nil
	switch {
	case c != nil:
	case last < 0: // a screen may never fill one
		c = &chunk{}
	default:
		c = &chunk{buf: make([]byte, 0, chunkSize), lines: make([]packedLine, 0, len(h.chunks[last].lines))}
	}
	c.first, c.lines, c.buf = h.end, c.lines[:0], c.buf[:0]
	h.chunks = append(h.chunks, c)
	h.bytes += c.size()
	return c
}

func (h *Lines) trim() {
	h.oldest = max(h.oldest, h.end-int64(h.maxLines))
	// The last chunk always stays, even if it alone exceeds maxBytes.
	for len(h.chunks) > 1 && (h.chunks[0].end() <= h.oldest || h.bytes > h.maxBytes) {
		h.dropChunk()
	}
	for len(h.stripLines) > 0 && h.stripLines[0] < h.oldest {
		delete(h.strips, h.stripLines[0])
		h.stripLines = h.stripLines[1:]
	}
}

// Strips iterates over the lines with pictures.
func (h *Lines) Strips() iter.Seq2[int64, *graphics.Strips] { return maps.All(h.strips) }

// SetStrips changes the picture strips of a line that has or had some; nil removes them.
func (h *Lines) SetStrips(n int64, s *graphics.Strips) {
	if s == nil {
		delete(h.strips, n)
	} else {
		h.strips[n] = s
	}
	if invariants.Enabled {
		h.checkStrips()
	}
}

// keepStrips stores the picture strips of the line pushed next.
func (h *Lines) keepStrips(s *graphics.Strips) {
	if h.strips == nil {
		h.strips = map[int64]*graphics.Strips{}
	}
	h.strips[h.end] = s
	h.stripLines = append(h.stripLines, h.end)
}

func (h *Lines) dropChunk() {
	c := h.chunks[0]
	h.bytes -= c.size()
	h.oldest = max(h.oldest, c.end())
	// A chunk enlarged by a very long line is not worth keeping.
	if c.size() <= 4*chunkSize {
		h.spare = c
	}
	n := copy(h.chunks, h.chunks[1:])
	h.chunks[n] = nil
	h.chunks = h.chunks[:n]
}

// DropHalf drops the older half of the lines and reports whether there were any.
func (h *Lines) DropHalf() bool {
	if h.oldest == h.end {
		return false
	}
	h.oldest += (h.end - h.oldest + 1) / 2
	h.trim()
	if invariants.Enabled {
		h.check()
	}
	return true
}

// UnwrapLast marks the last line as not continued, and reports whether it was.
func (h *Lines) UnwrapLast() bool {
	if h.oldest == h.end {
		return false
	}
	c := h.chunks[len(h.chunks)-1]
	flags := &c.buf[c.lines[len(c.lines)-1].runs]
	was := *flags&lineWrapped != 0
	*flags &^= lineWrapped
	return was
}

// Clear drops all lines; numbering continues.
func (h *Lines) Clear() {
	h.chunks, h.spare, h.bytes, h.oldest = nil, nil, 0, h.end
	h.strips, h.stripLines = nil, nil
	if invariants.Enabled {
		h.check()
	}
}

// Get appends the cells of line n, which must be stored, to dst.
func (h *Lines) Get(n int64, dst []grid.Cell, intern func([]byte) grid.Glyph) (cells []grid.Cell, attrs Attrs) {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].end() > n })
	c := h.chunks[i]
	text, runs := c.line(int(n - c.first))
	flags := runs[0]
	attrs = parseAttrs(flags)
	attrs.Strips = h.strips[n]
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

// parseAttrs decodes the flags of a packed line.
func parseAttrs(flags byte) Attrs {
	return Attrs{flags&lineWrapped != 0, styled.LineSize(flags >> lineSizeShift & 3), Mark(flags >> lineMarkShift & 3), nil}
}

// LineText returns the text of line n, which must be stored, without a copy.
func (h *Lines) LineText(n int64) (text []byte, attrs Attrs) {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].end() > n })
	c := h.chunks[i]
	text, runs := c.line(int(n - c.first))
	return text, parseAttrs(runs[0])
}

// line returns the text and the runs (flags first) of the i-th line.
func (c *chunk) line(i int) (text, runs []byte) {
	l, end := c.lines[i], uint32(len(c.buf))
	if i+1 < len(c.lines) {
		end = c.lines[i+1].text
	}
	return c.buf[l.text:l.runs], c.buf[l.runs:end]
}

// EachStyle calls f for every style used by a stored line.
func (h *Lines) EachStyle(f func(grid.StyleID)) {
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
