package logmerge

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Span is the loaded part of one log within a merged one.
type Span struct {
	Source   *Source
	Stream   string // "stdout" or "stderr" if they have separate logs
	From, To int64  // the first loaded byte, and the one after the last; From below 0: the log's end
	Oldest   int64  // the oldest byte of the log
	End      int64  // end of the log at the last read
	Until    int64  // end of the log when Last counted its lines; 0 if it has not
	Alone    bool   // the only log: its deletion is then an error
}

// isGone reports whether err means that the log was deleted and is to be treated as ended.
func (s *Span) isGone(err error) bool { return !s.Alone && errors.Is(err, api.CodeNotFound) }

// Spans returns empty spans at the ends of the process's logs: one if both streams share a log,
// otherwise one per stream, or only the given stream.
func (s *Source) Spans(stream string) []Span {
	streams := []string{""}
	if v := s.Process.Supervision; v != nil && v.SplitLog {
		streams = []string{"stdout", "stderr"}
		if slices.Contains(streams, stream) {
			streams = []string{stream}
		}
	}
	spans := make([]Span, len(streams))
	for i, stream := range streams {
		spans[i] = Span{Source: s, Stream: stream, From: -1}
	}
	return spans
}

// Before reads up to max bytes before each span and returns the lines directly before them in the
// merged log. It extends the spans by these lines.
func Before(ctx context.Context, e api.Engine, spans []Span, max int) ([]Line, error) {
	read := make([]earlier, len(spans))
	for i := range spans {
		var err error
		if read[i], err = spans[i].readBefore(ctx, e, max); err != nil {
			return nil, err
		}
	}
	var lines []Line
	for {
		last := -1
		for i := range read {
			n := len(read[i].lines)
			switch {
			case n == 0 && read[i].more: // its unread lines may be later than those of the others
				return reverseLines(lines), nil
			case n > 0 && (last < 0 || !read[i].lines[n-1].At.Before(read[last].lines[len(read[last].lines)-1].At)):
				last = i
			}
		}
		if last < 0 {
			return reverseLines(lines), nil
		}
		r := &read[last]
		line := r.lines[len(r.lines)-1]
		r.lines = r.lines[:len(r.lines)-1]
		lines = append(lines, line)
		spans[last].From = line.Offset
	}
}

func reverseLines(lines []Line) []Line {
	slices.Reverse(lines)
	return lines
}

// earlier is a part of a log before a span.
type earlier struct {
	lines []Line
	more  bool // the log has more before it
}

// readBefore reads up to most bytes of lines before a span.
func (s *Span) readBefore(ctx context.Context, e api.Engine, most int) (earlier, error) {
	since, size := int64(-most), most
	if s.From >= 0 {
		since = max(s.From-int64(most), s.Oldest)
		if size = int(s.From - since); size <= 0 {
			return earlier{}, nil
		}
	}
	out, text, err := s.read(ctx, e, since, size, 0)
	if s.isGone(err) {
		s.From, s.Oldest = max(s.From, 0), max(s.From, 0)
		s.To = max(s.To, s.From)
		return earlier{}, nil
	}
	if err != nil {
		return earlier{}, err
	}
	s.Oldest, s.End = out.Dropped, out.End
	from := out.Start
	// Start after the first line end; a line longer than most is returned in pieces.
	if i := bytes.IndexByte(text, '\n') + 1; from > out.Dropped && i < len(text) {
		from += int64(i)
		text = text[i:]
	}
	if s.From < 0 { // leave an unfinished line to later reads
		if !out.State.Ended() {
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		s.From = from + int64(len(text))
		s.To = s.From
	}
	if over := from + int64(len(text)) - s.From; over > 0 { // the log was truncated at its start meanwhile
		text = text[:max(int64(len(text))-over, 0)]
	}
	before := earlier{more: from > out.Dropped}
	for line := range bytes.Lines(text) {
		next := from + int64(len(line))
		before.lines = append(before.lines, Line{Source: s.Source, Stream: s.Stream, At: WrittenAt(out.Times, from), Offset: from, Next: next, Text: trimLineEnd(line)})
		from = next
	}
	return before, nil
}

// read reads up to size bytes of the log from since on, and waits for output if there is none.
func (s *Span) read(ctx context.Context, e api.Engine, since int64, size int, wait time.Duration) (out api.ProcessLogOutput, text []byte, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: s.Source.Process.ID, Stream: s.Stream, Since: &since, Max: max(size, 4),
		WaitMS: int(wait.Milliseconds()), Exact: true, Times: true})
	if err != nil {
		return out, nil, err
	}
	text, err = out.Bytes()
	return out, text, err
}

// timeAt returns when the byte at an offset was written.
func (s *Span) timeAt(ctx context.Context, e api.Engine, offset int64) (time.Time, error) {
	out, _, err := s.read(ctx, e, offset, 4, 0)
	return WrittenAt(out.Times, offset), err
}

// Last makes the spans empty and moves them before the last count lines of the merged log. An
// unfinished line counts too.
func Last(ctx context.Context, e api.Engine, spans []Span, count, max int) error {
	for i := range spans {
		spans[i].From = -1
	}
	lines, err := Before(ctx, e, spans, max)
	missing := count - len(lines)
	for i := range spans {
		s := &spans[i]
		if s.Until = s.End; s.To < s.End {
			missing--
		}
	}
	for err == nil && missing > 0 && HasBefore(spans) {
		lines, err = Before(ctx, e, spans, max)
		missing -= len(lines)
	}
	if err != nil {
		return err
	}
	for _, line := range lines[:min(len(lines), -min(missing, 0))] {
		spans[IndexOf(spans, line)].From = line.Next
	}
	for i := range spans {
		s := &spans[i]
		if count == 0 {
			s.From = s.End
		}
		s.To = s.From
	}
	return nil
}

// HasBefore reports whether there are lines before the spans.
func HasBefore(spans []Span) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.From > s.Oldest })
}

// IndexOf returns the index of the line's log.
func IndexOf(spans []Span, line Line) int {
	return slices.IndexFunc(spans, func(s Span) bool { return s.Source == line.Source && s.Stream == line.Stream })
}
