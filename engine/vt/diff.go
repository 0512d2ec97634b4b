package vt

import (
	"tandem/engine/invariants"
	"tandem/engine/styled"
	"tandem/engine/vt/grid"
	"tandem/engine/vt/history"
)

// A Diff takes a viewer from one state to the next.
type Diff struct {
	Seq    uint64 // names the state after this diff
	Full   bool   // forget all lines held; Lines has the whole screen
	Cols   int
	Rows   int
	Oldest int64
	First  int64
	Lines  []styled.NumberedLine // changed rows, and lines that scrolled off changed
	Cursor styled.Cursor
	Modes  Modes
	Title  string
	Bells  uint32 // bells so far
}

// A diffTaken remembers where the screen was when a diff was taken.
type diffTaken struct {
	seq   uint64
	first int64
}

// keptDiffs is how many diffs are remembered. A viewer that is further behind
// gets a full diff when much has scrolled off.
const keptDiffs = 64

// Diff tells what changed since the state that an earlier Diff's Seq names; 0
// asks for everything. Of the lines that scrolled off meanwhile, it has those
// that were on the viewer's screen, and at most twice the screen's rows of the
// newer ones; the others have to be asked for.
func (t *Terminal) Diff(since uint64) Diff {
	d := Diff{
		Seq: t.epoch, Cols: t.cols, Rows: t.rows,
		Oldest: t.hist.Oldest(), First: t.hist.End(),
		Cursor: t.Cursor(), Modes: t.Modes(), Title: t.title, Bells: t.bells,
	}
	first, known := t.firstAt(since)
	d.Full = since == 0 || since < t.fullSeq || since >= t.epoch || since < t.goneLost && !known
	if !d.Full {
		d.Lines = t.leftSince(since, first)
	}
	for y := range t.rows {
		if d.Full || t.scr.rows[y].version > since {
			d.Lines = append(d.Lines, styled.NumberedLine{N: t.hist.End() + int64(y), Line: t.row(y)})
		}
	}
	t.taken[t.epoch%keptDiffs] = diffTaken{t.epoch, t.hist.End()}
	if invariants.Enabled {
		t.noteTold()
	}
	t.epoch++
	return d
}

// firstAt is the top row's number when a diff was taken.
func (t *store) firstAt(seq uint64) (first int64, known bool) {
	d := t.taken[seq%keptDiffs]
	return d.first, d.seq == seq
}

// leftSince gives the lines in the scrollback that a viewer whose screen began
// with line first does not have as they are. Lines above first change no more,
// but for the one before it, which may have been cut off.
func (t *store) leftSince(since uint64, first int64) []styled.NumberedLine {
	var lines []styled.NumberedLine
	size := int64(len(t.gone))
	recent := max(t.hist.Oldest(), t.hist.End()-size)
	if since < t.goneLost {
		for n := max(t.hist.Oldest(), first-1); n < min(first+int64(t.rows), recent); n++ {
			lines = append(lines, t.kept(n))
		}
	}
	for n := recent; n < t.hist.End(); n++ {
		if t.gone[n%size] > since {
			lines = append(lines, t.kept(n))
		}
	}
	return lines
}

// row gives a row of the screen shown.
func (t *store) row(y int) styled.Line {
	return t.line(t.scr.grid.Row(y), t.scr.attrs(y))
}

// kept gives a line of the scrollback.
func (t *store) kept(n int64) styled.NumberedLine {
	var attrs history.Attrs
	t.cells, attrs = t.hist.Get(n, t.cells[:0], t.internCluster)
	return styled.NumberedLine{N: n, Line: t.line(t.cells, attrs)}
}

func (t *store) internCluster(b []byte) grid.Glyph {
	return grid.FirstCluster + grid.Glyph(t.clusters.id(b))
}

// Lines gives up to n lines from absolute line number from on; scrollback and
// screen are one sequence. Lines that are gone are left out.
func (t *store) Lines(from int64, n int) []styled.NumberedLine {
	oldest, _, end := t.Bounds()
	if gone := oldest - int64(max(n, 0)); n <= 0 || from >= end || from <= gone {
		return nil
	}
	if from < oldest {
		n, from = n-int(oldest-from), oldest
	}
	end = from + min(int64(n), end-from)
	var lines []styled.NumberedLine
	for i := from; i < end; i++ {
		if i < t.hist.End() {
			lines = append(lines, t.kept(i))
		} else {
			lines = append(lines, styled.NumberedLine{N: i, Line: t.row(int(i - t.hist.End()))})
		}
	}
	return lines
}

// Bounds are the first line still kept, the line number of the screen's top
// row, and the number behind the last row.
func (t *store) Bounds() (oldest, first, end int64) {
	return t.hist.Oldest(), t.hist.End(), t.hist.End() + int64(t.rows)
}

// Text is the screen shown without styles, rows without trailing spaces and
// joined with newlines.
func (t *store) Text() string {
	var b []byte
	for y := range t.rows {
		if y > 0 {
			b = append(b, '\n')
		}
		from := len(b)
		for _, c := range t.scr.grid.Row(y) {
			b = t.appendGlyph(b, c.Glyph)
		}
		for len(b) > from && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
	}
	return string(b)
}
