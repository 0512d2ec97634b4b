package ui

// A rect is a part of the screen in cells.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

// touches reports whether r lies directly beside s in a direction from s; one
// column may be between them.
func (r rect) touches(s rect, d direction) bool {
	switch d {
	case left:
		return abs(r.x+r.w-s.x) <= 1 && overlap(r.y, r.h, s.y, s.h)
	case right:
		return abs(s.x+s.w-r.x) <= 1 && overlap(r.y, r.h, s.y, s.h)
	case up:
		return r.y+r.h == s.y && overlap(r.x, r.w, s.x, s.w)
	}
	return s.y+s.h == r.y && overlap(r.x, r.w, s.x, s.w)
}

func overlap(a, an, b, bn int) bool { return a < b+bn && b < a+an }

// offAxis is how far the range of r across a direction is from the middle of s.
func (r rect) offAxis(s rect, d direction) int {
	if d == left || d == right {
		return outside(s.y+s.h/2, r.y, r.h)
	}
	return outside(s.x+s.w/2, r.x, r.w)
}

// outside is the distance of p from the range that starts at a and is n long.
func outside(p, a, n int) int {
	return max(a-p, p-(a+n-1), 0)
}

// distance is that of the middles.
func (r rect) distance(s rect) int {
	return abs(2*r.x+r.w-2*s.x-s.w) + 2*abs(2*r.y+r.h-2*s.y-s.h)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
