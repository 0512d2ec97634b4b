package history

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"tandem/engine/invariants"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
)

// check panics unless the chunks hold every line from the oldest to the last once, within the
// limits, and the counts match.
func (h *Lines) check() {
	size, next := 0, h.end
	if len(h.chunks) > 0 {
		next = h.chunks[0].first
	}
	for i, c := range h.chunks {
		if c.first != next || c == h.spare || len(c.lines) > chunkLines || len(c.lines) == 0 {
			invariants.Failf("chunk %d of %d has %d lines from %d on, but the previous one ends at %d", i, len(h.chunks), len(c.lines), c.first, next)
		}
		size, next = size+c.size(), c.end()
	}
	switch {
	case size != h.bytes:
		invariants.Failf("%d chunks have %d bytes, counted %d", len(h.chunks), size, h.bytes)
	case h.bytes > h.maxBytes && len(h.chunks) > 1:
		invariants.Failf("%d chunks have %d bytes; only %d are allowed", len(h.chunks), h.bytes, h.maxBytes)
	case next != h.end, h.oldest > h.end, h.end-h.oldest > int64(max(h.maxLines, 0)):
		invariants.Failf("lines %d to %d are kept, at most %d, but the chunks end at %d", h.oldest, h.end, h.maxLines, next)
	case len(h.chunks) == 0 && h.oldest != h.end, len(h.chunks) > 0 && h.oldest < h.chunks[0].first:
		invariants.Failf("lines are kept from %d on, but the chunks begin later", h.oldest)
	case len(h.chunks) > 0 && h.chunks[0].end() <= h.oldest && h.oldest != h.end:
		invariants.Failf("lines are kept from %d on, but a chunk ending at %d remains", h.oldest, h.chunks[0].end())
	}
	h.checkStrips()
}

// checkStrips checks the record of lines with pictures.
func (h *Lines) checkStrips() {
	if !slices.IsSorted(h.stripLines) || len(h.stripLines) > 0 && (h.stripLines[0] < h.oldest || h.stripLines[len(h.stripLines)-1] >= h.end) {
		invariants.Failf("lines %d to %d are kept, but pictures in %v", h.oldest, h.end, h.stripLines)
	}
	for n, s := range h.strips {
		if _, known := slices.BinarySearch(h.stripLines, n); !known || s == nil {
			invariants.Failf("pictures are kept of line %d, which is not in %v", n, h.stripLines)
		}
		graphics.CheckStrips(s, n)
	}
}

// check panics unless each line of the chunk unpacks to cells.
func (c *chunk) check() {
	at := uint32(0)
	for i, l := range c.lines {
		end := uint32(len(c.buf))
		if i+1 < len(c.lines) {
			end = c.lines[i+1].text
		}
		if l.text != at || l.runs < l.text || l.runs >= end || int(end) > len(c.buf) {
			invariants.Failf("line %d is at %d, with runs at %d and the next line at %d; the previous one ends at %d of %d", c.first+int64(i), l.text, l.runs, end, at, len(c.buf))
		}
		c.checkLine(i)
		at = end
	}
}

// checkLine panics unless the runs of line i cover all of its text according to their kinds.
func (c *chunk) checkLine(i int) {
	text, runs := c.line(i)
	if runs[0]&linePlain != 0 {
		if len(runs) != 1 || !utf8.Valid(text) {
			invariants.Failf("line %d is plain, but has runs %x and text %q", c.first+int64(i), runs, text)
		}
		return
	}
	for r := runs[1:]; len(r) > 0; {
		_, kind, size, used := readRun(r)
		if used <= 0 || used > len(r) || size <= 0 || size > len(text) || !utf8.Valid(text[:size]) {
			invariants.Failf("line %d has a run of kind %d and %d bytes, but only %q is left, in %x", c.first+int64(i), kind, size, text, runs)
		}
		r, text = r[used:], text[size:]
	}
	if len(text) != 0 {
		invariants.Failf("line %d has %q after its last run", c.first+int64(i), text)
	}
}

// checkPushed panics unless the last line unpacks to the cells it was packed from.
func (h *Lines) checkPushed(cells []grid.Cell, attrs Attrs, clusters []string) {
	h.checkChunks()
	// Of the next cell with an unpacked cluster.
	at := 0
	// Does not escape: a test counts the allocations of steady output.
	var scratch [1024]grid.Cell
	got, kept := h.Get(h.end-1, scratch[:0], func(text []byte) grid.Glyph {
		for at < len(cells)-1 && (cells[at].Glyph < grid.FirstCluster || cells[at].Glyph == grid.Tail) {
			at++
		}
		g := cells[at].Glyph
		at++
		if clusters[g-grid.FirstCluster] != string(text) {
			invariants.Failf("cluster %q was packed as %q", clusters[g-grid.FirstCluster], text)
		}
		return g
	})
	same := slices.EqualFunc(got, cells, func(a, b grid.Cell) bool {
		return a.Style == b.Style && (a.Glyph == b.Glyph || a.Empty() && b.Empty())
	})
	if !same || kept != attrs {
		invariants.Failf("line %d unpacks to %v %+v, but was %v %+v", h.end-1, append([]grid.Cell(nil), got...), kept, cells, attrs)
	}
}

// checkPushedText panics unless the last line contains text.
func (h *Lines) checkPushedText(text []byte, wrapped bool) {
	h.checkChunks()
	if got, attrs := h.LineText(h.end - 1); !bytes.Equal(got, text) || attrs != (Attrs{Wrapped: wrapped}) {
		invariants.Failf("line %d is %q %+v, and was %q", h.end-1, got, attrs, text)
	}
}

// checkChunks checks all chunks when a new one is started: a check after every line would make a
// long scrollback slow. Lines in the other chunks no longer change, except for the previous line.
func (h *Lines) checkChunks() {
	n := len(h.chunks)
	if len(h.chunks[n-1].lines) != 1 {
		return
	}
	h.check()
	if n > 1 {
		h.chunks[n-2].check()
	}
}
