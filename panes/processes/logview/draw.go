package logview

import (
	"fmt"
	"strings"

	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Draw returns the visible part of the log: h rows of w cells. The slice is valid until the next
// call.
func (l *Log) Draw(w, h int, look *look.Look) []string {
	l.SetSize(w, h)
	l.out = l.out[:0]
	switch {
	case w <= 0 || h <= 0:
	case len(l.window.lines) == 0:
		l.drawEmpty(w, h, look)
	default:
		l.drawLines(h, look)
	}
	return l.out
}

func (l *Log) drawLines(h int, look *look.Look) {
	if l.view.follow {
		l.view.top = l.view.bottomRow()
	}
	row := l.view.top.row
	for i := l.view.topLine(); i < len(l.window.lines) && len(l.out) < h; i++ {
		line := &l.window.lines[i]
		rows := len(l.format.lineRows(line))
		for ; row < rows && len(l.out) < h; row++ {
			l.out = append(l.out, l.format.drawClock(line, row, look)+l.format.drawName(line, row, look)+l.format.drawLine(line, row, &l.match, look))
		}
		row = 0
	}
	l.out = text.PadRows(l.out, l.format.w, h)
}

// drawEmpty draws a log that holds no lines: the last lines that the engine sent with the process,
// until the log is read, or the reason why there are none.
func (l *Log) drawEmpty(w, h int, look *look.Look) {
	l.out = text.PadRows(l.out, w, h)
	last := l.tail[max(len(l.tail)-h, 0):]
	for i, line := range last {
		l.out[h-len(last)+i] = look.Dim.Text(text.Fit(text.Clean(line), w))
	}
	note := ""
	switch {
	case len(last) > 0:
	case l.reader.err != nil:
		note = text.Clean(l.reader.err.Error())
	case l.reader.known && l.reader.idle:
		note = "no output"
	case l.reader.known:
		note = "no output yet"
	}
	if note != "" {
		l.out[h/3] = look.Dim.Text(text.Center(note, w))
	}
}

// DrawHeading draws the row above the log, w cells wide: a title and a detail on the left, and the
// position and size on the right, with a line between them. The detail is drawn in ink, and left
// out if there is no space for it. If even the title and the position do not fit together, only the
// title is drawn.
func (l *Log) DrawHeading(title, detail string, ink look.Ink, w int, look *look.Look) string {
	titleInk := look.Dim
	if l.Focused {
		titleInk = look.Title
	}
	left := look.Edge("─", l.Focused) + " " + titleInk.Text(title) + " "
	status := " " + l.statusText() + " "
	// Besides the title and the position there are "─ " and " " around the title, and the last "─".
	line := w - text.Width(title) - text.Width(status) - 4
	if line < 1 {
		return look.Heading(title, "", w, l.Focused)
	}
	if detail = text.Clip(detail, line-3); detail != "" {
		left += ink.Text(detail) + " "
		line -= text.Width(detail) + 1
	}
	return left + look.Edge(strings.Repeat("─", line), l.Focused) + look.Dim.Text(status) + look.Edge("─", l.Focused)
}

// statusText describes the state of the search, the visible position and the size of the log.
func (l *Log) statusText() string {
	var parts []string
	if l.Stream != "" {
		parts = append(parts, l.Stream)
	}
	if l.reader.err != nil {
		parts = append(parts, "cannot be read")
	}
	if m := &l.match; m.label != "" {
		text := "/" + text.Clip(text.Clean(m.label), 20)
		if m.total > 0 {
			text += fmt.Sprintf(" %d/%d", m.number, m.total)
		}
		parts = append(parts, text)
	}
	if l.format.clock && l.window.isTerminal() {
		parts = append(parts, "a terminal's log has no times")
	}
	if l.format.left > 0 {
		parts = append(parts, fmt.Sprintf("column %d", l.format.left+1))
	}
	switch {
	case l.view.skipped > 0 && l.view.follow:
		parts = append(parts, "following, skipped "+units.Bytes(l.view.skipped))
	case l.view.follow:
		parts = append(parts, "following")
	default:
		parts = append(parts, fmt.Sprintf("paused %d%%", l.view.percentSeen()))
	}
	if l.reader.known {
		parts = append(parts, units.Bytes(l.window.last-l.window.oldest))
	}
	return strings.Join(parts, " · ")
}
