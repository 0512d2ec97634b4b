package logview

// A view is the visible part of a log.
type view struct {
	window *window
	format *format
	h      int
	top    rowPosition
	follow bool

	skipped int64 // bytes, while following
}

// A rowPosition is a row of the log: the offset of its line, and its index among the rows of that
// line when wrapped.
type rowPosition struct {
	offset int64
	row    int
}

const (
	marginScreens  = 3   // screens held before and after the visible one,
	minMarginLines = 200 // but at least this many lines
)

// missingLines reports whether more lines are needed before or after those held, to scroll without
// waiting.
func (v *view) missingLines() (before, after bool) {
	if v.follow {
		return false, true
	}
	top, margin := v.topLine(), max(marginScreens*v.h, minMarginLines)
	return top < margin, len(v.window.lines)-top < margin+v.h
}

func (v *view) topLine() int { return v.window.index(v.top.offset) }

func (v *view) rowCount(i int) int { return len(v.format.lineRows(&v.window.lines[i])) }

// pauseFollowing stops following and keeps the view in its place.
func (v *view) pauseFollowing() {
	if v.follow {
		v.top = v.bottomRow()
		v.follow = false
	}
}

// bottomRow returns the row at the top of the view when the last line held is at its bottom.
func (v *view) bottomRow() rowPosition {
	rows := 0
	for i := len(v.window.lines) - 1; i >= 0; i-- {
		n := v.rowCount(i)
		if rows+n >= v.h {
			return rowPosition{v.window.lines[i].offset, rows + n - v.h}
		}
		rows += n
	}
	return rowPosition{offset: v.window.start}
}

// scroll moves the view down by a number of rows, or up if it is negative. Scrolling up stops
// following.
func (v *view) scroll(rows int) {
	if len(v.window.lines) == 0 {
		return
	}
	if rows < 0 || !v.follow {
		v.pauseFollowing()
		v.moveRows(rows)
	}
}

func (v *view) moveRows(rows int) {
	i := v.topLine()
	row := min(v.top.row, v.rowCount(i)-1) + rows
	for row < 0 && i > 0 {
		i--
		row += v.rowCount(i)
	}
	for row >= v.rowCount(i) && i < len(v.window.lines)-1 {
		row -= v.rowCount(i)
		i++
	}
	v.top = rowPosition{v.window.lines[i].offset, max(min(row, v.rowCount(i)-1), 0)}
	v.clampTop()
}

// clampTop moves the view up if it would extend beyond the last line held.
func (v *view) clampTop() {
	if b := v.bottomRow(); v.top.offset > b.offset || v.top.offset == b.offset && v.top.row > b.row {
		v.top = b
	}
}

func (v *view) setHeight(h int) {
	v.h = h
	if !v.follow && len(v.window.lines) > 0 {
		// With another width, the top line may be wrapped into fewer rows.
		v.top.row = min(v.top.row, v.rowCount(v.topLine())-1)
		if v.window.end >= v.window.last {
			v.clampTop()
		}
	}
}

// showLine scrolls the line at offset into view, a third from the top.
func (v *view) showLine(offset int64) {
	if len(v.window.lines) == 0 {
		return
	}
	v.pauseFollowing()
	i, top := v.window.index(offset), v.topLine()
	// A visible line needs no scrolling.
	if i > top && i < top+v.h-1 && !v.format.wrap {
		return
	}
	v.top = rowPosition{offset: v.window.lines[i].offset}
	v.moveRows(-v.h / 3)
}

// percentSeen returns how far into the log the view is, in percent.
func (v *view) percentSeen() int {
	w := v.window
	if w.last <= w.oldest || len(w.lines) == 0 {
		return 100
	}
	at := w.end
	if i := v.topLine() + v.h; i < len(w.lines) {
		at = w.lines[i].offset
	}
	return int(float64(at-w.oldest) / float64(w.last-w.oldest) * 100)
}
