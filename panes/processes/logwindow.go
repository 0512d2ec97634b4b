package processes

import (
	"slices"
	"unicode/utf8"

	"tandem/engine/api/logmerge"
)

// A window is the part of a log that is held: lines without a gap.
type window struct {
	lines []logLine
	start int64 // offset of the first byte held
	end   int64 // offset behind the last one
}

// index is the line that begins at an offset or, if none does, the one before.
func (w *window) index(offset int64) int {
	i, ok := slices.BinarySearchFunc(w.lines, offset, func(line logLine, o int64) int {
		switch {
		case line.offset < o:
			return -1
		case line.offset > o:
			return 1
		}
		return 0
	})
	if !ok {
		i--
	}
	return max(i, 0)
}

// trim lets go of lines at the end that is farther from the view.
func (w *window) trim(head bool) {
	if w.end-w.start <= logWindow && len(w.lines) <= logLines {
		return
	}
	if head {
		n := 0
		for n < len(w.lines)-1 && (w.end-w.lines[n].offset > logWindow*3/4 || len(w.lines)-n > logLines*3/4) {
			n++
		}
		w.lines = slices.Clone(w.lines[n:])
		w.start = w.lines[0].offset
		return
	}
	n := len(w.lines)
	for n > 1 && (w.lines[n-1].offset-w.start > logWindow*3/4 || n > logLines*3/4) {
		n--
	}
	if n < len(w.lines) {
		w.end = w.lines[n].offset
		w.lines = slices.Clone(w.lines[:n])
	}
}

// replace makes an answer the only lines held.
func (l *Log) replace(a logAnswer) {
	at := int64(mergedFrom)
	if !l.merged() {
		at = l.spans[0].To
	}
	l.lines, l.start, l.end = nil, at, at
	l.prepend(a.before)
	l.append(a.after, a.open)
	l.top = logPlace{offset: at}
}

// append adds lines after those held. Unfinished lines are replaced by the next ones.
func (l *Log) append(lines, open []logmerge.Line) {
	for n := len(l.lines); n > 0 && l.lines[n-1].open; n-- {
		l.lines = l.lines[:n-1]
	}
	for _, line := range lines {
		i := logmerge.IndexOf(l.spans, line)
		if line.Note != "" || i < 0 {
			continue
		}
		l.skipGone(line)
		l.lines = split(l.lines, line, i, l.end)
		l.end += line.Next - line.Offset
		l.spans[i].To = line.Next
	}
	if l.merged() {
		return
	}
	for _, line := range open {
		l.skipGone(line)
		n := len(l.lines)
		l.lines = split(l.lines, line, 0, l.end)
		for i := range l.lines[n:] {
			l.lines[n+i].open, l.lines[n+i].next = true, line.Offset
		}
	}
}

// skipGone lets go of the lines before a line of the only log if those between are gone.
func (l *Log) skipGone(line logmerge.Line) {
	if !l.merged() && (line.Offset > l.end || len(l.lines) == 0) {
		l.lines, l.start, l.end, l.spans[0].From = nil, line.Offset, line.Offset, line.Offset
	}
}

// prepend adds lines before those held.
func (l *Log) prepend(lines []logmerge.Line) {
	for _, line := range lines {
		l.start -= line.Next - line.Offset
	}
	var before []logLine
	at := l.start
	for _, line := range lines {
		before = split(before, line, logmerge.IndexOf(l.spans, line), at)
		at += line.Next - line.Offset
	}
	l.lines = append(before, l.lines...)
}

// split appends a line, in pieces if it is long.
func split(lines []logLine, line logmerge.Line, name int, at int64) []logLine {
	text, from := string(line.Text), line.Offset
	for {
		n, next := len(text), line.Next
		if n > longLogLine {
			n = wholeRunes(text, longLogLine)
			next = from + int64(n)
		}
		lines = append(lines, logLine{offset: at, raw: text[:n], name: name, at: line.At, from: from, next: next})
		if text = text[n:]; text == "" {
			return lines
		}
		at, from = at+next-from, next
	}
}

// wholeRunes returns the largest number of bytes of s up to n, but at least one, without
// cutting a character.
func wholeRunes(s string, n int) int {
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// letGo lets go of lines far from the view, and notes the rest in the spans.
func (l *Log) letGo(head bool) {
	n := len(l.lines)
	if l.trim(head); len(l.lines) == n {
		return
	}
	for i := range l.spans {
		s := &l.spans[i]
		if head {
			s.From = s.To
		} else {
			s.To = s.From
		}
	}
	for k := range l.lines {
		line := &l.lines[k]
		if head {
			line = &l.lines[len(l.lines)-1-k]
			l.spans[line.name].From = line.from
		} else {
			l.spans[line.name].To = line.next
		}
	}
	if !head {
		l.forward, l.idle, l.caught = nil, false, false
	}
}
