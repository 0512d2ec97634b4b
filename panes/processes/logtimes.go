package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes/widget"
)

const (
	// clockWidth is the width of the margin with the times of lines.
	clockWidth = len("15:04:05 ")
	// timesHeld bounds the times that are remembered.
	timesHeld = 4096
)

// Clock shows when each line was written, as far as that is known, or does not
// any more.
func (l *logView) Clock() { l.clock = !l.clock }

// textWidth is how many cells there are for the text of a line.
func (l *logView) textWidth() int { return l.w - l.clockCells() - l.nameCells() }

// clockCells is the width of the times.
func (l *logView) clockCells() int {
	if l.clock && !l.Terminal && l.w >= 3*clockWidth {
		return clockWidth
	}
	return 0
}

// margin is what stands before a row of line i.
func (l *logView) margin(i, row int, look *widget.Look) string {
	return l.clockMargin(i, row, look) + l.nameMargin(i, row, look)
}

func (l *logView) clockMargin(i, row int, look *widget.Look) string {
	w := l.clockCells()
	if w == 0 {
		return ""
	}
	at, ok := l.timeOf(i)
	if row > 0 || !ok {
		return widget.Spaces(w)
	}
	text := at.Format(time.TimeOnly)
	if time.Since(at) > 24*time.Hour {
		text = at.Format("_2 Jan")
	}
	return look.Dim.Text(widget.Pad(text, w))
}

// timeOf is when line i was written, if anybody knows.
func (l *logView) timeOf(i int) (time.Time, bool) {
	at := l.lines[i].at
	if len(l.names) == 0 {
		at = logmerge.WrittenAt(l.times, l.lines[i].offset)
	}
	return at.Local(), !at.IsZero()
}

// takeTimes remembers what an answer tells of times.
func (l *logView) takeTimes(times []api.LogTime) {
	if len(times) == 0 {
		return
	}
	l.times = append(l.times, times...)
	slices.SortStableFunc(l.times, func(a, b api.LogTime) int { return int(min(1, max(-1, a.Offset-b.Offset))) })
	l.times = slices.CompactFunc(l.times, func(a, b api.LogTime) bool { return a.Offset == b.Offset })
	if len(l.times) > timesHeld {
		l.times = slices.Clone(times) // those of what is seen now
	}
}
