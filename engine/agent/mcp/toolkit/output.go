package toolkit

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

const (
	// maxLogPage is the maximum size of a log page from the engine.
	maxLogPage = 1 << 20
	// idLength is the number of hexadecimal digits in an id.
	idLength = 12
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
	Next    Cursor      // position after the text
	End     int64       // length of the log, or of standard output's
	More    int64       // bytes already printed after the text
	Dropped int64       // requested bytes no longer in the log
	Process api.Process // while it runs, only its id and state
}

// ReadOutput reads the output of the process with an id and marks it as seen. If there is more new
// output than fits, it returns the end. It leaves an incomplete character or control sequence at the
// end for the next call.
func (f *Agent) ReadOutput(ctx context.Context, id string, w OutputQuery) (Output, error) {
	// The text may be larger in JSON than in the log: try again with less until it fits.
	for limit := w.Max; ; {
		less := w
		less.Max = limit
		out, err := f.readOnce(ctx, id, less)
		if err != nil {
			return out, err
		}
		size := JSONSize(out.Text)
		if size <= w.Max || limit <= utf8.UTFMax {
			f.Seen.Set(id, out.Next)
			return out, nil
		}
		// Shrink by the excess and a little more, so that few rounds suffice and the loop ends.
		limit = max(utf8.UTFMax, int(int64(limit)*int64(w.Max)/int64(size))-limit/64)
	}
}

func (f *Agent) readOnce(ctx context.Context, id string, w OutputQuery) (Output, error) {
	begin, ask := f.logInput(id, w)
	got, err := f.readSpan(ctx, ask, w.Max)
	if err != nil {
		return Output{}, err
	}
	out := Output{Dropped: got.discarded}
	// There is more new output than fits. Its end is worth most, so read that instead.
	if w.Since == nil && w.Tail == 0 && got.remaining() > 0 {
		first := got.from
		end := -int64(w.Max)
		ask.Since, ask.SinceStderr, ask.WaitMS = &end, nil, 0
		if got, err = f.readSpan(ctx, ask, w.Max); err != nil {
			return Output{}, err
		}
		if n := got.from.At - first.At + got.from.Stderr - first.Stderr; n > 0 {
			out.Text = fmt.Sprintf("[%d earlier bytes left out; since %s returns them]\n", n, JSONText(first))
		}
	}
	if got.unordered {
		out.Text += "[stdout before stderr: the order they were written in is unknown]\n"
	}
	out.Text += PlainText(got.text())
	out.Next, out.End, out.More = got.next, got.end.At, got.remaining()
	// Reading one stream does not move the position in the other stream.
	switch ask.Stream {
	case "stdout":
		out.Next.Stderr = begin.Stderr
	case "stderr":
		out.Next.At = begin.At
	}
	out.Process = api.Process{ID: id, State: got.last.State}
	if got.last.Process != nil {
		out.Process = *got.last.Process
	}
	return out, nil
}

// FullID returns the id of the process or session that given refers to: by its id, the beginning of
// its id, or its name. It calls get unless given is a whole id.
func (f *Agent) FullID(ctx context.Context, given string, get api.Operation[api.IDInput, api.Process]) (string, error) {
	if len(given) == idLength && strings.Trim(given, "0123456789abcdef") == "" {
		return given, nil
	}
	p, err := get.Call(ctx, f.Engine, api.IDInput{ID: given})
	return p.ID, err
}

// LogInput returns the engine's input for a query.
func (f *Agent) LogInput(id string, w OutputQuery) api.ProcessLogInput {
	_, ask := f.logInput(id, w)
	return ask
}

// logInput returns the start of a query and the engine's input for it. A plain offset in a split log
// counts as one in standard output.
func (f *Agent) logInput(id string, w OutputQuery) (begin Cursor, ask api.ProcessLogInput) {
	ask = api.ProcessLogInput{ID: id, Stream: w.Stream, Tail: w.Tail, WaitMS: w.WaitMS, Exact: true}
	if w.Stream == "" {
		ask.Stream = "both"
	}
	begin, _ = f.Seen.At(id)
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
	case ask.Stream == "stderr":
		ask.Since = &stderr
	case ask.Stream == "both" && at >= 0:
		ask.Since, ask.SinceStderr = &at, &stderr
	default:
		ask.Since = &at
	}
	return begin, ask
}

