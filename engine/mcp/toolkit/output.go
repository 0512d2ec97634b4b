package toolkit

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

// An OutputQuery selects a part of a process's output: from a position, the last lines, or
// otherwise everything the agent has not seen.
type OutputQuery struct {
	Stream string // stdout, stderr or both, if the log is split; default both
	Since  *Cursor
	Tail   int // number of lines
	WaitMS int
	Max    int // maximum size in JSON, in bytes
}

// Output is a part of a process's output as plain text, with notes in brackets.
type Output struct {
	Text    string
	Next    Cursor // position after the text
	More    int64  // bytes already printed after it
	Process api.Process

	ended bool // there will be no more output
}

// ReadOutput reads a process's output and marks it as seen. If there is more new output than fits,
// it returns the end.
func (f *Agent) ReadOutput(ctx context.Context, p api.Process, w OutputQuery) (Output, error) {
	out, err := readFitting(w.Max, func(limit int) (Output, string, error) {
		w.Max = limit
		out, err := f.readOnce(ctx, p, w)
		return out, out.Text, err
	})
	if err != nil {
		return out, err
	}
	f.Seen.Set(p.ID, out.Next)
	// The process exited after p was fetched; the result needs its exit status.
	if out.ended && !p.State.Ended() {
		out.Process, err = api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: p.ID})
	}
	return out, err
}

// readFitting calls read with ever smaller limits, in log bytes, until the text has at most maxSize
// bytes in JSON.
func readFitting[R any](maxSize int, read func(limit int) (R, string, error)) (R, error) {
	for limit := maxSize; ; {
		r, text, err := read(limit)
		size := JSONSize(text)
		if err != nil || size <= maxSize || limit <= utf8.UTFMax {
			return r, err
		}
		// Shrink by the excess and a little more, so that few rounds suffice and the loop ends.
		limit = max(utf8.UTFMax, int(int64(limit)*int64(maxSize)/int64(size))-limit/64)
	}
}

func (f *Agent) readOnce(ctx context.Context, p api.Process, w OutputQuery) (Output, error) {
	begin, ask := f.startCursor(p, w)
	got, err := readSpan(ctx, f, ask, w.Max)
	if err != nil {
		return Output{}, err
	}
	var notes string
	if begin.At >= 0 && begin.Stderr >= 0 && got.discarded > 0 {
		notes = fmt.Sprintf("[%d earlier bytes are no longer kept]\n", got.discarded)
	}
	// There is more new output than fits. Its end is worth most, so read that instead.
	if w.Since == nil && w.Tail == 0 && got.remaining() > 0 {
		first := got.from
		end := -int64(w.Max)
		ask.Since, ask.SinceStderr, ask.WaitMS = &end, nil, 0
		if got, err = readSpan(ctx, f, ask, w.Max); err != nil {
			return Output{}, err
		}
		first.Split = begin.Split
		if n := got.from.At - first.At + got.from.Stderr - first.Stderr; n > 0 {
			notes += fmt.Sprintf("[%d earlier bytes left out; since %s returns them]\n", n, JSONText(first))
		}
	}
	if got.unordered {
		notes += "[stdout before stderr: the order they were written in is unknown]\n"
	}
	out := Output{Text: notes + got.text(), Next: begin, More: got.remaining(), Process: p, ended: got.ended}
	if ask.Stream != "stderr" || !begin.Split {
		out.Next.At = got.next.At
	}
	if ask.Stream != "stdout" {
		out.Next.Stderr = got.next.Stderr
	}
	return out, nil
}

// startCursor returns the start of a query and the engine's input for it. A plain offset in a split
// log counts as one in standard output.
func (f *Agent) startCursor(p api.Process, w OutputQuery) (Cursor, api.ProcessLogInput) {
	begin, _ := f.Seen.At(p.ID)
	begin.Split = p.Supervision != nil && p.Supervision.SplitLog
	ask := api.ProcessLogInput{ID: p.ID, Stream: w.Stream, Tail: w.Tail, WaitMS: w.WaitMS, Exact: true}
	if w.Stream == "" {
		ask.Stream = "both"
	}
	switch since := w.Since; {
	case since == nil:
	case since.Split, since.At <= 0 && ask.Stream == "both":
		begin.At, begin.Stderr = since.At, since.Stderr
	case ask.Stream == "stderr":
		begin.Stderr = since.At
	default:
		begin.At = since.At
	}
	if w.Tail > 0 {
		return begin, ask
	}
	at, stderr := begin.At, begin.Stderr
	switch {
	case ask.Stream == "stderr" && begin.Split:
		ask.Since = &stderr
	case ask.Stream == "both" && begin.Split && at >= 0:
		ask.Since, ask.SinceStderr = &at, &stderr
	default:
		ask.Since = &at
	}
	return begin, ask
}

// LogInput returns the engine's input for a query.
func (f *Agent) LogInput(p api.Process, w OutputQuery) api.ProcessLogInput {
	_, ask := f.startCursor(p, w)
	return ask
}

// NextCursor returns the position after a reply.
func NextCursor(ask api.ProcessLogInput, out api.ProcessLogOutput) Cursor {
	c := cursorAt(ask, out.NextCursor, out.Stderr, func(p *api.LogPlace) int64 { return p.NextCursor })
	if c.Split = out.Stderr != nil; ask.Stream == "stderr" {
		c.At, c.Stderr = c.Stderr, 0
	}
	return c
}

