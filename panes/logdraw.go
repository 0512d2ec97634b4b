package panes

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
)

// A drawKey is all that the drawing of a line depends on beside the line.
type drawKey struct {
	w, left, finds int
	found          bool
	text           Ink
}

// Draw gives the visible part of the log: h rows of w cells. The slice is valid
// until the next call.
func (l *Log) Draw(w, h int, look *Look) []string {
	l.SetSize(w, h)
	l.out = l.out[:0]
	if w <= 0 || h <= 0 {
		return l.out
	}
	if len(l.lines) == 0 {
		return l.drawEmpty(look)
	}
	if l.follow {
		l.top = l.bottom()
	}
	row := l.top.row
	for i := l.index(l.top.offset); i < len(l.lines) && len(l.out) < h; i++ {
		breaks := l.rowsOf(i)
		for ; row < len(breaks) && len(l.out) < h; row++ {
			l.out = append(l.out, l.margin(i, row, look)+l.drawLine(i, row, look))
		}
		row = 0
	}
	for len(l.out) < h {
		l.out = append(l.out, Spaces(w))
	}
	return l.out
}

// drawEmpty is the view as long as there is no line.
func (l *Log) drawEmpty(look *Look) []string {
	var text string
	switch {
	case l.err != nil && len(l.tail) == 0:
		text = Clean(l.err.Error())
	case l.known && len(l.tail) == 0:
		text = "nothing printed yet"
		if l.state.Ended() {
			text = "it has printed nothing"
		}
	}
	first := max(l.h-len(l.tail), 0)
	for y := range l.h {
		switch {
		case y == l.h/3 && text != "":
			l.out = append(l.out, look.Dim.Text(Center(text, l.w)))
		case y >= first:
			l.out = append(l.out, look.Dim.Text(Fit(Clean(l.tail[len(l.tail)-l.h+y]), l.w)))
		default:
			l.out = append(l.out, Spaces(l.w))
		}
	}
	return l.out
}

// drawLine draws one row of line i.
func (l *Log) drawLine(i, row int, look *Look) string {
	line := &l.lines[i]
	width := l.textWidth()
	key := drawKey{width, l.left, l.finds, line.offset == l.found, look.Text}
	if !l.wrap && line.drawn != "" && line.key == key {
		return line.drawn
	}
	text := l.text(i)
	from, to := l.rowCells(i, row)
	more := ""
	if !l.wrap && text.cells > to {
		more = look.Glyphs.More
		to -= Width(more)
	}
	d := lineDrawing{dst: l.buf[:0], from: from, to: to, look: look}
	d.draw(text, l.marks(text, key.found, look))
	d.dst = append(d.dst, Spaces(width-Width(more)-d.used)...)
	d.dst = append(d.dst, look.Dim.Text(more)...)
	l.buf = d.dst
	if l.wrap {
		return string(d.dst)
	}
	line.drawn, line.key = string(d.dst), key
	return line.drawn
}

