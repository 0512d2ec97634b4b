package processes

// fix makes the present place the one that the view stays at.
func (l *logView) fix() {
	if l.follow {
		l.top = l.bottom()
		l.follow = false
	}
}

// bottom is the place from which the end of what is held fills the view.
func (l *logView) bottom() logPlace {
	rows := 0
	for i := len(l.lines) - 1; i >= 0; i-- {
		n := len(l.rowsOf(i))
		if rows+n >= l.h {
			return logPlace{l.lines[i].offset, rows + n - l.h}
		}
		rows += n
	}
	return logPlace{offset: l.start}
}

// Scroll moves the view by rows, negative is up. It no longer follows then.
func (l *logView) Scroll(rows int) {
	if len(l.lines) == 0 {
		return
	}
	if rows < 0 || !l.follow {
		l.fix()
		l.move(rows)
	}
}

func (l *logView) move(rows int) {
	i := l.index(l.top.offset)
	row := min(l.top.row, len(l.rowsOf(i))-1)
	row += rows
	for row < 0 && i > 0 {
		i--
		row += len(l.rowsOf(i))
	}
	for row >= len(l.rowsOf(i)) && i < len(l.lines)-1 {
		row -= len(l.rowsOf(i))
		i++
	}
	l.top = logPlace{l.lines[i].offset, max(min(row, len(l.rowsOf(i))-1), 0)}
	l.clamp()
}

// clamp keeps the view full, as far as there are lines.
func (l *logView) clamp() {
	if b := l.bottom(); l.top.offset > b.offset || l.top.offset == b.offset && l.top.row > b.row {
		l.top = b
	}
}

// Pages moves the view by halves of its height.
func (l *logView) Pages(halves int) {
	l.Scroll(halves * max(l.h-1, 2) / 2)
}

// Home goes to the oldest line there is.
func (l *Log) Home() {
	l.fix()
	l.jump = &logRequest{kind: askStart}
}

// End goes to the end and follows it.
func (l *Log) End() {
	l.follow, l.skipped, l.left = true, 0, 0
	if !l.caught {
		l.jump = &logRequest{kind: askEnd}
	}
}

// Follow begins or ends to follow.
func (l *Log) Follow() {
	if l.follow {
		l.fix()
		return
	}
	l.End()
}

// Wrap switches between wrapping long lines and scrolling sideways.
func (l *logView) Wrap() {
	l.wrap, l.left = !l.wrap, 0
	l.top.row = 0
}

const sideStep = 16

// Sideways scrolls by steps, negative is to the left, unless lines are wrapped.
func (l *logView) Sideways(steps int) {
	if !l.wrap {
		l.left = min(max(l.left+steps*sideStep, 0), longLogLine)
	}
}

// SetSize takes the size of the view, which decides how much is needed.
func (l *logView) SetSize(w, h int) {
	l.w, l.h = w, h
	if !l.follow && len(l.lines) > 0 {
		l.top.row = min(l.top.row, len(l.rowsOf(l.index(l.top.offset)))-1)
		if l.end >= l.last {
			l.clamp()
		}
	}
}

// showLine scrolls so that the line at an offset is seen, a third from the top.
func (l *logView) showLine(offset int64) {
	if len(l.lines) == 0 {
		return
	}
	l.fix()
	i := l.index(offset)
	top := l.index(l.top.offset)
	if i > top && i < top+l.h-1 && !l.wrap {
		return
	}
	l.top = logPlace{offset: l.lines[i].offset}
	l.move(-l.h / 3)
}

// position is how far into the log the view is, in percent.
func (l *logView) position() int {
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
