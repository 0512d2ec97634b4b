package logmerge

import (
	"bytes"
	"context"
	"slices"

	"tandem/engine/api"
)

// earlier is a part of a log before its position.
type earlier struct {
	lines []line
	more  bool // the log has more before it
}

// readBefore reads up to chunk bytes before the position of each log. It returns the lines directly
// before the positions, in the order of all logs, and moves the positions to the start of the
// lines.
func readBefore(ctx context.Context, e api.Engine, logs []*log, chunk int) ([]line, error) {
	parts := make([]earlier, len(logs))
	for i, l := range logs {
		var err error
		if parts[i], err = l.readBefore(ctx, e, i, chunk); err != nil {
			return nil, err
		}
	}
	var lines []line
	for {
		last := -1
		for i, p := range parts {
			n := len(p.lines)
			switch {
			case n == 0 && p.more: // its unread lines may be later than those of the others
				slices.Reverse(lines)
				return lines, nil
			case n > 0 && (last < 0 || !p.lines[n-1].at.Before(parts[last].lines[len(parts[last].lines)-1].at)):
				last = i
			}
		}
		if last < 0 {
			slices.Reverse(lines)
			return lines, nil
		}
		p := &parts[last]
		n := len(p.lines) - 1
		lines = append(lines, p.lines[n])
		logs[last].Start = p.lines[n].offset
		p.lines = p.lines[:n]
	}
}

// readBefore reads lines of up to maxBytes in total before the position of one log.
func (l *log) readBefore(ctx context.Context, e api.Engine, index, maxBytes int) (earlier, error) {
	since, size := int64(-maxBytes), maxBytes
	if l.Next >= 0 {
		since = max(l.Next-int64(maxBytes), 0)
		if size = int(l.Next - since); size <= 0 {
			return earlier{}, nil
		}
	}
	out, text, err := l.read(ctx, e, since, size, 0)
	if l.isGone(err) {
		l.Start, l.Next = max(l.Next, 0), max(l.Next, 0)
		return earlier{}, nil
	}
	if err != nil {
		return earlier{}, err
	}
	from := out.Start
	// Start after the first line end.
	i := bytes.IndexByte(text, '\n') + 1
	if from > out.Dropped && (i == 0 || i == len(text)) && maxBytes < maxLine {
		return l.readBefore(ctx, e, index, maxLine)
	}
	// A line longer than that is returned in pieces.
	if from > out.Dropped && i < len(text) {
		from += int64(i)
		text = text[i:]
	}
	if l.Next < 0 { // leave an unfinished line to later reads
		if !out.State.Ended() {
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		l.Next = from + int64(len(text))
	}
	if over := from + int64(len(text)) - l.Next; over > 0 { // the log was truncated at its start meanwhile
		text = text[:max(int64(len(text))-over, 0)]
	}
	l.Start = l.Next
	before := earlier{more: from > out.Dropped}
	for piece := range bytes.Lines(text) {
		next := from + int64(len(piece))
		before.lines = append(before.lines, line{log: index, at: writtenAt(out.Times, from), offset: from, next: next, text: piece})
		from = next
	}
	return before, nil
}

// keepLast keeps the last lines with at most limit bytes in total. If count is not 0, it keeps at
// most count lines.
func keepLast(logs []*log, lines []line, limit, count int) []line {
	from, size := len(lines), 0
	for from > 0 && (from == len(lines) || size+len(lines[from-1].text) <= limit) && (count == 0 || len(lines)-from < count) {
		from--
		size += len(lines[from].text)
	}
	return dropFirst(logs, lines, from)
}

// dropFirst drops the first n lines.
func dropFirst(logs []*log, lines []line, n int) []line {
	for _, l := range lines[:n] {
		logs[l.log].Start = l.next
	}
	return lines[n:]
}

// seekTail moves the logs of a process to before its last count lines. An unfinished line counts as
// a line.
func seekTail(ctx context.Context, e api.Engine, logs []*log, count int) error {
	for _, l := range logs {
		l.Next = atEnd
	}
	missing := count
	for first := true; first || missing > 0 && slices.ContainsFunc(logs, func(l *log) bool { return l.Next > l.Dropped }); first = false {
		lines, err := readBefore(ctx, e, logs, maxMax)
		if err != nil {
			return err
		}
		for _, l := range logs {
			if first && l.Next < l.End {
				missing--
			}
		}
		dropFirst(logs, lines, max(len(lines)-max(missing, 0), 0))
		missing -= len(lines)
		for _, l := range logs {
			l.Next = l.Start
		}
	}
	for _, l := range logs {
		if count == 0 {
			l.Start, l.Next = l.End, l.End
		}
	}
	return nil
}
