package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
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
func (l *Log) Clock() { l.clock = !l.clock }

// textWidth is how many cells there are for the text of a line.
func (l *Log) textWidth() int {
	if l.hasMargin() {
		return l.w - clockWidth
	}
	return l.w
}

func (l *Log) hasMargin() bool { return l.clock && !l.Terminal && l.w >= 3*clockWidth }

// margin is what stands before a row of line i.
func (l *Log) margin(i, row int, look *widget.Look) string {
	switch {
	case !l.hasMargin():
		return ""
	case row > 0:
		return widget.Spaces(clockWidth)
	}
	at, ok := l.timeOf(l.lines[i].offset)
	if !ok {
		return widget.Spaces(clockWidth)
	}
	text := at.Format(time.TimeOnly)
	if time.Since(at) > 24*time.Hour {
		text = at.Format("_2 Jan")
	}
	return look.Dim.Text(widget.Pad(text, clockWidth))
}

// timeOf is when the line at an offset was written, if anybody knows.
func (l *Log) timeOf(offset int64) (time.Time, bool) {
	i, ok := slices.BinarySearchFunc(l.times, offset, func(t api.LogTime, o int64) int {
		return int(min(1, max(-1, t.Offset-o)))
	})
	if !ok {
		i--
	}
	if i < 0 {
		return time.Time{}, false
	}
	return l.times[i].At.Local(), true
}

// takeTimes remembers what an answer tells of times.
func (l *Log) takeTimes(times []api.LogTime) {
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
