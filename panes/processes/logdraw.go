package processes

import (
	"fmt"
	"strings"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/widget"
)

// A drawKey is all that the drawing of a line depends on beside the line.
type drawKey struct {
	w, left, finds int
	found          bool
	text           widget.Ink
}

// Draw gives the visible part of the log: h rows of w cells. The slice is valid
// until the next call.
func (l *Log) Draw(w, h int, look *widget.Look) []string {
	if l.SetSize(w, h); len(l.lines) == 0 && w > 0 {
		return l.drawEmpty(look)
	}
	l.out = l.out[:0]
	if l.w <= 0 || l.h <= 0 {
		return l.out
	}
	if l.follow {
		l.top = l.bottom()
	}
	row := l.top.row
	for i := l.index(l.top.offset); i < len(l.lines) && len(l.out) < l.h; i++ {
		breaks := l.rowsOf(i)
		for ; row < len(breaks) && len(l.out) < l.h; row++ {
			l.out = append(l.out, l.margin(i, row, look)+l.drawLine(i, row, look))
		}
		row = 0
	}
	for len(l.out) < l.h {
		l.out = append(l.out, widget.Spaces(l.w))
	}
	return l.out
}

// drawEmpty is the view as long as there is no line.
func (l *Log) drawEmpty(look *widget.Look) []string {
	if len(l.tail) == 0 {
		return l.drawNothing(look)
	}
	l.out = l.out[:0]
	first := max(l.h-len(l.tail), 0)
	for y := range max(l.h, 0) {
		if y < first {
			l.out = append(l.out, widget.Spaces(l.w))
			continue
		}
		l.out = append(l.out, look.Dim.Text(widget.Fit(widget.Clean(l.tail[len(l.tail)-l.h+y]), l.w)))
	}
	return l.out
}

// drawNothing says why there is nothing to be seen.
func (l *logView) drawNothing(look *widget.Look) []string {
	text := ""
	switch {
	case l.err != nil:
		text = widget.Clean(l.err.Error())
	case l.known && l.idle:
		text = "no output"
	case l.known:
		text = "no output yet"
	}
	l.out = l.out[:0]
	for y := range max(l.h, 0) {
		if y == l.h/3 && text != "" {
			l.out = append(l.out, look.Dim.Text(widget.Center(text, l.w)))
			continue
		}
		l.out = append(l.out, widget.Spaces(l.w))
	}
	return l.out
}

// drawLine draws one row of line i.
func (l *logView) drawLine(i, row int, look *widget.Look) string {
	line := &l.lines[i]
	width := l.textWidth()
	key := drawKey{width, l.left, l.finding.serial, line.offset == l.finding.at, look.Text}
	if !l.wrap && line.drawn != "" && line.key == key {
		return line.drawn
	}
	text := l.text(i)
	from, to := l.rowCells(i, row)
	more := ""
	if !l.wrap && text.Cells > to {
		more = look.Glyphs.More
		to -= widget.Width(more)
	}
	d := widget.LineDrawing{Dst: l.buf[:0], From: from, To: to, Look: look}
	d.Draw(text, l.marks(text, key.found, look))
	d.Dst = append(d.Dst, widget.Spaces(width-widget.Width(more)-d.Used)...)
	d.Dst = append(d.Dst, look.Dim.Text(more)...)
	l.buf = d.Dst
	if l.wrap {
		return string(d.Dst)
	}
	line.drawn, line.key = string(d.Dst), key
	return line.drawn
}

// rowCells are the first cell of a line that a row of it shows, and the one
// behind the last.
func (l *logView) rowCells(i, row int) (from, to int) {
	w := l.textWidth()
	if !l.wrap {
		return l.left, l.left + w
	}
	breaks := l.rowsOf(i)
	from = breaks[row]
	if row+1 < len(breaks) {
		return from, min(breaks[row+1], from+w)
	}
	return from, from + w
}

