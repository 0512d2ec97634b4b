package processes

// pauseFollowing stops following and keeps the view in its place.
func (l *logView) pauseFollowing() {
	if l.follow {
		l.top = l.bottomRow()
		l.follow = false
	}
}

// bottomRow returns the top row of a view ending with the last line held.
func (l *logView) bottomRow() logRow {
	rows := 0
	for i := len(l.lines) - 1; i >= 0; i-- {
		n := len(l.lineRows(i))
		if rows+n >= l.h {
			return logRow{l.lines[i].offset, rows + n - l.h}
		}
		rows += n
	}
	return logRow{offset: l.start}
}

// Scroll moves the view by rows, up if negative. Scrolling up stops following.
func (l *logView) Scroll(rows int) {
	if len(l.lines) == 0 {
		return
	}
	if rows < 0 || !l.follow {
		l.pauseFollowing()
		l.moveRows(rows)
	}
}

func (l *logView) moveRows(rows int) {
	i := l.index(l.top.offset)
	row := min(l.top.row, len(l.lineRows(i))-1)
	row += rows
	for row < 0 && i > 0 {
		i--
		row += len(l.lineRows(i))
	}
	for row >= len(l.lineRows(i)) && i < len(l.lines)-1 {
		row -= len(l.lineRows(i))
		i++
	}
	l.top = logRow{l.lines[i].offset, max(min(row, len(l.lineRows(i))-1), 0)}
	l.clampTop()
}

// clampTop keeps the view full if there are enough lines.
func (l *logView) clampTop() {
	if b := l.bottomRow(); l.top.offset > b.offset || l.top.offset == b.offset && l.top.row > b.row {
		l.top = b
	}
}

// ScrollHalfPages moves the view by halves of its height.
func (l *logView) ScrollHalfPages(halves int) {
	l.Scroll(halves * max(l.h-1, 2) / 2)
}

// ScrollToStart goes to the oldest line.
func (l *Log) ScrollToStart() {
	l.pauseFollowing()
	l.jump = &logRequest{kind: askStart}
}

// ScrollToEnd goes to the end and follows it.
func (l *Log) ScrollToEnd() {
	l.follow, l.skipped, l.left = true, 0, 0
	if !l.atEnd {
		l.jump = &logRequest{kind: askEnd}
	}
}

func (l *Log) ToggleFollow() {
	if l.follow {
		l.pauseFollowing()
		return
	}
	l.ScrollToEnd()
}

// ToggleWrap switches between wrapping long lines and scrolling sideways.
func (l *logView) ToggleWrap() {
	l.wrap, l.left = !l.wrap, 0
	l.top.row = 0
}

const sideStep = 16

// ScrollSideways scrolls by steps, to the left if negative, unless lines are wrapped.
func (l *logView) ScrollSideways(steps int) {
	if !l.wrap {
		l.left = min(max(l.left+steps*sideStep, 0), maxLogLine)
	}
}

// SetSize sets the size of the view, and with it how many lines are needed.
func (l *logView) SetSize(w, h int) {
	l.w, l.h = w, h
	if !l.follow && len(l.lines) > 0 {
		// Another width wraps the top line into another number of rows.
		l.top.row = min(l.top.row, len(l.lineRows(l.index(l.top.offset)))-1)
		if l.end >= l.last {
			l.clampTop()
		}
	}
}

// showLine scrolls the line at offset into view, a third from the top.
func (l *logView) showLine(offset int64) {
	if len(l.lines) == 0 {
		return
	}
	l.pauseFollowing()
	i := l.index(offset)
	top := l.index(l.top.offset)
	// A visible line needs no scrolling.
	if i > top && i < top+l.h-1 && !l.wrap {
		return
	}
	l.top = logRow{offset: l.lines[i].offset}
	l.moveRows(-l.h / 3)
}

// percentSeen returns how far into the log the view is, in percent.
func (l *logView) percentSeen() int {
	if l.last <= l.oldest || len(l.lines) == 0 {
		return 100
	}
	at := l.top.offset
	if i := l.index(at) + l.h; i < len(l.lines) {
		at = l.lines[i].offset
	} else {
		at = l.end
	}
	return int(float64(at-l.oldest) / float64(l.last-l.oldest) * 100)
}