// rowCells are the first cell of a line that a row of it shows, and the one
// behind the last.
func (l *Log) rowCells(i, row int) (from, to int) {
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

// A textMark is a part of a line's text, in bytes, that has an ink of its own.
type textMark struct {
	from, to int
	ink      Ink
	always   bool // over the line's own colours too
}

// marks are what stands out in a line: what is searched for, else words that
// tell a level.
func (l *Log) marks(text *logText, found bool, look *Look) []textMark {
	plain := text.plain()
	var marks []textMark
	if l.find != nil {
		ink := look.Found
		if found {
			ink = look.FoundHere
		}
		for _, at := range l.find.FindAllStringIndex(plain, 100) {
			if at[1] > at[0] {
				marks = append(marks, textMark{at[0], at[1], ink, true})
			}
		}
	}
	if len(marks) == 0 && !text.styled() {
		marks = levelMarks(plain, look)
	}
	return marks
}

// styled reports whether the line brings colours of its own.
func (t *logText) styled() bool {
	for i := range t.runs {
		if t.runs[i].style != (api.Style{}) {
			return true
		}
	}
	return false
}

// levelReach is how far into a line words are looked at.
const levelReach = 200

// levelMarks finds the words that tell how serious a line is.
func levelMarks(s string, look *Look) []textMark {
	var marks []textMark
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
			marks = append(marks, textMark{from: i, to: j, ink: ink})
		}
		i = j
	}
	return marks
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func levelInk(word string, look *Look) (Ink, bool) {
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

// A lineDrawing draws the cells of a line from one up to another.
type lineDrawing struct {
	dst      []byte
	from, to int
	at       int // cell of the line
	used     int // cells drawn
	look     *Look
}

func (d *lineDrawing) draw(text *logText, marks []textMark) {
	offset := 0
	for i := range text.runs {
		r := &text.runs[i]
		for piece := r.text; piece != "" && d.at < d.to; {
			n, mark := nextMark(offset, len(piece), marks)
			d.piece(piece[:n], r, mark)
			piece = piece[n:]
			offset += n
		}
	}
}

// nextMark is how many of the next n bytes are in the same mark, or in none.
func nextMark(offset, n int, marks []textMark) (int, *textMark) {
	for i := range marks {
		k := &marks[i]
		switch {
		case offset < k.from:
			return min(n, k.from-offset), nil
		case offset < k.to:
			return min(n, k.to-offset), k
		}
	}
	return n, nil
}

// piece draws a text of one look.
func (d *lineDrawing) piece(s string, r *logRun, mark *textMark) {
	s, cells := d.visible(s)
	if cells == 0 {
		return
	}
	ink := Ink("")
	switch {
	case mark != nil && (mark.always || r.style == api.Style{}):
		ink = mark.ink
	case r.sign:
		ink = d.look.Faint
	}
	run := api.Run{Text: s, Cells: cells}
	if ink != "" {
		d.dst = append(d.dst, ink...)
		d.dst, _ = appendRun(d.dst, &run, 0, cells)
		d.dst = append(d.dst, sgrReset...)
	} else {
		d.dst = appendStyle(d.dst, api.Style{}, r.style)
		d.dst, _ = appendRun(d.dst, &run, 0, cells)
		d.dst = appendStyle(d.dst, r.style, api.Style{})
	}
	d.used += cells
}

// visible is the part of s that is to be drawn and its width. A wide character
// that an edge cuts is spaces.
func (d *lineDrawing) visible(s string) (string, int) {
	if isPlain(s) {
		a := min(max(d.from-d.at, 0), len(s))
		b := min(max(d.to-d.at, a), len(s))
		d.at += len(s)
		return s[a:b], b - a
	}
	var b strings.Builder
	cells := 0
	for s != "" {
		c, n := cellwidth.First(s)
		if c == "" {
			break
		}
		s = s[len(c):]
		shown := min(d.at+n, d.to) - max(d.at, d.from)
		switch {
		case shown == n:
			b.WriteString(c)
			cells += n
		case shown > 0:
			b.WriteString(Spaces(shown))
			cells += shown
		}
		d.at += n
	}
	return b.String(), cells
}

// wrap is the cells at which the rows of a line begin that is w cells wide; no
// character is cut.
func (t *logText) wrap(w int) []int {
	breaks := []int{0}
	cell := 0
	for i := range t.runs {
		s := t.runs[i].text
		for s != "" {
			n, width := 1, 1
			if s[0] >= utf8.RuneSelf || len(s) > 1 && s[1] >= utf8.RuneSelf {
				var c string
				if c, width = cellwidth.First(s); c == "" {
					break
				}
				n = len(c)
			}
			if cell+width > breaks[len(breaks)-1]+max(w, 2) {
				breaks = append(breaks, cell)
			}
			cell += width
			s = s[n:]
		}
	}
	return breaks
}

// Heading is the row above the log: whose it is, how that process is, and what
// the view does.
func (l *Log) Heading(p *api.Process, reason string, w int, look *Look) string {
	name, rule := look.Dim, look.Rule
	if l.Focused {
		name, rule = look.Title, look.Accent
	}
	title := Clip(Clean(p.Name), max(w/3, 8))
	status := " " + l.status() + " "
	rest := w - Width(title) - Width(status) - 5
	if rest < 0 {
		return Heading(Clean(p.Name), "", w, l.Focused, look)
	}
	detail, ink := CommandText(p), look.Dim
	if reason != "" {
		detail = reason
		if _, ink = StateGlyph(p, look); p.State == api.StateRunning {
			ink = look.Warn
		}
	}
	line := rule.Text("─") + " " + name.Text(title) + " "
	if detail = Clip(detail, rest-2); detail != "" {
		line += ink.Text(detail) + " "
		rest -= Width(detail) + 1
	}
	return line + rule.Text(strings.Repeat("─", rest+1)) + look.Dim.Text(status) + rule.Text("─")
}

// status says what the view does.
func (l *Log) status() string {
	var parts []string
	if l.Stream != "" {
		parts = append(parts, l.Stream)
	}
	if l.err != nil {
		parts = append(parts, "cannot be read now")
	}
	if l.pattern != "" {
		parts = append(parts, "/"+Clip(Clean(l.Pattern()), 20))
	}
	if l.clock && l.Terminal {
		parts = append(parts, "no times of a terminal")
	}
	if l.left > 0 {
		parts = append(parts, fmt.Sprintf("column %d", l.left+1))
	}
	switch {
	case l.skipped > 0 && l.follow:
		parts = append(parts, "following, skipped "+Bytes(l.skipped))
	case l.follow:
		parts = append(parts, "following")
	default:
		parts = append(parts, fmt.Sprintf("paused %d%%", l.position()))
	}
	if l.known {
		parts = append(parts, Bytes(l.last-l.oldest))
	}
	return strings.Join(parts, " · ")
}