// Status describes a process in one line: its state, whether there was new output, and how much
// more there is.
func (o Output) Status() string {
	p, how := o.Process, string(o.Process.State)
	switch {
	case !p.State.Ended():
	case p.ExitCode != nil:
		how = fmt.Sprintf("exit code %d", *p.ExitCode)
	case p.ExitSignal != "":
		how = "ended by " + p.ExitSignal
	case p.Error != "":
		how = "failed: " + p.Error
	case p.ExitUnknown:
		how = "exit code unknown"
	}
	if o.Text == "" {
		how = "nothing new, " + how
	}
	if o.More > 0 {
		how += fmt.Sprintf(", %d more bytes", o.More)
	}
	return "[" + how + "]"
}

// A logSpan is a part of a log, or of both halves of a split one.
type logSpan struct {
	parts           []spanPart
	size            int
	from, next, end Cursor
	discarded       int64 // requested bytes no longer in the log
	ended           bool  // there will be no more output
	unordered       bool  // the order between the two streams is unknown
}

type spanPart struct {
	stream string
	text   []byte
}

// remaining returns the number of bytes after the span.
func (s *logSpan) remaining() int64 {
	return s.end.At - s.next.At + s.end.Stderr - s.next.Stderr
}

// readSpan reads up to limit bytes. It leaves an incomplete character or control sequence at the
// end for the next call.
func readSpan(ctx context.Context, f *Agent, ask api.ProcessLogInput, limit int) (*logSpan, error) {
	s := &logSpan{}
	for first := true; ; first = false {
		ask.Max = min(limit-s.size, maxLogPage)
		out, err := api.ProcessLog.Call(ctx, f.Engine, ask)
		if err != nil {
			return nil, err
		}
		page, err := out.Bytes()
		if err != nil {
			return nil, err
		}
		if first {
			s.from = cursorAt(ask, out.Start, out.Stderr, func(p *api.LogPlace) int64 { return p.Start })
			s.discarded = countMissing(ask.Since, out)
			if p := out.Stderr; p != nil {
				s.discarded += countMissing(ask.SinceStderr, api.ProcessLogOutput{Start: p.Start, Dropped: p.Dropped})
			}
		}
		s.next = cursorAt(ask, out.NextCursor, out.Stderr, func(p *api.LogPlace) int64 { return p.NextCursor })
		s.end = cursorAt(ask, out.End, out.Stderr, func(p *api.LogPlace) int64 { return p.End })
		s.ended = out.State.Ended()
		s.addPage(ask.Stream, page, out.Parts)
		if len(page) == 0 || s.size >= limit || s.remaining() <= 0 {
			break
		}
		next := out.NextCursor
		ask.Since, ask.Tail, ask.WaitMS = &next, 0, 0
		if out.Stderr != nil {
			stderr := out.Stderr.NextCursor
			ask.SinceStderr = &stderr
		}
	}
	if !s.ended {
		s.dropIncomplete()
	}
	return s, nil
}

// cursorAt returns a cursor for an offset in a reply, including the one in standard error if there
// is one.
func cursorAt(ask api.ProcessLogInput, at int64, stderr *api.LogPlace, of func(*api.LogPlace) int64) Cursor {
	switch {
	case stderr != nil:
		return Cursor{At: at, Stderr: of(stderr)}
	case ask.Stream == "stderr":
		return Cursor{Stderr: at}
	}
	return Cursor{At: at}
}

// addPage adds a page. Without parts it belongs to one stream.
func (s *logSpan) addPage(stream string, page []byte, parts []api.LogPart) {
	s.size += len(page)
	if parts == nil && len(page) > 0 {
		parts = []api.LogPart{{Stream: stream, Bytes: len(page)}}
	}
	// Parts without a time cannot be ordered against those of the other stream.
	unknown := map[string]bool{}
	for _, p := range parts {
		n := min(p.Bytes, len(page))
		s.parts = append(s.parts, spanPart{p.Stream, page[:n]})
		page = page[n:]
		if p.At == nil {
			unknown[p.Stream] = true
		}
	}
	s.unordered = s.unordered || len(unknown) > 1
}

// dropIncomplete removes an incomplete character or control sequence from the end of each stream.
func (s *logSpan) dropIncomplete() {
	// From the end: only the last part of each stream can be incomplete.
	done := map[string]bool{}
	for i := len(s.parts) - 1; i >= 0; i-- {
		p := &s.parts[i]
		if done[p.stream] {
			continue
		}
		done[p.stream] = true
		whole := CompleteLength(p.text)
		if cut := int64(len(p.text) - whole); p.stream == "stderr" {
			s.next.Stderr -= cut
		} else {
			s.next.At -= cut
		}
		p.text = p.text[:whole]
	}
}

// text returns all parts. Each starts on a new line if the stream changes.
func (s *logSpan) text() string {
	var b strings.Builder
	stream, ended := "", true
	for _, p := range s.parts {
		if len(p.text) == 0 {
			continue
		}
		if p.stream != stream && !ended {
			b.WriteByte('\n')
		}
		b.Write(p.text)
		stream, ended = p.stream, p.text[len(p.text)-1] == '\n'
	}
	return PlainText(strings.ToValidUTF8(b.String(), "\uFFFD"))
}
