// Package history keeps the lines that have left a screen in packed form.
package history

import (
	"encoding/binary"
	"iter"
	"maps"
	"math"
	"sort"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
)

// Limits of a chunk: the bytes and the different lines stored together, and all lines counted. Lines
// are dropped one at a time, but their memory is freed by the chunk.
const (
	chunkSize    = 16 << 10
	chunkRecords = 1024
	chunkLines   = math.MaxUint16
)

// MaxRepeats is how many equal lines PushText can append at once.
const MaxRepeats = chunkLines

// Kinds of packed runs: how their text divides into cells.
const (
	runNarrow      = iota // one code point per cell
	runWide               // one code point in two cells
	runCluster            // one cluster in one cell
	runWideCluster        // one cluster in two cells
)

// Flags of a line.
const (
	lineWrapped = 1 << iota
	linePlain   // one narrow run in the default style; no list of runs

	lineSizeShift = iota // two bits of the LineSize start here, followed by two of the Mark
	lineMarkShift = lineSizeShift + 2
)

// Lines are the packed lines that have left the screen. Equal neighbours are stored once. They are
// bounded by number and bytes. In the steady state, adding a line allocates nothing.
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

// A chunk holds lines in records: text, then unless the line is plain its runs (style, kind, bytes)
// and their length in two bytes, then the flags.
type chunk struct {
	first, end int64 // numbers of the first line, and of the line after the last
	records    []record
	buf        []byte
}

// A record holds one or more equal lines. first is the number of the first line within the chunk,
// and at is the offset of their bytes. A record may end beyond chunkSize, but it starts before.
type record struct{ first, at uint16 }

func (c *chunk) size() int { return cap(c.buf) + 4*cap(c.records) }

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

// chunkFor returns the chunk for the next n lines, of about size bytes.
func (h *Lines) chunkFor(size, n int) *chunk {
	last := len(h.chunks) - 1
	if last >= 0 {
		c := h.chunks[last]
		if (len(c.buf)+size < chunkSize || len(c.buf) == 0) && len(c.records) < chunkRecords && int(c.end-c.first)+n <= chunkLines {
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
		n := len(h.chunks[last].records)
		c = &chunk{buf: make([]byte, 0, chunkSize), records: make([]record, 0, n+n/8)}
	}
	c.first, c.end, c.records, c.buf = h.end, h.end, c.records[:0], c.buf[:0]
	h.chunks = append(h.chunks, c)
	h.bytes += c.size()
	return c
}

func (h *Lines) trim() {
	h.oldest = max(h.oldest, h.end-int64(h.maxLines))
	// The last chunk always stays, even if it alone exceeds maxBytes.
	for len(h.chunks) > 1 && (h.chunks[0].end <= h.oldest || h.bytes > h.maxBytes) {
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
	h.oldest = max(h.oldest, c.end)
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
	flags := &c.buf[len(c.buf)-1]
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
	text, runs, flags := h.line(n)
	attrs = parseAttrs(flags)
	attrs.Strips = h.strips[n]
	if flags&linePlain != 0 {
		return unpackRun(dst, text, 0, runNarrow, intern), attrs
	}
	for len(runs) > 0 {
		style, kind, size, used := readRun(runs)
		runs = runs[used:]
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
	text, _, flags := h.line(n)
	return text, parseAttrs(flags)
}

// line returns the parts of line n.
func (h *Lines) line(n int64) (text, runs []byte, flags byte) {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].end > n })
	c := h.chunks[i]
	at := int(n - c.first)
	// Most chunks have no equal lines.
	if at >= len(c.records) || int(c.records[at].first) != at {
		at = sort.Search(len(c.records), func(i int) bool { return int(c.records[i].first) > at }) - 1
	}
	return c.parts(at)
}

// parts returns the parts of the i-th record.
func (c *chunk) parts(i int) (text, runs []byte, flags byte) {
	b := c.buf[c.records[i].at:]
	if i+1 < len(c.records) {
		b = c.buf[c.records[i].at:c.records[i+1].at]
	}
	n := len(b) - 1
	flags = b[n]
	if flags&linePlain != 0 {
		return b[:n], nil, flags
	}
	n -= 2
	from := n - int(binary.LittleEndian.Uint16(b[n:]))
	return b[:from], b[from:n], flags
}

// EachStyle calls f for every style used by a stored line.
func (h *Lines) EachStyle(f func(grid.StyleID)) {
	for _, c := range h.chunks {
		for i := range c.records {
			end := c.end
			if i+1 < len(c.records) {
				end = c.first + int64(c.records[i+1].first)
			}
			if end <= h.oldest {
				continue
			}
			_, runs, _ := c.parts(i)
			for len(runs) > 0 {
				style, _, _, used := readRun(runs)
				f(style)
				runs = runs[used:]
			}
		}
	}
}