// NextCursor returns the position after a reply.
func NextCursor(out api.ProcessLogOutput) Cursor {
	if out.Stderr == nil {
		return Cursor{At: out.NextCursor}
	}
	return Cursor{At: out.NextCursor, Stderr: out.Stderr.NextCursor, Split: true}
}

// Status describes a process in one line: its state, whether there was new output, and how much
// more there is.
func (o Output) Status() string {
	p, how := o.Process, string(o.Process.State)
	if p.State.Ended() && (p.ExitCode != nil || p.ExitSignal != "" || p.Error != "" || p.ExitUnknown) {
		how = Outcome(p)
	}
	if o.Text == "" {
		how = "nothing new, " + how
	}
	if o.More > 0 {
		how += fmt.Sprintf(", %d more bytes", o.More)
	}
	return "[" + how + "]"
}

// NoteDropped returns the output with a note about requested bytes no longer kept.
func (o Output) NoteDropped() Output {
	if o.Dropped > 0 {
		o.Text = fmt.Sprintf("[%d earlier bytes are no longer kept]\n", o.Dropped) + o.Text
	}
	return o
}

// A logSpan is a part of a log or, if the log is split by stream, of each of its halves.
type logSpan struct {
	parts           []spanPart
	size            int
	from, next, end Cursor
	discarded       int64                // requested bytes no longer in the log
	last            api.ProcessLogOutput // the last page
	unordered       bool                 // the order between the two streams is unknown
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
func (f *Agent) readSpan(ctx context.Context, ask api.ProcessLogInput, limit int) (*logSpan, error) {
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
		s.last = out
		s.addPage(ask.Stream, page, out.Parts)
		if len(page) == 0 || s.size >= limit || s.remaining() <= 0 {
			break
		}
		// Only the first request may wait or count lines; the next ones continue at its end.
		next := out.NextCursor
		ask.Since, ask.Tail, ask.WaitMS = &next, 0, 0
		if out.Stderr != nil {
			stderr := out.Stderr.NextCursor
			ask.SinceStderr = &stderr
		}
	}
	// An exited process never completes a sequence, so nothing is held back for it.
	if !s.last.State.Ended() {
		s.dropIncomplete()
	}
	return s, nil
}

// cursorAt returns the cursor for at, an offset in a reply of the engine. If the reply also covers
// standard error, the offset there is offsetOf(stderr).
func cursorAt(ask api.ProcessLogInput, at int64, stderr *api.LogPlace, offsetOf func(*api.LogPlace) int64) Cursor {
	switch {
	case stderr != nil:
		return Cursor{At: at, Stderr: offsetOf(stderr), Split: true}
	case ask.Stream == "stderr":
		return Cursor{Stderr: at, Split: true}
	}
	return Cursor{At: at, Split: ask.Stream == "stdout"}
}

// countMissing returns the number of requested bytes no longer in the log.
func countMissing(since *int64, out api.ProcessLogOutput) int64 {
	if since == nil || *since < 0 {
		return 0
	}
	return max(0, min(out.Start, out.Dropped)-*since)
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
	// Begin at the end, because only the last part of each stream can be incomplete.
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
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// RawOutput is a part of a session's output with its control sequences.
type RawOutput struct {
	Text    string
	Next    int64 // offset in the log after the text
	Dropped int64 // requested bytes no longer in the log
	Full    bool  // there may be more now
	Alive   bool  // the session runs
}

// ReadRaw reads up to limit bytes of a session's log from an offset on. Like ReadOutput it leaves an
// incomplete character or control sequence for the next call.
func (f *Agent) ReadRaw(ctx context.Context, id string, since int64, limit int) (RawOutput, error) {
	s, err := f.readSpan(ctx, api.ProcessLogInput{ID: id, Since: &since, Exact: true}, limit)
	if err != nil {
		return RawOutput{}, err
	}
	return RawOutput{Text: s.text(), Next: s.next.At, Dropped: s.discarded, Full: s.size >= limit, Alive: !s.last.State.Ended()}, nil
}
