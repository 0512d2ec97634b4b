package layout

import "tandem/panes/kit/look"

// isAdjacent reports whether r lies next to s, in direction d from s, with at most one column
// between them.
func isAdjacent(r, s look.Rect, d Direction) bool {
	switch d {
	case Left:
		return abs(r.X+r.W-s.X) <= 1 && rangesOverlap(r.Y, r.H, s.Y, s.H)
	case Right:
		return abs(s.X+s.W-r.X) <= 1 && rangesOverlap(r.Y, r.H, s.Y, s.H)
	case Up:
		return r.Y+r.H == s.Y && rangesOverlap(r.X, r.W, s.X, s.W)
	}
	return s.Y+s.H == r.Y && rangesOverlap(r.X, r.W, s.X, s.W)
}

func rangesOverlap(a, an, b, bn int) bool { return a < b+bn && b < a+an }

// offAxis returns how far the middle of s lies beside r, measured at a right angle to direction d;
// 0 if r is opposite it.
func offAxis(r, s look.Rect, d Direction) int {
	if d == Left || d == Right {
		return rangeDistance(s.Y+s.H/2, r.Y, r.H)
	}
	return rangeDistance(s.X+s.W/2, r.X, r.W)
}

// rangeDistance returns the distance between cell p and the n cells that start at a; 0 if p is one
// of them.
func rangeDistance(p, a, n int) int {
	return max(a-p, p-(a+n-1), 0)
}

// centreDistance returns a measure of the distance between the centres of r and s. Rows count
// double, because a cell is twice as high as it is wide.
func centreDistance(r, s look.Rect) int {
	return abs(2*r.X+r.W-2*s.X-s.W) + 2*abs(2*r.Y+r.H-2*s.Y-s.H)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
