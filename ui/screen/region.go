package screen

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// A Region is a part of a frame with rows that change without a new frame. It belongs to the
// painter from the call of Show on.
type Region struct {
	X, Y int // upper left cell
	// Cuts holds, for each row of the region, the offsets in the frame's content of its first byte
	// and of the byte after its last. Show makes them relative to the start of the row on the
	// screen.
	Cuts      [][2]int
	HasCursor bool // the cursor is in the region, or hidden

	painter *painter
}

// ReplaceRows replaces the region's rows with others of the same width; "" leaves a row unchanged.
// If the screen's cursor belongs to the region, cursor replaces it. urgent asks to paint the change
// without a pause. ok is false if the region's frame was replaced meanwhile. Any goroutine may call
// it.
func (r *Region) ReplaceRows(rows []string, cursor *tea.Cursor, urgent bool) (ok bool) {
	r.painter.changeFrame(func(f *frame) {
		if ok = slices.Contains(f.regions, r); !ok {
			return
		}
		f.rows = slices.Clone(f.rows) // the painter may be reading it
		for i, row := range rows {
			if row != "" {
				f.replaceRow(r, i, row)
			}
		}
		if r.HasCursor {
			f.view.Cursor = cursor
			if cursor != nil {
				cursor.X, cursor.Y = cursor.X+r.X, cursor.Y+r.Y
			}
		}
	})
	if !ok || urgent && r.painter.tryPaint() {
		return ok
	}
	if urgent {
		r.painter.SkipPause()
	}
	notifyChan(r.painter.dirty)
	return true
}

// replaceRow changes row i of a region.
func (f *frame) replaceRow(r *Region, i int, row string) {
	y, cut := r.Y+i, r.Cuts[i]
	f.rows[y] = f.rows[y][:cut[0]] + row + f.rows[y][cut[1]:]
	grown := len(row) - (cut[1] - cut[0])
	// Parts to the right, and the end of the row itself, have moved.
	for _, other := range f.regions {
		if j := y - other.Y; j >= 0 && j < len(other.Cuts) {
			for k, at := range other.Cuts[j] {
				if at > cut[0] {
					other.Cuts[j][k] = at + grown
				}
			}
		}
	}
}

// setRegions sets the regions of a frame.
func (f *frame) setRegions(regions []*Region, p *painter) {
	f.regions = regions
	start := 0
	for y, row := range f.rows {
		for _, r := range regions {
			if i := y - r.Y; i >= 0 && i < len(r.Cuts) {
				r.Cuts[i][0] -= start
				r.Cuts[i][1] -= start
			}
		}
		start += len(row) + 1
	}
	for _, r := range regions {
		r.painter = p
	}
}
