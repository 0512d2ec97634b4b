package graphics

import "tandem/engine/base/invariants"

// CheckRows panics unless r has n rows, and each strip lies inside its placement. It is a function
// because the linker keeps exported methods even if unused.
func CheckRows(r Rows, n int) {
	if r != nil && len(r) != n {
		invariants.Failf("%d rows of pictures on a screen of %d", len(r), n)
	}
	for y, s := range r {
		CheckStrips(s, int64(y))
	}
}

// CheckStrips panics unless each strip lies inside its placement. n is the row or line for the
// message.
func CheckStrips(s *Strips, n int64) {
	if s == nil {
		return
	}
	if len(s.all) == 0 {
		invariants.Failf("line %d has an empty list of strips, not nil", n)
	}
	for _, one := range s.all {
		if !one.isInside() {
			invariants.Failf("line %d shows columns %d to %d of row %d of a picture in column %d: %+v", n, one.from, one.to, one.row, one.x, one.at)
		}
	}
}
