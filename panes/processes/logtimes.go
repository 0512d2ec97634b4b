package processes

import (
	"time"

	"tandem/panes/widget"
)

// clockWidth is the width of the margin with the times of lines.
const clockWidth = len("15:04:05 ")

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
	at := l.lines[i].at.Local()
	if row > 0 || l.lines[i].at.IsZero() {
		return widget.Spaces(w)
	}
	text := at.Format(time.TimeOnly)
	if time.Since(at) > 24*time.Hour {
		text = at.Format("_2 Jan")
	}
	return look.Dim.Text(widget.Pad(text, w))
}
