package processes

import (
	"slices"

	"tandem/engine/api"
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

// replace makes data all that is held. What is not a whole line at its beginning
// is left out, unless the log begins there.
func (w *window) replace(out *api.ProcessLogOutput) {
	c := chunkOf(out, out.Start > out.Dropped)
	w.lines = c.split(nil)
	w.start, w.end = out.Start, out.NextCursor
	if len(w.lines) > 0 {
		w.start = w.lines[0].offset
	}
}

// append adds what follows on the last line held.
func (w *window) append(out *api.ProcessLogOutput) {
	c := chunkOf(out, false)
	if n := len(w.lines) - 1; n >= 0 && w.lines[n].open && c.text != "" {
		last := &w.lines[n]
		more := c.cut(longLogLine - len(last.raw))
		*last = logLine{offset: last.offset, raw: last.raw + more.raw, open: more.open}
	}
	w.lines = c.split(w.lines)
	w.end = out.NextCursor
}

// prepend adds what comes before the first line held.
func (w *window) prepend(out *api.ProcessLogOutput) {
	c := chunkOf(out, out.Start > out.Dropped)
	before := c.split(nil)
	if n := len(before); n > 0 {
		before[n-1].open = false
		w.start = before[0].offset
	} else {
		w.start = out.Start
	}
	w.lines = append(before, w.lines...)
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
