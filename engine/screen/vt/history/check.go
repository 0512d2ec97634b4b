package history

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
)

// check panics unless the chunks hold every line from the oldest to the last once, within the
// limits, and the counts match.
func (h *Lines) check() {
	size, next := 0, h.end
	if len(h.chunks) > 0 {
		next = h.chunks[0].first
	}
	for i, c := range h.chunks {
		if c.first != next || c == h.spare || c.end <= c.first || c.end-c.first > chunkLines || len(c.records) > chunkRecords {
			invariants.Failf("chunk %d of %d has lines %d to %d in %d records, but the previous one ends at %d", i, len(h.chunks), c.first, c.end, len(c.records), next)
		}
		size, next = size+c.size(), c.end
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
	case len(h.chunks) > 0 && h.chunks[0].end <= h.oldest && h.oldest != h.end:
		invariants.Failf("lines are kept from %d on, but a chunk ending at %d remains", h.oldest, h.chunks[0].end)
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

// check panics unless the records of the chunk divide its lines and its bytes, and each unpacks to
// cells.
func (c *chunk) check() {
	for i, r := range c.records {
		first, from := -1, -1
		if i > 0 {
			first, from = int(c.records[i-1].first), int(c.records[i-1].at)
		}
		if int(r.first) <= first || int(r.at) <= from || i == 0 && r != (record{}) || int64(r.first) >= c.end-c.first || int(r.at) >= len(c.buf) {
			invariants.Failf("record %d has lines from %d on at %d, but the previous one from %d on at %d, of %d lines and %d bytes", i, r.first, r.at, first, from, c.end-c.first, len(c.buf))
		}
	}
	for i := range c.records {
		c.checkRecord(i)
	}
}

// checkRecord panics unless the runs of record i cover all of its text according to their kinds.
func (c *chunk) checkRecord(i int) {
	text, runs, flags := c.parts(i)
	if !utf8.Valid(text) || flags&linePlain == 0 && len(runs) == 0 && len(text) > 0 {
		invariants.Failf("record %d has flags %x, runs %x and text %q", i, flags, runs, text)
	}
	if flags&linePlain != 0 {
		return
	}
	for r := runs; len(r) > 0; {
		_, kind, size, used := readRun(r)
		if used <= 0 || used > len(r) || size <= 0 || size > len(text) || !utf8.Valid(text[:size]) {
			invariants.Failf("record %d has a run of kind %d and %d bytes, but only %q is left, in %x", i, kind, size, text, runs)
		}
		r, text = r[used:], text[size:]
	}
	if len(text) != 0 {
		invariants.Failf("record %d has %q after its last run", i, text)
	}
}

// checkPushed panics unless the last line unpacks to the cells it was packed from.
func (h *Lines) checkPushed(cells []grid.Cell, attrs Attrs, clusters []string) {
	h.checkChunks(1)
	// Of the next cell with an unpacked cluster.
	at := 0
	// scratch must not escape, because a test counts the allocations of steady output.
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

// checkPushedText panics unless the last n lines contain text.
func (h *Lines) checkPushedText(text []byte, flags byte, n int) {
	h.checkChunks(n)
	for _, line := range [...]int64{max(h.end-int64(n), h.oldest), h.end - 1} {
		if got, attrs := h.LineText(line); !bytes.Equal(got, text) || attrs != parseAttrs(flags) {
			invariants.Failf("line %d is %q %+v, and was %q", line, got, attrs, text)
		}
	}
}

// checkChunks checks all chunks when a new one is started, here with n lines: a check after every
// line would make a long scrollback slow. Lines in the other chunks no longer change, except for the
// previous line.
func (h *Lines) checkChunks(n int) {
	last := len(h.chunks) - 1
	if c := h.chunks[last]; c.end-c.first != int64(n) {
		return
	}
	h.check()
	if last > 0 {
		h.chunks[last-1].check()
	}
}
