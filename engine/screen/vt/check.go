package vt

import (
	"slices"
	"unicode/utf8"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// Larger states are checked only now and then, so that tests of large screens and long
// histories take at most about twice as long.
const (
	checkedCells   = 512
	checkedEntries = 256
)

// check panics if the terminal is in a state no input may lead to.
func (t *writer) check() {
	if n := t.store.cols * t.store.rows; n > checkedCells && !invariants.Sometimes("check of a large screen", n/checkedCells) {
		return
	}
	t.checkPage()
	for _, s := range [...]*screen{t.store.main, t.store.alt} {
		if s != nil {
			t.store.checkScreen(s)
		}
	}
	t.store.checkEpochs()
	if n := len(t.store.styles.pens) + len(t.store.links.text) + len(t.store.clusters.text); invariants.Sometimes("check of the tables", 1+n/checkedEntries) {
		t.store.checkTables()
	}
	if n := int(t.store.hist.End() - t.store.hist.Oldest()); invariants.Sometimes("check of the scrollback's styles", 1+n/checkedEntries) {
		t.store.hist.EachStyle(t.store.checkStyle)
	}
	if t.store.reported != nil && t.store.reported.seq >= t.store.fullSeq {
		t.store.checkReported()
	}
}

// checkPage checks the cursor, the pen, the margins and the tab stops.
func (t *writer) checkPage() {
	cur, r := &t.page.cur, &t.page.region
	switch {
	case t.store.scr == nil, t.store.scr != t.store.main && t.store.scr != t.store.alt:
		invariants.Failf("the screen shown is neither the main nor the alternate one")
	case cur.y < 0, cur.y >= t.store.rows, cur.x < 0, cur.x > t.store.scr.rows[cur.y].lastColumn(t.store.cols):
		invariants.Failf("the cursor is at %d,%d on a screen of %d × %d", cur.x, cur.y, t.store.cols, t.store.rows)
	case cur.pending && cur.x != t.page.rightLimit() && t.page.mode.leftRight: // otherwise it may be at an earlier margin (xterm)
		invariants.Failf("a wrap is pending in column %d, but the last column is %d", cur.x, t.page.rightLimit())
	case r.Left < 0, r.Left > r.Right, r.Right >= t.store.cols, r.Top < 0, r.Top > r.Bottom, r.Bottom >= t.store.rows:
		invariants.Failf("margins %+v on a screen of %d × %d", *r, t.store.cols, t.store.rows)
	case !t.page.mode.leftRight && (r.Left != 0 || r.Right != t.store.cols-1):
		invariants.Failf("margins %+v on a screen of %d columns without DECLRMM", *r, t.store.cols)
	case len(t.page.tabs) != t.store.cols:
		invariants.Failf("%d tab stops for %d columns", len(t.page.tabs), t.store.cols)
	}
	t.store.checkStyle(t.page.penStyle)
	if !t.page.penChanged && t.store.styles.pens[t.page.penStyle] != cur.pen {
		invariants.Failf("style %d is %+v, but the pen is %+v", t.page.penStyle, t.store.styles.pens[t.page.penStyle], cur.pen)
	}
	t.store.checkGlyph(t.last.Glyph)
	t.store.checkLink(cur.pen)
}

// checkScreen checks the cells of a screen and its row states.
func (t *store) checkScreen(s *screen) {
	grid.Check(s.grid)
	graphics.CheckRows(s.strips, t.rows)
	t.checkLink(s.saved.pen)
	switch saved := &s.saved; {
	case len(s.rows) != t.rows:
		invariants.Failf("%d rows for a screen of %d", len(s.rows), t.rows)
	case saved.x < 0, saved.x >= t.cols, saved.y < 0, saved.y >= t.rows:
		invariants.Failf("the saved cursor is at %d,%d on a screen of %d × %d", saved.x, saved.y, t.cols, t.rows)
	}
	for y := range s.rows {
		t.checkRow(y, s.grid.Row(y), &s.rows[y])
	}
}

func (t *store) checkRow(y int, cells []grid.Cell, row *rowState) {
	switch {
	case len(cells) != t.cols, row.used < 0, int(row.used) > t.cols, row.wide < 0, int(row.wide) > t.cols,
		row.version > t.epoch, row.wrapped && row.size != styled.SingleSize:
		invariants.Failf("row %d has %d cells, on a screen of %d columns in epoch %d: %+v", y, len(cells), t.cols, t.epoch, *row)
	case len(trimBlank(cells)) > int(row.used):
		invariants.Failf("row %d is used up to column %d, but is not blank up to %d", y, row.used, len(trimBlank(cells)))
	}
	for x, c := range cells {
		t.checkStyle(c.Style)
		if c.Glyph != grid.Tail {
			t.checkGlyph(c.Glyph)
			continue
		}
		if x == 0 || x >= int(row.wide) || cells[x-1].Empty() || cells[x-1].Glyph == grid.Tail || cells[x-1].Style != c.Style {
			invariants.Failf("row %d has half a cluster in column %d, with wide ones before %d: %v", y, x, row.wide, cells)
		}
	}
}

// checkEpochs checks the versions of changes above the screen for the next diff.
func (t *store) checkEpochs() {
	if t.lostVersion > t.epoch || t.fullSeq > t.epoch || len(t.scrolledVersions) != 2*t.rows || slices.Max(t.scrolledVersions) > t.epoch {
		invariants.Failf("epoch %d of %d rows: lostVersion %d, fullSeq %d, scrolledVersions %v", t.epoch, t.rows, t.lostVersion, t.fullSeq, t.scrolledVersions)
	}
}

// checkStyle panics if a style is not interned.
func (t *store) checkStyle(id grid.StyleID) {
	if int(id) >= len(t.styles.pens) || id != 0 && t.styles.pens[id] == (pen{}) {
		invariants.Failf("style %d of %d is not interned", id, len(t.styles.pens))
	}
}

// checkGlyph panics if a glyph is invalid.
func (t *store) checkGlyph(g grid.Glyph) {
	switch {
	case g == 0 || g >= ' ' && g < 0x7F:
	case g >= grid.FirstCluster && t.clusters.has(uint32(g-grid.FirstCluster)):
	case g >= 0xA0 && g < grid.FirstCluster && utf8.ValidRune(rune(g)):
	default:
		invariants.Failf("glyph %#x is neither a character nor one of the %d clusters", uint32(g), len(t.clusters.text))
	}
}

func (t *store) checkLink(p pen) {
	if !t.links.has(p.link) {
		invariants.Failf("pen %+v has link %d of %d, which is not interned", p, p.link, len(t.links.text))
	}
}

func (t *store) checkTables() {
	t.styles.check()
	t.links.check("link")
	t.clusters.check("cluster")
	for _, p := range t.styles.pens {
		t.checkLink(p)
	}
}

func (s *styleTable) check() {
	n := 0
	for i := range s.pens {
		if s.pens[i] == (pen{}) {
			continue
		}
		n++
		id := *s.chainHead(&s.pens[i])
		for ; id != 0 && id != grid.StyleID(i); id = s.next[id] {
			if s.pens[id] == s.pens[i] {
				invariants.Failf("styles %d and %d are the same: %+v", id, i, s.pens[i])
			}
		}
		if id == 0 {
			invariants.Failf("style %d is not in the chain of its hash", i)
		}
	}
	if n != s.n || 1+n+len(s.free) != len(s.pens) || len(s.next) != len(s.pens) {
		invariants.Failf("%d styles are interned, but %d are counted; %d of %d are free", n, s.n, len(s.free), len(s.pens))
	}
	for _, id := range s.free {
		if s.pens[id] != (pen{}) {
			invariants.Failf("style %d is free and in use: %+v", id, s.pens[id])
		}
	}
}

// has reports whether number id is in use.
func (s *stringTable) has(id uint32) bool {
	return id == 0 || int(id) < len(s.text) && s.text[id] != ""
}

func (s *stringTable) check(what string) {
	bytes := 0
	for text, id := range s.ids {
		if id == 0 || int(id) >= len(s.text) || s.text[id] != text {
			invariants.Failf("%s %q has the wrong number %d", what, text, id)
		}
		bytes += len(text)
	}
	if bytes != s.bytes || 1+len(s.ids)+len(s.free) != len(s.text) {
		invariants.Failf("%ss of %d bytes, counted %d; %d in use, %d free, of %d", what, bytes, s.bytes, len(s.ids), len(s.free), len(s.text))
	}
}

// reportedRows are the rows of the screen when a diff was taken.
type reportedRows struct {
	seq   uint64
	first int64 // number of the top row
	rows  []reportedRow
}

type reportedRow struct {
	cells []grid.Cell
	attrs history.Attrs
}

// recordReported saves the rows of the diff being taken.
func (t *store) recordReported() {
	reported := &reportedRows{seq: t.epoch, first: t.hist.End()}
	for y := range t.rows {
		reported.rows = append(reported.rows, reportedRow{slices.Clone(t.scr.grid.Row(y)), t.scr.rowAttrs(y)})
	}
	t.reported = reported
}

// checkReported panics if a row differs from the last diff without being marked as changed: the
// next diff would leave it out.
func (t *store) checkReported() {
	for y := range t.rows {
		if t.scr.rows[y].version > t.reported.seq {
			continue
		}
		n := t.hist.End() + int64(y) - t.reported.first
		if n < 0 || n >= int64(len(t.reported.rows)) {
			invariants.Failf("row %d was not on the screen of diff %d, but is not marked as changed", y, t.reported.seq)
		}
		old := &t.reported.rows[n]
		if cells := t.scr.grid.Row(y); !slices.Equal(cells, old.cells) || t.scr.rowAttrs(y) != old.attrs {
			invariants.Failf("row %d has changed since diff %d, but is not marked: %v %+v, was %v %+v",
				y, t.reported.seq, cells, t.scr.rowAttrs(y), old.cells, old.attrs)
		}
	}
}
