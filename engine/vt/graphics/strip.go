package graphics

import (
	"slices"

	"tandem/engine/styled"
)

// rowStrips is how many strips a row keeps; the oldest go first.
const rowStrips = 32

// A Placement is a picture on a screen.
type Placement struct {
	styled.Placement
	image *Image
	id    uint32 // by which the program calls it; 0 for none
	text  bool   // it is like text, as sixels are: what is printed or erased there replaces it
}

// A strip is what of a placement is in one row.
type strip struct {
	at       *Placement
	row, x   int16 // of the placement's rows; column where it begins
	from, to int16 // columns where it is seen
}

func (s strip) over(x int) bool { return int(s.from) <= x && x < int(s.to) }

// Strips are what of pictures is in one row, in the order in which they were placed. They
// stay with the row wherever that goes, into the scrollback too, so that a picture needs
// no place of its own. They do not change; nil is none.
type Strips struct{ all []strip }

// With gives the strips of a row and one more: a row of a placement that begins in
// column x.
func (s *Strips) With(p *Placement, row, x int) *Strips {
	return s.with(strip{p, int16(row), int16(x), int16(x), int16(x + p.Cols)})
}

func (s *Strips) with(one strip) *Strips {
	var all []strip
	if s != nil {
		all = s.all[max(len(s.all)+1-rowStrips, 0):]
	}
	return &Strips{append(slices.Clip(all), one)}
}

// Without leaves out what is like text in columns from one up to another.
func (s *Strips) Without(from, to int) *Strips {
	a, b := int16(from), int16(to)
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
	return orNone(left)
}

// dropped leaves out placements.
func (s *Strips) dropped(is func(*Placement) bool) *Strips {
	if !slices.ContainsFunc(s.all, func(one strip) bool { return is(one.at) }) {
		return s
	}
	return orNone(slices.DeleteFunc(slices.Clone(s.all), func(one strip) bool { return is(one.at) }))
}

// Joined are the strips of two rows that become one.
func (s *Strips) Joined(more *Strips) *Strips {
	switch {
	case s == nil:
		return more
	case more == nil:
		return s
	}
	return &Strips{append(slices.Clip(s.all), more.all...)}
}

func orNone(all []strip) *Strips {
	if len(all) == 0 {
		return nil
	}
	return &Strips{all}
}

// Seen gives strips as viewers know them, the lowest first, on a screen of so many
// columns.
func (s *Strips) Seen(cols int) []styled.Strip {
	if s == nil {
		return nil
	}
	var out []styled.Strip
	for _, one := range s.visible(cols) {
		out = append(out, styled.Strip{Placement: &one.at.Placement, Row: int(one.row), X: int(one.x),
			From: int(one.from), To: min(int(one.to), cols)})
	}
	return out
}

// visible returns the strips on a screen of cols columns, lowest first, without covered ones.
func (s *Strips) visible(cols int) []strip {
	all := slices.Clone(s.all)
	slices.SortStableFunc(all, func(a, b strip) int { return int(min(max(int64(a.at.Z)-int64(b.at.Z), -1), 1)) })
	covered := make([]bool, cols)
	seen := all[len(all):]
	for _, one := range slices.Backward(all) {
		under := covered[min(int(one.from), cols):min(int(one.to), cols)]
		if !slices.Contains(under, false) {
			continue
		}
		seen = all[len(all)-len(seen)-1:]
		seen[0] = one
		if from, to := one.whole(); one.at.image.Picture.Opaque() {
			for x := max(from, int(one.from)); x < min(to, int(one.to), cols); x++ {
				covered[x] = true
			}
		}
	}
	return seen
}

// whole returns the range of columns that the picture fills completely.
func (s strip) whole() (from, to int) {
	box, cell := s.at.Box, s.at.Cell
	if int(s.row)*cell.Y < box.Min.Y || (int(s.row)+1)*cell.Y > box.Max.Y {
		return 0, 0
	}
	return int(s.x) + (box.Min.X+cell.X-1)/cell.X, int(s.x) + box.Max.X/cell.X
}

// Rows are the strips of a screen's rows; nil until there are some.
type Rows []*Strips

// At are the strips of a row.
func (r Rows) At(y int) *Strips {
	if r == nil {
		return nil
	}
	return r[y]
}

// With gives rows, of which there are n, with the strips of one changed.
func (r Rows) With(n, y int, s *Strips) Rows {
	if r == nil && s != nil {
		r = make(Rows, n)
	}
	if r != nil {
		r[y] = s
	}
	return r
}

// Move moves rows up by n, down if that is negative.
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
