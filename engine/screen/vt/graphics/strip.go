package graphics

import (
	"slices"

	"tandem/engine/screen/styled"
)

// A picture is stored as strips: for each row it covers, the columns of the placement visible
// there. A strip belongs to its row and moves along with it, by scrolling, into the scrollback and
// through a resize, without any bookkeeping per picture. Text cuts strips as it overwrites cells. A
// list of placements with positions would have to change with every scroll, and could not describe
// a picture after lines in its middle were deleted. Strips are immutable and shared, so rows can be
// copied and compared by pointer.

// rowStrips is the maximum number of strips in a row. The oldest are dropped first.
const rowStrips = 32

// A Placement is a picture on a screen.
type Placement struct {
	styled.Placement
	image *Image
	id    uint32 // set by the program; 0 for none
	text  bool   // behaves like text, as sixels do: printing or erasing replaces it
}

// A strip is the part of a placement in one row.
type strip struct {
	at       *Placement
	row, x   int16 // row of the placement; the placement's first column on screen
	from, to int16 // visible columns
}

// isInside reports whether the strip lies inside its placement, which may be nil.
func (s strip) isInside() bool {
	return s.at != nil && s.x <= s.from && s.from < s.to && int(s.to) <= int(s.x)+s.at.Cols && 0 <= s.row && int(s.row) < s.at.Rows
}

func (s strip) covers(x int) bool { return int(s.from) <= x && x < int(s.to) }

// Strips are the picture parts in one row, in the order of their placement. They move with the row,
// into the scrollback too, so a picture needs no position of its own. Strips are immutable. A nil
// *Strips is a row without pictures.
type Strips struct{ all []strip }

// With returns the strips with one more: a row of placement p starting in column x.
func (s *Strips) With(p *Placement, row, x int) *Strips {
	return s.withStrip(strip{p, int16(row), int16(x), int16(x), int16(x + p.Cols)})
}

func (s *Strips) withStrip(one strip) *Strips {
	var all []strip
	if s != nil {
		all = s.all[max(len(s.all)+1-rowStrips, 0):]
	}
	return &Strips{append(slices.Clip(all), one)}
}

// Without returns the strips without text-like pictures between two columns: it includes from and
// excludes to.
func (s *Strips) Without(from, to int) *Strips {
	a, b := int16(from), int16(to)
	// Usually nothing overlaps. Returning s itself tells the caller that nothing changed.
	if !slices.ContainsFunc(s.all, func(one strip) bool { return one.at.text && one.from < b && a < one.to }) {
		return s
	}
	var left []strip
	for _, one := range s.all {
		if !one.at.text || one.from >= b || a >= one.to {
			left = append(left, one)
			continue
		}
		if one.from < a {
			before := one
			before.to = a
			left = append(left, before)
		}
		if one.to > b {
			one.from = b
			left = append(left, one)
		}
	}
	return stripsOrNil(left)
}

// withoutPlacements returns the strips without the matching placements.
func (s *Strips) withoutPlacements(match func(*Placement) bool) *Strips {
	if !slices.ContainsFunc(s.all, func(one strip) bool { return match(one.at) }) {
		return s
	}
	return stripsOrNil(slices.DeleteFunc(slices.Clone(s.all), func(one strip) bool { return match(one.at) }))
}

// Join returns the strips of two rows merged into one.
func (s *Strips) Join(more *Strips) *Strips {
	switch {
	case s == nil:
		return more
	case more == nil:
		return s
	}
	return &Strips{append(slices.Clip(s.all), more.all...)}
}

func stripsOrNil(all []strip) *Strips {
	if len(all) == 0 {
		return nil
	}
	return &Strips{all}
}

// Visible returns the strips in their public form, lowest first, for a screen of cols columns.
func (s *Strips) Visible(cols int) []styled.Strip {
	if s == nil {
		return nil
	}
	var out []styled.Strip
	for _, one := range s.topStrips(cols) {
		out = append(out, styled.Strip{Placement: &one.at.Placement, Row: int(one.row), X: int(one.x),
			From: int(one.from), To: min(int(one.to), cols)})
	}
	return out
}

// topStrips returns the strips on a screen of cols columns, lowest first, without covered ones.
func (s *Strips) topStrips(cols int) []strip {
	all := slices.Clone(s.all)
	slices.SortStableFunc(all, func(a, b strip) int { return int(min(max(int64(a.at.Z)-int64(b.at.Z), -1), 1)) })
	covered := make([]bool, cols)
	seen := all[len(all):]
	// From the top down, so that a strip below opaque ones is never converted or sent.
	for _, one := range slices.Backward(all) {
		under := covered[min(int(one.from), cols):min(int(one.to), cols)]
		if !slices.Contains(under, false) {
			continue
		}
		seen = all[len(all)-len(seen)-1:]
		seen[0] = one
		if from, to := one.fullColumns(); one.at.image.Picture.Opaque() {
			for x := max(from, int(one.from)); x < min(to, int(one.to), cols); x++ {
				covered[x] = true
			}
		}
	}
	return seen
}

// fullColumns returns the range of columns filled completely by the picture.
func (s strip) fullColumns() (from, to int) {
	box, cell := s.at.Box, s.at.Cell
	if int(s.row)*cell.Y < box.Min.Y || (int(s.row)+1)*cell.Y > box.Max.Y {
		return 0, 0
	}
	return int(s.x) + (box.Min.X+cell.X-1)/cell.X, int(s.x) + box.Max.X/cell.X
}

// Rows are the strips of a screen's rows; nil if there are none.
type Rows []*Strips

// At returns the strips of row y.
func (r Rows) At(y int) *Strips {
	if r == nil {
		return nil
	}
	return r[y]
}

// With returns rows with the strips of row y replaced; n is the number of rows.
func (r Rows) With(n, y int, s *Strips) Rows {
	if r == nil && s != nil {
		r = make(Rows, n)
	}
	if r != nil {
		r[y] = s
	}
	return r
}

// Move moves rows up by n, or down if n is negative.
func (r Rows) Move(top, bottom, n int) {
	if r == nil {
		return
	}
	r = r[top : bottom+1]
	if n > 0 {
		copy(r, r[n:])
		clear(r[len(r)-n:])
	} else {
		copy(r[-n:], r)
		clear(r[:-n])
	}
}
