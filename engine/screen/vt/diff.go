package vt

import (
	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// Viewers receive state, not output: a diff has the rows changed since the viewer's last state, so
// a slow viewer skips what came in between. Each row records the epoch of its last change, and each
// diff starts a new epoch. Rows scrolled off keep their version in a ring (scrolledVersions) of
// twice the screen's height, so a viewer also gets the final text of rows it last saw on screen.
// After versions have been overwritten in the ring, a viewer older than lostVersion may have missed
// changes. It then gets the lines of its old screen again or, if that diff is no longer remembered,
// everything.

// A Diff updates a viewer from one state to the next.
type Diff struct {
	Seq    uint64 // identifies the state after this diff
	Full   bool   // discard all held lines; Lines has the whole screen
	Cols   int
	Rows   int
	Oldest int64
	First  int64
	Lines  []styled.NumberedLine // changed rows, and changed lines above the screen
	Cursor styled.Cursor
	Modes  Modes
	Title  string
	Bells  uint32 // bells since the start
}

// A diffRecord remembers the top row's number when a diff was taken.
type diffRecord struct {
	seq   uint64
	first int64
}

// maxKeptDiffs is how many diffs are remembered. A viewer further back gets a full diff if much has
// scrolled off.
const maxKeptDiffs = 64

// Diff returns the changes since the state of an earlier Diff's Seq; 0 asks for everything. Of the
// lines scrolled off since, it includes those from the viewer's screen and at most twice the
// screen's rows of newer ones; the rest must be fetched with Lines.
func (t *Terminal) Diff(since uint64) Diff {
	d := Diff{
		Seq: t.store.epoch, Cols: t.store.cols, Rows: t.store.rows,
		Oldest: t.store.hist.Oldest(), First: t.store.hist.End(),
		Cursor: t.Cursor(), Modes: t.Modes(), Title: t.host.title, Bells: t.host.bells,
	}
	first, known := t.store.topRowAt(since)
	d.Full = since == 0 || since < t.store.fullSeq || since >= t.store.epoch || since < t.store.lostVersion && !known
	if !d.Full {
		d.Lines = t.store.changedScrollback(since, first)
	}
	for y := range t.store.rows {
		if d.Full || t.store.scr.rows[y].version > since {
			d.Lines = append(d.Lines, styled.NumberedLine{N: t.store.hist.End() + int64(y), Line: t.store.screenLine(y)})
		}
	}
	t.store.taken[t.store.epoch%maxKeptDiffs] = diffRecord{t.store.epoch, t.store.hist.End()}
	if invariants.Enabled {
		t.store.recordReported()
	}
	// Later changes must be newer than this diff.
	t.store.epoch++
	return d
}

// topRowAt returns the top row's number when diff seq was taken. known is false if that is
// forgotten.
func (t *store) topRowAt(seq uint64) (first int64, known bool) {
	d := t.taken[seq%maxKeptDiffs]
	return d.first, d.seq == seq
}

// changedScrollback returns the scrollback lines missing or out of date for a viewer whose state is
// version and whose screen started with line first. Lines above first no longer change, except the
// one before it, which may lose its continuation.
func (t *store) changedScrollback(version uint64, first int64) []styled.NumberedLine {
	var lines []styled.NumberedLine
	size := int64(len(t.scrolledVersions))
	recent := max(t.hist.Oldest(), t.hist.End()-size)
	if version < t.lostVersion {
		// Versions this old were overwritten in the ring, so every line of the viewer's screen may have
		// changed.
		for n := max(t.hist.Oldest(), first-1); n < min(first+int64(t.rows), recent); n++ {
			lines = append(lines, t.scrollbackLine(n))
		}
	}
	for n := recent; n < t.hist.End(); n++ {
		if t.scrolledVersions[n%size] > version {
			lines = append(lines, t.scrollbackLine(n))
		}
	}
	return lines
}

// screenLine returns row y of the current screen.
func (t *store) screenLine(y int) styled.Line {
	return t.buildLine(t.scr.grid.Row(y), t.scr.rowAttrs(y))
}

// scrollbackLine returns line n of the scrollback.
func (t *store) scrollbackLine(n int64) styled.NumberedLine {
	var attrs history.Attrs
	t.cells, attrs = t.hist.Get(n, t.cells[:0], t.internCluster)
	return styled.NumberedLine{N: n, Line: t.buildLine(t.cells, attrs)}
}

func (t *store) internCluster(b []byte) grid.Glyph {
	return grid.FirstCluster + grid.Glyph(t.clusters.intern(b))
}

// Lines returns up to n lines starting at absolute line number from; the scrollback and the screen
// are one sequence. It skips lines no longer kept.
func (t *Terminal) Lines(from int64, n int) []styled.NumberedLine {
	oldest, _, end := t.Bounds()
	// Compared this way, because from+n could overflow.
	if gone := oldest - int64(max(n, 0)); n <= 0 || from >= end || from <= gone {
		return nil
	}
	if from < oldest {
		n, from = n-int(oldest-from), oldest
	}
	end = from + min(int64(n), end-from)
	var lines []styled.NumberedLine
	for i := from; i < end; i++ {
		if i < t.store.hist.End() {
			lines = append(lines, t.store.scrollbackLine(i))
		} else {
			lines = append(lines, styled.NumberedLine{N: i, Line: t.store.screenLine(int(i - t.store.hist.End()))})
		}
	}
	return lines
}

// Bounds returns the oldest line kept, the line number of the screen's top row, and the number
// after the last row.
func (t *Terminal) Bounds() (oldest, first, end int64) {
	return t.store.hist.Oldest(), t.store.hist.End(), t.store.hist.End() + int64(t.store.rows)
}

// Text returns the current screen without styles: rows without trailing spaces, joined with
// newlines.
func (t *Terminal) Text() string {
	var b []byte
	for y := range t.store.rows {
		if y > 0 {
			b = append(b, '\n')
		}
		from := len(b)
		for _, c := range t.store.scr.grid.Row(y) {
			b = t.store.appendGlyph(b, c.Glyph)
		}
		for len(b) > from && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
	}
	return string(b)
}
