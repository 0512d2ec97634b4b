package logview

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
)

// A format determines how lines are shown.
type format struct {
	window    *window
	w         int // of a row
	wrap      bool
	pretty    bool // lines of JSON are shown in columns
	clock     bool // the time of each line is shown
	left      int  // columns scrolled sideways
	nameWidth int  // of merged logs: cells of the longest one
	buf       []byte
}

// A drawKey has everything on which a drawn line depends, except the text of the line.
type drawKey struct {
	w, left, finds int
	found          bool
	text           look.Ink
}

// parseLine returns a line with its styles and without control characters. The result is cached in
// the line.
func (f *format) parseLine(line *heldLine) *logtext.Line {
	if line.text == nil {
		raw := line.raw
		if f.pretty {
			raw = prettyLine(raw)
		}
		t := logtext.ReadLine(raw, f.window.spans[line.log].source.Process.Kind == api.KindSession)
		line.text = &t
	}
	return line.text
}

// lineRows returns the first cell of each row of a line.
func (f *format) lineRows(line *heldLine) []int {
	if !f.wrap || f.w <= 0 {
		return singleRow[:]
	}
	if w := f.textWidth(); line.breaks == nil || line.width != w {
		line.breaks, line.width = f.parseLine(line).Wrap(w), w
	}
	return line.breaks
}

var singleRow = [1]int{0}

// rowCells returns the range of cells that a row of a wrapped line shows, from inclusive and to
// exclusive.
func (f *format) rowCells(line *heldLine, row int) (from, to int) {
	w := f.textWidth()
	if !f.wrap {
		return f.left, f.left + w
	}
	breaks := f.lineRows(line)
	from = breaks[row]
	if row+1 < len(breaks) {
		return from, min(breaks[row+1], from+w)
	}
	return from, from + w
}

// drawLine draws one row of a line. It highlights the matches of a search or, if there is no
// search, words such as ERROR that tell a level.
func (f *format) drawLine(line *heldLine, row int, m *match, look *look.Look) string {
	width := f.textWidth()
	key := drawKey{width, f.left, m.serial, line.offset == m.at, look.Text}
	// Fast path: most lines are drawn again unchanged.
	if !f.wrap && line.drawn != "" && line.key == key {
		return line.drawn
	}
	parsed := f.parseLine(line)
	from, to := f.rowCells(line, row)
	more := ""
	if !f.wrap && parsed.Cells > to {
		more = look.Glyphs.More
		to -= text.Width(more)
	}
	d := logtext.LineDrawing{Dst: f.buf[:0], From: from, To: to, Look: look}
	d.Draw(parsed, textMarks(parsed, m, key.found, look))
	d.Dst = append(d.Dst, text.Spaces(width-text.Width(more)-d.Used)...)
	d.Dst = append(d.Dst, look.Dim.Text(more)...)
	f.buf = d.Dst
	if f.wrap {
		return string(d.Dst)
	}
	line.drawn, line.key = string(d.Dst), key
	return line.drawn
}

// textMarks returns the highlights of a line: the matches of the search or, if there are none,
// words such as ERROR that tell a level.
func textMarks(line *logtext.Line, m *match, found bool, look *look.Look) []logtext.TextMark {
	ink := look.Found
	if found {
		ink = look.FoundHere
	}
	marks := line.MatchMarks(m.re, ink)
	if len(marks) == 0 && !line.IsStyled() {
		marks = findLevels(line.Plain(), look)
	}
	return marks
}

// clockWidth is the width of the column with the times of lines.
const clockWidth = len("15:04:05 ")

// textWidth returns the width of a line's text, beside the columns for times and names.
func (f *format) textWidth() int { return f.w - f.clockCells() - f.nameCells() }

func (f *format) clockCells() int {
	if f.clock && !f.window.isTerminal() && f.w >= 3*clockWidth {
		return clockWidth
	}
	return 0
}

// drawClock draws the time before a row of a line.
func (f *format) drawClock(line *heldLine, row int, look *look.Look) string {
	w := f.clockCells()
	if w == 0 {
		return ""
	}
	if row > 0 || line.at.IsZero() {
		return text.Spaces(w)
	}
	at := line.at.Local()
	s := at.Format(time.TimeOnly)
	if time.Since(at) > 24*time.Hour {
		s = at.Format("_2 Jan")
	}
	return look.Dim.Text(text.Pad(s, w))
}

// nameCells returns the width of the column with names, including the separator. It takes at most a
// part of the view's width.
func (f *format) nameCells() int {
	if !f.window.merged {
		return 0
	}
	return min(f.nameWidth, max(f.w/5, 6), 24) + 3
}

// drawName draws the name before a row of a line. Lines of stderr have another separator, like in
// merged logs on the command line.
func (f *format) drawName(line *heldLine, row int, look *look.Look) string {
	if !f.window.merged {
		return ""
	}
	span := &f.window.spans[line.log]
	ink, label := look.Tint(span.source.Tint), ""
	if row == 0 {
		label = text.Clip(span.source.Label, f.nameCells()-3)
	}
	rule := ink.Text(look.Glyphs.Separator)
	if span.stream == "stderr" {
		rule = look.Bad.Text("!")
	}
	return ink.Text(text.Pad(label, f.nameCells()-3)) + " " + rule + " "
}

// maxLevelScan is how many bytes at the start of a line are searched for words that tell a level.
const maxLevelScan = 200

// findLevels finds the words, such as ERROR, that tell the severity of a line.
func findLevels(s string, look *look.Look) (marks []logtext.TextMark) {
	s = s[:min(len(s), maxLevelScan)]
	for i := 0; i < len(s); i++ {
		from := i
		for i < len(s) && isLetter(s[i]) {
			i++
		}
		if ink, ok := levelInk(s[from:i], look); ok {
			marks = append(marks, logtext.TextMark{From: from, To: i, Ink: ink})
		}
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
