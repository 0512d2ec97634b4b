package logview

import (
	"cmp"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/screen/vt/scan"
	"tandem/panes/logtext"
)

// Limits of a window.
const (
	maxWindowBytes = 1 << 20 // bytes held
	maxWindowLines = 20_000  // lines held
	maxLine        = 16 << 10
)

// A window is the part of the logs held in memory: consecutive lines. A line of a single log has
// its offset in that log. Lines of merged logs get offsets of their own, because a position among
// them corresponds to a position in each of the logs.
type window struct {
	lines  []heldLine
	spans  []span // of the lines held, in each log
	merged bool   // the lines are those of several logs

	start  int64 // offset of the first byte held
	end    int64 // offset after the last one
	oldest int64 // offset of the first byte available
	last   int64 // end of the known bytes
}

// A span is the part of one log from which the lines held come.
type span struct {
	source   *logmerge.Source
	stream   string // "stdout" or "stderr" if they have separate logs
	from, to int64  // the first byte held, and the one after the last
	oldest   int64  // the oldest byte of the log
	seen     int64  // end of the unfinished line after to; 0 without one
	ended    bool   // its process has exited, and it was read to the end
}

// spansOf returns an empty span for each log of a process.
func spansOf(source *logmerge.Source) []span {
	if v := source.Process.Supervision; v != nil && v.SplitLog {
		return []span{{source: source, stream: "stdout"}, {source: source, stream: "stderr"}}
	}
	return []span{{source: source}}
}

// A heldLine is a line of the window, with cached results.
type heldLine struct {
	offset int64
	raw    string // without its newline
	open   bool   // its newline has not arrived
	log    int    // index of its log
	at     time.Time
	from   int64 // its offset in its own log
	next   int64 // offset of the next line there
	text   *logtext.Line
	breaks []int // first cells of its rows when wrapped
	width  int   // of these rows
	drawn  string
	key    drawKey
}

// mergedBase is the offset of the first line read of merged logs. It is large, so that earlier
// lines can have smaller offsets.
const mergedBase = 1 << 40

// isTerminal reports whether the lines are the output of a terminal.
func (w *window) isTerminal() bool {
	return !w.merged && w.spans[0].source.Process.Kind == api.KindSession
}

// index returns the index of the line at offset, or of the one before it.
func (w *window) index(offset int64) int {
	i, ok := slices.BinarySearchFunc(w.lines, offset, func(line heldLine, o int64) int { return cmp.Compare(line.offset, o) })
	if !ok {
		i--
	}
	return max(i, 0)
}

// replace drops all lines and holds those of an answer instead. It returns the offset of the
// requested position, which lies between the lines before and after it.
func (w *window) replace(a Answer) int64 {
	at := int64(mergedBase)
	if !w.merged {
		at = w.spans[0].to
	}
	w.lines, w.start, w.end = nil, at, at
	w.prepend(a.before)
	w.append(a.after, a.open)
	return at
}

// append adds lines after those held. It first drops the unfinished lines, because the new ones
// include them.
func (w *window) append(lines, open []logmerge.Line) {
	// Unfinished lines are read again, when they have grown or are complete.
	for n := len(w.lines); n > 0 && w.lines[n-1].open; n-- {
		w.lines = w.lines[:n-1]
	}
	for _, line := range lines {
		w.skipDropped(line)
		w.lines = appendSplit(w.lines, line, w.end)
		w.end += line.Next - line.Offset
		w.spans[line.Log].to = line.Next
	}
	if w.merged {
		return
	}
	for _, line := range open {
		w.skipDropped(line)
		n := len(w.lines)
		w.lines = appendSplit(w.lines, line, w.end)
		for i := range w.lines[n:] {
			// The line will be read again from its start.
			w.lines[n+i].open, w.lines[n+i].next = true, line.Offset
		}
	}
}

// skipDropped drops the lines held if the log has lost lines between them and line.
func (w *window) skipDropped(line logmerge.Line) {
	if !w.merged && (line.Offset > w.end || len(w.lines) == 0) {
		w.lines, w.start, w.end, w.spans[0].from = nil, line.Offset, line.Offset, line.Offset
	}
}

// prepend adds lines before those held.
func (w *window) prepend(lines []logmerge.Line) {
	for _, line := range lines {
		w.start -= line.Next - line.Offset
	}
	var before []heldLine
	at := w.start
	for _, line := range lines {
		before = appendSplit(before, line, at)
		at += line.Next - line.Offset
	}
	w.lines = append(before, w.lines...)
}

// appendSplit appends a line, in pieces if it is long.
func appendSplit(lines []heldLine, line logmerge.Line, at int64) []heldLine {
	text, from := string(line.Text), line.Offset
	for {
		n, next := len(text), line.Next
		if n > maxLine {
			n = scan.CompleteLen([]byte(text[:maxLine]))
			next = from + int64(n)
		}
		lines = append(lines, heldLine{offset: at, raw: text[:n], log: line.Log, at: line.At, from: from, next: next})
		if text = text[n:]; text == "" {
			return lines
		}
		// Each piece has its own offset, so that a search finds the right piece.
		at, from = at+next-from, next
	}
}

// dropFar drops lines if there are too many: the first lines if head is set, and otherwise the last
// lines. It leaves three quarters of the limit, so that lines are rarely copied. It reports whether
// the end was dropped.
func (w *window) dropFar(head bool) (endDropped bool) {
	if w.end-w.start <= maxWindowBytes && len(w.lines) <= maxWindowLines {
		return false
	}
	from, to := 0, len(w.lines)
	for to-from > 1 && (w.end-w.start > maxWindowBytes*3/4 || to-from > maxWindowLines*3/4) {
		if head {
			from++
			w.start = w.lines[from].offset
		} else {
			to--
			w.end = w.lines[to].offset
		}
	}
	w.lines = slices.Clone(w.lines[from:to])
	for i := range w.spans {
		s := &w.spans[i]
		if head {
			s.from = s.to
		} else {
			s.to = s.from
		}
	}
	for k := range w.lines {
		line := &w.lines[k]
		if head {
			line = &w.lines[len(w.lines)-1-k]
			w.spans[line.log].from = line.from
		} else {
			w.spans[line.log].to = line.next
		}
	}
	return !head
}

// updateOldest updates the offset of the first byte that the logs still have.
func (w *window) updateOldest() {
	w.oldest = w.start
	for _, s := range w.spans {
		w.oldest -= max(s.from-s.oldest, 0)
	}
}

// spansTo returns the spans of those lines held that come before an offset.
func (w *window) spansTo(offset int64) []span {
	spans := slices.Clone(w.spans)
	for i := range spans {
		spans[i].to = spans[i].from
	}
	for i := range w.lines {
		if line := &w.lines[i]; line.offset < offset {
			spans[line.log].to = line.next
		}
	}
	return spans
}

// offsetAfter returns the offset of the line after the one at offset.
func (w *window) offsetAfter(offset int64) int64 {
	i := w.index(offset)
	if i+1 < len(w.lines) && w.lines[i].offset == offset {
		return w.lines[i+1].offset
	}
	return offset + 1
}

// findLine returns the line at the given offset in one of the logs, given by its index; nil if the
// line is not held.
func (w *window) findLine(log int, offset int64) *heldLine {
	for i := range w.lines {
		if line := &w.lines[i]; line.log == log && line.from == offset {
			return line
		}
	}
	return nil
}
