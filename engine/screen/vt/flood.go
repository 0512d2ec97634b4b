package vt

import (
	"bytes"
	"unicode/utf8"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/charset"
	"tandem/engine/screen/vt/history"
	"tandem/engine/screen/vt/scan"
	"tandem/engine/screen/vt/simple"
)

// A build or a large cat prints thousands of lines in one go, most of which nobody can see: they
// enter at the bottom and leave at the top before the screen is drawn. If a Write has at least two
// screens of plain lines and nothing unusual is set, all but the last screen of them skip the cells
// and go straight to the scrollback, equal ones in one step. A line is plain if it consists of
// simple characters in the default style; one with characters beyond ASCII is measured first. The
// result must be the same as if each line had been printed, including line numbers and versions for
// diffs; a property test compares the two.

// pushPlainLines handles the plain lines at the start of p that would appear and scroll off again
// before p ends: it sends them to the scrollback directly, many times faster than printing them, or
// drops them where scrolling keeps nothing. It returns the number of bytes handled, and the offset
// from where another call may pay off.
func (t *writer) pushPlainLines(p []byte) (used, from int) {
	region := t.page.region
	above := region.Bottom - region.Top
	if above == 0 || !t.canPushLines() {
		return 0, 0
	}
	rows, end := t.countPlainRows(p)
	// A short run gains nothing. The caller skips past it instead of counting it again.
	if rows < 2*(above+1) {
		return 0, end
	}
	if region.Top == 0 && t.store.scr == t.store.main {
		// The rows on screen are older than the pushed lines, so they go first.
		t.store.pushRows(above)
		t.store.notePushed(rows - above)
		used = t.pushPlainRows(&t.store.hist, p, rows-above)
	} else {
		used = t.pushPlainRows(&history.Lines{}, p, rows-above) // keeps no lines
		t.store.unwrapRow(region.Top - 1)
	}
	t.store.scr.grid.Scroll(region, above, 0)
	t.page.moveRows(region.Top, region.Bottom, above)
	t.store.touchRows(region.Top, t.store.rows-1)
	t.page.cur.y = region.Top // the remaining lines start here
	return used, end
}

// notePushed records n lines of this epoch, about to be numbered from hist.End.
func (t *store) notePushed(n int) {
	size := len(t.scrolledVersions)
	at := int(t.hist.End() % int64(size))
	for range min(n, size) {
		t.lostVersion = max(t.lostVersion, t.scrolledVersions[at])
		t.scrolledVersions[at] = t.epoch
		if at++; at == size {
			at = 0
		}
	}
	if n > size {
		t.lostVersion = t.epoch
	}
}

// pushPlainRows pushes the first n rows of the plain lines in p to a scrollback, and returns their
// length.
func (t *writer) pushPlainRows(to *history.Lines, p []byte, n int) (used int) {
	measured, segments := t.store.measured.rows, t.store.measured.segments
	for n > 0 {
		if len(measured) > 0 && int(measured[0].at) == used {
			row := measured[0]
			to.PushSegments(p[used:used+int(row.size)], segments[:row.segments], row.wrapped)
			measured, segments = measured[1:], segments[row.segments:]
			used += row.length()
			n--
			continue
		}
		line := bytes.IndexByte(p[used:], '\r')
		for ; line > t.store.cols && n > 0; n-- {
			to.PushWrapped(p[used : used+t.store.cols])
			used += t.store.cols
			line -= t.store.cols
		}
		if n == 0 {
			break
		}
		size := line + len("\r\n")
		times := min(countRepeats(p[used:], size), n, history.MaxRepeats)
		to.PushText(p[used:used+line], times)
		used += times * size
		n -= times
	}
	return used
}

// countRepeats counts how often the first line of p occurs in a row at the start of p. n is the
// length of the line, with its line feed.
func countRepeats(p []byte, n int) int {
	if len(p) < 2*n || p[2*n-1] != '\n' { // most lines differ in length from the next
		return 1
	}
	return 1 + scan.CommonLen(p, p[n:])/n
}

// countPlainRows counts the rows taken by the lines of simple characters at the start of p, and
// returns the offset after the last. Rows beyond ASCII are in store.measured.
func (t *writer) countPlainRows(p []byte) (rows, end int) {
	m := &t.store.measured
	m.rows, m.segments = m.rows[:0], m.segments[:0]
	for {
		n := scan.PrintableLen(p[end:])
		if end+n < len(p) && p[end+n] >= utf8.RuneSelf {
			each, size := t.measureLine(p, end)
			if size == 0 {
				return rows, end
			}
			rows += each
			end += size
			continue
		}
		if !bytes.HasPrefix(p[end+n:], []byte("\r\n")) {
			return rows, end
		}
		each := 1
		if n > t.store.cols {
			if !t.page.mode.autowrap {
				return rows, end
			}
			each += (n - 1) / t.store.cols
		}
		n += len("\r\n")
		times := countRepeats(p[end:], n)
		rows += times * each
		end += times * n
	}
}

// maxMeasured is how many rows are measured at a time, unless the screen is very tall.
const maxMeasured = 256

// A measuredRow is a row of plain text that is not all ASCII.
type measuredRow struct {
	at, size int32 // in bytes
	segments int32
	wrapped  bool
}

// length returns the row's size with the line's end.
func (r measuredRow) length() int {
	if r.wrapped {
		return int(r.size)
	}
	return int(r.size) + len("\r\n")
}

// measureLine measures the line of simple characters at an offset of p. It returns its rows and its
// length with the line's end; 0 if there is something else in it, or too much was measured.
func (t *writer) measureLine(p []byte, at int) (rows, size int) {
	m := &t.store.measured
	if len(m.rows) >= max(maxMeasured, 3*t.store.rows) {
		return 0, 0
	}
	rowsBefore := len(m.rows)
	for end := at; ; {
		var n int
		segmentsBefore := len(m.segments)
		n, m.segments = simple.MeasureRow(p[end:], t.store.cols, m.segments)
		m.rows = append(m.rows, measuredRow{at: int32(end), size: int32(n), segments: int32(len(m.segments) - segmentsBefore), wrapped: true})
		end += n
		rows++
		if bytes.HasPrefix(p[end:], []byte("\r\n")) {
			m.rows[len(m.rows)-1].wrapped = false
			return rows, end + len("\r\n") - at
		}
		// A row ends before another simple character only because it is full.
		if n == 0 || !t.page.mode.autowrap || end == len(p) || !simple.StartsWith(p[end:]) {
			m.rows = m.rows[:rowsBefore]
			return 0, 0
		}
	}
}

// canPushLines reports whether pushPlainLines may replace printing: the cursor is at the start of
// the empty last row of a region as wide as the screen, so that a line feed scrolls it, and printed
// text is unstyled.
func (t *writer) canPushLines() bool {
	row := &t.store.scr.rows[t.page.cur.y]
	switch {
	case t.store.scr.strips != nil,
		t.page.cur.x != 0 || t.page.cur.y != t.page.region.Bottom || t.page.cur.pending,
		row.used != 0 || row.size != styled.SingleSize || row.mark != 0,
		t.page.region.Left != 0 || t.page.region.Right != t.store.cols-1,
		t.page.mode.insert || t.page.cur.single != 0 || t.page.cur.g[t.page.cur.gl] != charset.ASCII:
		return false
	}
	return t.page.penID() == 0
}
