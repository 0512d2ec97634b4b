package logmerge

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"tandem/engine/api"
)

// A Span is the part of one log that is held of a merged one.
type Span struct {
	Source   *Source
	Stream   string // "stdout" or "stderr" where they are kept apart
	Untimed  bool   // the log of a terminal
	From, To int64  // the first byte held, and the one behind the last; From below 0: the end, wherever that is
	Oldest   int64  // the first byte that there is
}

// Forward reads on behind what is held, most bytes at a time.
func Forward(spans []Span, most int) *Merge {
	m := &Merge{}
	for i := range spans {
		s := &spans[i]
		since := s.To
		m.Readers = append(m.Readers, &Reader{Source: s.Source,
			In: api.ProcessLogInput{ID: s.Source.Process.ID, Stream: s.Stream, Since: &since, Max: most, Exact: true, Times: !s.Untimed}})
	}
	return m
}

// Before reads what comes before the spans, up to most bytes of each, and
// gives the lines of that which are the last ones of the merged log before them.
// The spans begin with them then.
func Before(ctx context.Context, e api.Engine, spans []Span, most int) ([]Line, error) {
	read := make([]earlier, len(spans))
	for i := range spans {
		var err error
		if read[i], err = spans[i].before(ctx, e, most); err != nil {
			return nil, err
		}
	}
	var lines []Line
	for {
		last := -1
		for i := range read {
			n := len(read[i].lines)
			switch {
			case n == 0 && read[i].more: // what comes before may be later than all others
				return reversed(lines), nil
			case n > 0 && (last < 0 || !read[i].lines[n-1].At.Before(read[last].lines[len(read[last].lines)-1].At)):
				last = i
			}
		}
		if last < 0 {
			return reversed(lines), nil
		}
		r := &read[last]
		line := r.lines[len(r.lines)-1]
		r.lines = r.lines[:len(r.lines)-1]
		lines = append(lines, line)
		spans[last].From = line.Offset
	}
}

func reversed(lines []Line) []Line {
	slices.Reverse(lines)
	return lines
}

// earlier is what a log has before a span.
type earlier struct {
	lines []Line
	more  bool // there is something before them
}

// before reads the lines before a span.
func (s *Span) before(ctx context.Context, e api.Engine, most int) (earlier, error) {
	since, size := int64(-most), most
	if s.From >= 0 {
		since = max(s.From-int64(most), s.Oldest)
		if size = int(s.From - since); size <= 0 {
			return earlier{}, nil
		}
	}
	out, text, err := s.read(ctx, e, since, size)
	if errors.Is(err, api.CodeNotFound) {
		s.From, s.Oldest = max(s.From, 0), max(s.From, 0)
		s.To = max(s.To, s.From)
		return earlier{}, nil
	}
	if err != nil {
		return earlier{}, err
	}
	s.Oldest = out.Dropped
	from := out.Start
	if from > out.Dropped {
		i := bytes.IndexByte(text, '\n') + 1
		from += int64(i)
		text = text[i:]
	}
	if s.From < 0 { // what has no end yet is left for what comes
		if !out.State.Ended() {
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		s.From = from + int64(len(text))
		s.To = s.From
	}
	if over := from + int64(len(text)) - s.From; over > 0 { // the log begins later than it did
		text = text[:max(int64(len(text))-over, 0)]
	}
	before := earlier{more: from > out.Dropped}
	for line := range bytes.Lines(text) {
		next := from + int64(len(line))
		before.lines = append(before.lines, Line{Source: s.Source, Stream: s.Stream, At: WrittenAt(out.Times, from), Offset: from, Next: next, Text: trimmed(line)})
		from = next
	}
	return before, nil
}

// read reads a piece of the log.
func (s *Span) read(ctx context.Context, e api.Engine, since int64, size int) (out api.ProcessLogOutput, text []byte, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: s.Source.Process.ID, Stream: s.Stream, Since: &since, Max: max(size, 4), Exact: true, Times: !s.Untimed})
	if err != nil {
		return out, nil, err
	}
	text, err = out.Bytes()
	return out, text, err
}

// timeAt is when what is at an offset was written.
func (s *Span) timeAt(ctx context.Context, e api.Engine, offset int64) (time.Time, error) {
	out, _, err := s.read(ctx, e, offset, 4)
	return WrittenAt(out.Times, offset), err
}
