package look

import "tandem/panes/kit/text"

// A Rect is a part of the screen or of a pane, in cells.
type Rect struct{ X, Y, W, H int }

func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Overlay replaces the part of the screen's rows that is covered by a box at r.
func (r Rect) Overlay(screen, box []string) {
	for i, row := range box {
		y := r.Y + i
		if y >= len(screen) {
			return
		}
		under := screen[y]
		head := text.Pad(text.Cut(under, r.X, ""), r.X)
		tail := text.CutLeft(under, r.X+r.W)
		screen[y] = head + "\x1b[m" + row + tail
	}
}
