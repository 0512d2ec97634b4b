package processes

import (
	"slices"
	"unicode/utf8"

	"tandem/engine/api/logmerge"
)

// A window is the part of a log held in memory: consecutive lines.
type window struct {
	lines []logLine
	start int64 // offset of the first byte held
	end   int64 // offset after the last one
}

// index returns the index of the line at offset, or of the one before it.
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

// trim drops lines if there are too many: the first ones if head, else the last ones. It leaves
// three quarters of the limit, so that it rarely has to copy.
func (w *window) trim(head bool) {
	if w.end-w.start <= maxWindowBytes && len(w.lines) <= maxWindowLines {
		return
	}
	if head {
		n := 0
		for n < len(w.lines)-1 && (w.end-w.lines[n].offset > maxWindowBytes*3/4 || len(w.lines)-n > maxWindowLines*3/4) {
			n++
		}
		w.lines = slices.Clone(w.lines[n:])
		w.start = w.lines[0].offset
		return
	}
	n := len(w.lines)
	for n > 1 && (w.lines[n-1].offset-w.start > maxWindowBytes*3/4 || n > maxWindowLines*3/4) {
		n--
	}
	if n < len(w.lines) {
		w.end = w.lines[n].offset
		w.lines = slices.Clone(w.lines[:n])
	}
}

// replace makes an answer the only lines held.
func (l *Log) replace(a logAnswer) {
	at := int64(mergedBase)
	if !l.isMerged() {
		at = l.spans[0].To
	}
	l.lines, l.start, l.end = nil, at, at
	l.prepend(a.before)
	l.append(a.after, a.open)
	l.top = logRow{offset: at}
}

// append adds lines after those held. It first drops the unfinished lines, because the new ones
// include them.
func (l *Log) append(lines, open []logmerge.Line) {
	// The unfinished lines come again, longer or complete.
	for n := len(l.lines); n > 0 && l.lines[n-1].open; n-- {
		l.lines = l.lines[:n-1]
	}
	for _, line := range lines {
		i := logmerge.IndexOf(l.spans, line)
		// Notes, as on lost bytes, are for the command line.
		if line.Note != "" || i < 0 {
			continue
		}
		l.skipDropped(line)
		l.lines = appendSplit(l.lines, line, i, l.end)
		l.end += line.Next - line.Offset
		l.spans[i].To = line.Next
	}
	if l.isMerged() {
		return
	}
	for _, line := range open {
		l.skipDropped(line)
		n := len(l.lines)
		l.lines = appendSplit(l.lines, line, 0, l.end)
		for i := range l.lines[n:] {
			// The line will be read again from its start.
			l.lines[n+i].open, l.lines[n+i].next = true, line.Offset
		}
	}
}

// skipDropped drops the lines held if the log has lost lines between them and line.
func (l *Log) skipDropped(line logmerge.Line) {
	if !l.isMerged() && (line.Offset > l.end || len(l.lines) == 0) {
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
		before = appendSplit(before, line, logmerge.IndexOf(l.spans, line), at)
		at += line.Next - line.Offset
	}
	l.lines = append(before, l.lines...)
}

// appendSplit appends a line, in pieces if it is long.
func appendSplit(lines []logLine, line logmerge.Line, name int, at int64) []logLine {
	text, from := string(line.Text), line.Offset
	for {
		n, next := len(text), line.Next
		if n > maxLogLine {
			n = wholeRunes(text, maxLogLine)
			next = from + int64(n)
		}
		lines = append(lines, logLine{offset: at, raw: text[:n], name: name, at: line.At, from: from, next: next})
		if text = text[n:]; text == "" {
			return lines
		}
		// Each piece counts its own bytes, so that searching finds the right piece.
		at, from = at+next-from, next
	}
}

// wholeRunes returns the largest number of bytes of s up to n, but at least one, without cutting a
// character.
func wholeRunes(s string, n int) int {
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// dropFar drops lines far from the view and updates the spans of the rest.
func (l *Log) dropFar(head bool) {
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
		// The last lines are gone, so they must be read again.
		l.forward, l.idle, l.atEnd = nil, false, false
	}
}
