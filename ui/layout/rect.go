package layout

import "tandem/panes/widget"

// touches reports whether r lies directly beside s in a direction from s; one
// column may be between them.
func touches(r, s widget.Rect, d Direction) bool {
	switch d {
	case Left:
		return abs(r.X+r.W-s.X) <= 1 && overlap(r.Y, r.H, s.Y, s.H)
	case Right:
		return abs(s.X+s.W-r.X) <= 1 && overlap(r.Y, r.H, s.Y, s.H)
	case Up:
		return r.Y+r.H == s.Y && overlap(r.X, r.W, s.X, s.W)
	}
	return s.Y+s.H == r.Y && overlap(r.X, r.W, s.X, s.W)
}

func overlap(a, an, b, bn int) bool { return a < b+bn && b < a+an }

// offAxis is how far the range of r across a direction is from the middle of s.
func offAxis(r, s widget.Rect, d Direction) int {
	if d == Left || d == Right {
		return outside(s.Y+s.H/2, r.Y, r.H)
	}
	return outside(s.X+s.W/2, r.X, r.W)
}

// outside is the distance of p from the range that starts at a and is n long.
func outside(p, a, n int) int {
	return max(a-p, p-(a+n-1), 0)
}

// distance is that of the middles.
func distance(r, s widget.Rect) int {
	return abs(2*r.X+r.W-2*s.X-s.W) + 2*abs(2*r.Y+r.H-2*s.Y-s.H)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
