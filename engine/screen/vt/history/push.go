package history

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt/grid"
)

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
	c := h.chunkFor(utf8.UTFMax*len(cells), 1)
	before, at := c.size(), len(c.buf)
	c.buf, h.runs = packText(c.buf, h.runs[:0], cells, clusters)
	flags := byte(attrs.Size)<<lineSizeShift | byte(attrs.Mark)<<lineMarkShift
	if attrs.Wrapped {
		flags |= lineWrapped
	}
	c.finishLine(h.runs, flags)
	c.addRecord(at, 1)
	h.noteAdded(c, 1, before)
	if invariants.Enabled {
		h.checkPushed(cells, attrs, clusters)
	}
}

// PushText appends a line of printable ASCII in the default style n times, without trailing spaces.
func (h *Lines) PushText(text []byte, n int) {
	h.runs = h.runs[:0]
	h.pushText(bytes.TrimRight(text, " "), 0, n)
}

// PushWrapped appends a line of printable ASCII in the default style that continues in the next.
func (h *Lines) PushWrapped(text []byte) {
	h.runs = h.runs[:0]
	h.pushText(text, lineWrapped, 1)
}

// A Segment is a part of a line whose characters have the same width, of one or two cells.
type Segment struct {
	Size uint16 // bytes
	Wide bool
}

// PushSegments appends a line of several segments in the default style. One that does not continue
// in the next line loses its trailing spaces.
func (h *Lines) PushSegments(text []byte, segments []Segment, wrapped bool) {
	flags := byte(lineWrapped)
	if !wrapped {
		flags, text = 0, bytes.TrimRight(text, " ")
	}
	h.runs = h.runs[:0]
	at := 0
	for _, s := range segments {
		size := min(int(s.Size), len(text)-at)
		at += size
		switch {
		case s.Wide:
			h.runs = appendRun(h.runs, 0, runWide, size)
		case size > 0 && size < len(text):
			h.runs = appendRun(h.runs, 0, runNarrow, size)
		}
	}
	h.pushText(text, flags, 1)
}

// pushText appends a line with the runs in h.runs n times.
func (h *Lines) pushText(text []byte, flags byte, n int) {
	if h.maxLines <= 0 {
		h.end += int64(n)
		h.oldest = h.end
		return
	}
	c := h.chunkFor(len(text)+len(h.runs), n)
	before, at := c.size(), len(c.buf)
	c.buf = append(c.buf, text...)
	c.finishLine(h.runs, flags)
	c.addRecord(at, n)
	h.noteAdded(c, n, before)
	if invariants.Enabled {
		h.checkPushedText(text, flags, n)
	}
}

// finishLine appends the runs and flags of a line after its text. One without runs is plain.
func (c *chunk) finishLine(runs []byte, flags byte) {
	if len(runs) == 0 {
		c.buf = append(c.buf, flags|linePlain)
		return
	}
	c.buf = append(c.buf, runs...)
	c.buf = append(binary.LittleEndian.AppendUint16(c.buf, uint16(len(runs))), flags)
}

// addRecord adds n lines with the bytes from offset at. If the last record has equal bytes, it
// counts these lines too. Wrapped lines have a record each, because UnwrapLast changes a single
// one.
func (c *chunk) addRecord(at, n int) {
	first := c.end - c.first
	c.end += int64(n)
	if last := len(c.records) - 1; last >= 0 && c.buf[len(c.buf)-1]&lineWrapped == 0 && bytes.Equal(c.buf[c.records[last].at:at], c.buf[at:]) {
		c.buf = c.buf[:at]
		return
	}
	c.records = append(c.records, record{uint16(first), uint16(at)})
}

// noteAdded records that n lines were added to chunk c. before is the size of the chunk without
// them, in bytes.
func (h *Lines) noteAdded(c *chunk, n, before int) {
	h.end += int64(n)
	h.bytes += c.size() - before
	h.trim()
}
