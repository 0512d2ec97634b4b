package processes

import (
	"time"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// clockWidth is the width of the column with the times of lines.
const clockWidth = len("15:04:05 ")

// ToggleTimes shows or hides when each line was written.
func (l *logView) ToggleTimes() { l.clock = !l.clock }

// textWidth returns the width left for the text of a line.
func (l *logView) textWidth() int { return l.w - l.clockCells() - l.nameCells() }

func (l *logView) clockCells() int {
	if l.clock && !l.Terminal && l.w >= 3*clockWidth {
		return clockWidth
	}
	return 0
}

// drawMargin draws the time and the name before a row of line i.
func (l *logView) drawMargin(i, row int, look *look.Look) string {
	return l.drawClock(i, row, look) + l.drawName(i, row, look)
}

func (l *logView) drawClock(i, row int, look *look.Look) string {
	w := l.clockCells()
	if w == 0 {
		return ""
	}
	at := l.lines[i].at.Local()
	if row > 0 || l.lines[i].at.IsZero() {
		return text.Spaces(w)
	}
	s := at.Format(time.TimeOnly)
	if time.Since(at) > 24*time.Hour {
		s = at.Format("_2 Jan")
	}
	return look.Dim.Text(text.Pad(s, w))
}