// marks are what stands out in a line: what is searched for, else words that
// tell a level.
func (l *logView) marks(text *widget.Line, found bool, look *widget.Look) []widget.TextMark {
	plain := text.Plain()
	var marks []widget.TextMark
	if l.finding.re != nil {
		ink := look.Found
		if found {
			ink = look.FoundHere
		}
		for _, at := range l.finding.re.FindAllStringIndex(plain, 100) {
			if at[1] > at[0] {
				marks = append(marks, widget.TextMark{From: at[0], To: at[1], Ink: ink, Always: true})
			}
		}
	}
	if len(marks) == 0 && !text.Styled() {
		marks = levelMarks(plain, look)
	}
	return marks
}

// levelReach is how far into a line words are looked at.
const levelReach = 200

// levelMarks finds the words that tell how serious a line is.
func levelMarks(s string, look *widget.Look) []widget.TextMark {
	var marks []widget.TextMark
	s = s[:min(len(s), levelReach)]
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isLetter(s[j]) {
			j++
		}
		if ink, ok := levelInk(s[i:j], look); ok {
			marks = append(marks, widget.TextMark{From: i, To: j, Ink: ink})
		}
		i = j
	}
	return marks
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func levelInk(word string, look *widget.Look) (widget.Ink, bool) {
	if len(word) < 3 || len(word) > 9 {
		return "", false
	}
	switch strings.ToLower(word) {
	case "error", "errors", "err", "fatal", "panic", "critical", "crit", "emerg", "alert", "exception", "failed", "failure":
		return look.Bad, true
	case "warn", "warning", "warnings":
		return look.Warn, true
	case "info", "notice":
		return look.Good, true
	case "debug", "trace", "verbose":
		return look.Faint, true
	}
	return "", false
}

// Heading is the row above the log: whose it is, how that process is, and what
// the view does.
func (l *Log) Heading(p *api.Process, reason string, w int, look *widget.Look) string {
	detail, ink := widget.CommandText(p), look.Dim
	if reason != "" {
		detail = reason
		if _, ink = widget.StateGlyph(p, look); p.State == api.StateRunning {
			ink = look.Warn
		}
	}
	return l.heading(widget.Clip(widget.Clean(p.Name), max(w/3, 8)), detail, ink, w, look)
}

// MergedHeading is the row above the logs of several processes.
func (l *Log) MergedHeading(w int, look *widget.Look) string {
	return l.heading("logs", widget.Clip(l.title, max(w/2, 8)), look.Dim, w, look)
}

// heading has a title and a detail on its left, and on its right what the view does.
func (l *Log) heading(title, detail string, ink widget.Ink, w int, look *widget.Look) string {
	name := look.Dim
	if l.Focused {
		name = look.Title
	}
	status := " " + l.status() + " "
	rest := w - widget.Width(title) - widget.Width(status) - 5
	if rest < 0 {
		return widget.Heading(title, "", w, l.Focused, look)
	}
	line := look.Edge("─", l.Focused) + " " + name.Text(title) + " "
	if detail = widget.Clip(detail, rest-2); detail != "" {
		line += ink.Text(detail) + " "
		rest -= widget.Width(detail) + 1
	}
	return line + look.Edge(strings.Repeat("─", rest+1), l.Focused) + look.Dim.Text(status) + look.Edge("─", l.Focused)
}

// status says what the view does: what it searches for, where it is.
func (l *Log) status() string {
	var parts []string
	if l.Stream != "" {
		parts = append(parts, l.Stream)
	}
	if l.err != nil {
		parts = append(parts, "cannot be read")
	}
	if f := &l.finding; f.label != "" {
		text := "/" + widget.Clip(widget.Clean(f.label), 20)
		if f.total > 0 {
			text += fmt.Sprintf(" %d/%d", f.number, f.total)
		}
		parts = append(parts, text)
	}
	if l.clock && l.Terminal {
		parts = append(parts, "a terminal's log has no times")
	}
	if l.left > 0 {
		parts = append(parts, fmt.Sprintf("column %d", l.left+1))
	}
	switch {
	case l.skipped > 0 && l.follow:
		parts = append(parts, "following, skipped "+units.Bytes(l.skipped))
	case l.follow:
		parts = append(parts, "following")
	default:
		parts = append(parts, fmt.Sprintf("paused %d%%", l.position()))
	}
	if l.known {
		parts = append(parts, units.Bytes(l.last-l.oldest))
	}
	return strings.Join(parts, " · ")
}
