package processes

import (
	"fmt"
	"strings"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
	"tandem/panes/states"
)

// A drawKey has everything a drawn line depends on, except the line.
type drawKey struct {
	w, left, finds int
	found          bool
	text           look.Ink
}

// Draw returns the visible part of the log: h rows of w cells. The slice is valid until the next
// call.
func (l *Log) Draw(w, h int, look *look.Look) []string {
	if l.SetSize(w, h); len(l.lines) == 0 && w > 0 {
		return l.drawEmpty(look)
	}
	l.out = l.out[:0]
	if l.w <= 0 || l.h <= 0 {
		return l.out
	}
	if l.follow {
		l.top = l.bottomRow()
	}
	row := l.top.row
	for i := l.index(l.top.offset); i < len(l.lines) && len(l.out) < l.h; i++ {
		breaks := l.lineRows(i)
		for ; row < len(breaks) && len(l.out) < l.h; row++ {
			l.out = append(l.out, l.drawMargin(i, row, look)+l.drawLine(i, row, look))
		}
		row = 0
	}
	for len(l.out) < l.h {
		l.out = append(l.out, text.Spaces(l.w))
	}
	return l.out
}

// drawEmpty draws a log without lines.
func (l *Log) drawEmpty(look *look.Look) []string {
	if len(l.tail) == 0 {
		return l.drawNothing(look)
	}
	l.out = l.out[:0]
	first := max(l.h-len(l.tail), 0)
	for y := range max(l.h, 0) {
		if y < first {
			l.out = append(l.out, text.Spaces(l.w))
			continue
		}
		l.out = append(l.out, look.Dim.Text(text.Fit(text.Clean(l.tail[len(l.tail)-l.h+y]), l.w)))
	}
	return l.out
}

// drawNothing draws the reason for an empty log.
func (l *logView) drawNothing(look *look.Look) []string {
	note := ""
	switch {
	case l.err != nil:
		note = text.Clean(l.err.Error())
	case l.known && l.idle:
		note = "no output"
	case l.known:
		note = "no output yet"
	}
	l.out = l.out[:0]
	for y := range max(l.h, 0) {
		if y == l.h/3 && note != "" {
			l.out = append(l.out, look.Dim.Text(text.Center(note, l.w)))
			continue
		}
		l.out = append(l.out, text.Spaces(l.w))
	}
	return l.out
}

// drawLine draws one row of line i.
func (l *logView) drawLine(i, row int, look *look.Look) string {
	line := &l.lines[i]
	width := l.textWidth()
	key := drawKey{width, l.left, l.search.serial, line.offset == l.search.at, look.Text}
	// Fast path: most lines are drawn again unchanged.
	if !l.wrap && line.drawn != "" && line.key == key {
		return line.drawn
	}
	parsed := l.parseLine(i)
	from, to := l.rowCells(i, row)
	more := ""
	if !l.wrap && parsed.Cells > to {
		more = look.Glyphs.More
		to -= text.Width(more)
	}
	d := logtext.LineDrawing{Dst: l.buf[:0], From: from, To: to, Look: look}
	d.Draw(parsed, l.textMarks(parsed, key.found, look))
	d.Dst = append(d.Dst, text.Spaces(width-text.Width(more)-d.Used)...)
	d.Dst = append(d.Dst, look.Dim.Text(more)...)
	l.buf = d.Dst
	if l.wrap {
		return string(d.Dst)
	}
	line.drawn, line.key = string(d.Dst), key
	return line.drawn
}

// rowCells returns the first cell of a row of line i and its end.
func (l *logView) rowCells(i, row int) (from, to int) {
	w := l.textWidth()
	if !l.wrap {
		return l.left, l.left + w
	}
	breaks := l.lineRows(i)
	from = breaks[row]
	if row+1 < len(breaks) {
		return from, min(breaks[row+1], from+w)
	}
	return from, from + w
}

// textMarks returns the highlights of a line: matches of the search, else words for a level.
func (l *logView) textMarks(text *logtext.Line, found bool, look *look.Look) []logtext.TextMark {
	plain := text.Plain()
	var marks []logtext.TextMark
	if l.search.re != nil {
		ink := look.Found
		if found {
			ink = look.FoundHere
		}
		for _, at := range l.search.re.FindAllStringIndex(plain, 100) {
			if at[1] > at[0] {
				marks = append(marks, logtext.TextMark{From: at[0], To: at[1], Ink: ink, Always: true})
			}
		}
	}
	if len(marks) == 0 && !text.IsStyled() {
		marks = findLevels(plain, look)
	}
	return marks
}

// maxLevelScan is how many bytes of a line are searched for levels.
const maxLevelScan = 200

// findLevels finds the words for the severity of a line.
func findLevels(s string, look *look.Look) []logtext.TextMark {
	var marks []logtext.TextMark
	s = s[:min(len(s), maxLevelScan)]
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
			marks = append(marks, logtext.TextMark{From: i, To: j, Ink: ink})
		}
		i = j
	}
	return marks
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func levelInk(word string, look *look.Look) (look.Ink, bool) {
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

// DrawHeading draws the row above the log: the name and command of its process, or the reason of a
// failure, and the state of the view.
func (l *Log) DrawHeading(p *api.Process, reason string, w int, look *look.Look) string {
	detail, ink := states.CommandText(p), look.Dim
	if reason != "" {
		detail = reason
		if _, ink = states.StateGlyph(p, look); p.State == api.StateRunning {
			ink = look.Warn
		}
	}
	return l.drawHeading(text.Clip(text.Clean(p.Name), max(w/3, 8)), detail, ink, w, look)
}

// DrawMergedHeading draws the row above merged logs.
func (l *Log) DrawMergedHeading(w int, look *look.Look) string {
	return l.drawHeading("logs", text.Clip(l.title, max(w/2, 8)), look.Dim, w, look)
}

// drawHeading draws a title and a detail on the left and the state of the view on the right.
func (l *Log) drawHeading(title, detail string, ink look.Ink, w int, look *look.Look) string {
	name := look.Dim
	if l.Focused {
		name = look.Title
	}
	status := " " + l.statusText() + " "
	rest := w - text.Width(title) - text.Width(status) - 5
	if rest < 0 {
		return look.Heading(title, "", w, l.Focused)
	}
	line := look.Edge("─", l.Focused) + " " + name.Text(title) + " "
	if detail = text.Clip(detail, rest-2); detail != "" {
		line += ink.Text(detail) + " "
		rest -= text.Width(detail) + 1
	}
	return line + look.Edge(strings.Repeat("─", rest+1), l.Focused) + look.Dim.Text(status) + look.Edge("─", l.Focused)
}

// statusText describes the state of the view: the search, the position and the size.
func (l *Log) statusText() string {
	var parts []string
	if l.Stream != "" {
		parts = append(parts, l.Stream)
	}
	if l.err != nil {
		parts = append(parts, "cannot be read")
	}
	if f := &l.search; f.label != "" {
		text := "/" + text.Clip(text.Clean(f.label), 20)
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
		parts = append(parts, fmt.Sprintf("paused %d%%", l.percentSeen()))
	}
	if l.known {
		parts = append(parts, units.Bytes(l.last-l.oldest))
	}
	return strings.Join(parts, " · ")
}
