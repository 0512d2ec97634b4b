package toolkit

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

// A Wish is what of a process's output is to be read: from a place on or the
// last lines, or else what the agent has not seen.
type Wish struct {
	Stream string // stdout, stderr or both, where they are kept apart; default both
	Since  *Cursor
	Tail   int // lines
	WaitMS int
	Most   int // bytes in JSON
}

// Output is a part of what a process has printed, as text that no terminal has
// to make sense of. Its notes stand in brackets.
type Output struct {
	Text    string
	Next    Cursor // where what follows it begins
	More    int64  // bytes that follow it already
	Process api.Process

	ended bool // nothing more will come
}

// Output reads what a process has printed, and remembers that the agent has seen
// it. Of what is new but more than was wished for it gives the end.
func (f *Agent) Output(ctx context.Context, p api.Process, w Wish) (Output, error) {
	out, err := fitting(w.Most, func(limit int) (Output, string, error) {
		w.Most = limit
		out, err := f.read(ctx, p, w)
		return out, out.Text, err
	})
	if err != nil {
		return out, err
	}
	f.Seen.Set(p.ID, out.Next)
	if out.ended && !p.State.Ended() {
		out.Process, err = api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: p.ID})
	}
	return out, err
}

// fitting reads less, in bytes of a log, until its text has at most so many bytes in JSON.
func fitting[R any](most int, read func(limit int) (R, string, error)) (R, error) {
	for limit := most; ; {
		r, text, err := read(limit)
		size := JSONSize(text)
		if err != nil || size <= most || limit <= utf8.UTFMax {
			return r, err
		}
		limit = max(utf8.UTFMax, int(int64(limit)*int64(most)/int64(size))-limit/64)
	}
}

func (f *Agent) read(ctx context.Context, p api.Process, w Wish) (Output, error) {
	begin, ask := f.begin(p, w)
	got, err := readStretch(ctx, f, ask, w.Most)
	if err != nil {
		return Output{}, err
	}
	var notes string
	if begin.At >= 0 && begin.Stderr >= 0 && got.lost > 0 {
		notes = fmt.Sprintf("[%d bytes before this are no longer kept]\n", got.lost)
	}
	if w.Since == nil && w.Tail == 0 && got.more() > 0 {
		first := got.from
		end := -int64(w.Most)
		ask.Since, ask.SinceStderr, ask.WaitMS = &end, nil, 0
		if got, err = readStretch(ctx, f, ask, w.Most); err != nil {
			return Output{}, err
		}
		first.Apart = begin.Apart
		if n := got.from.At - first.At + got.from.Stderr - first.Stderr; n > 0 {
			notes += fmt.Sprintf("[%d bytes before this left out; since %s gives them]\n", n, JSONText(first))
		}
	}
	if got.unordered {
		notes += "[stdout before stderr: when each was written is not known]\n"
	}
	out := Output{Text: notes + got.text(), Next: begin, More: got.more(), Process: p, ended: got.ended}
	if ask.Stream != "stderr" || !begin.Apart {
		out.Next.At = got.next.At
	}
	if ask.Stream != "stdout" {
		out.Next.Stderr = got.next.Stderr
	}
	return out, nil
}

// begin is where reading begins, and how that is asked for. A plain offset that
// does not say in which of two streams it lies is one of standard output.
func (f *Agent) begin(p api.Process, w Wish) (Cursor, api.ProcessLogInput) {
	begin, _ := f.Seen.At(p.ID)
	begin.Apart = p.Supervision != nil && p.Supervision.SplitLog
	ask := api.ProcessLogInput{ID: p.ID, Stream: w.Stream, Tail: w.Tail, WaitMS: w.WaitMS, Exact: true}
	if w.Stream == "" {
		ask.Stream = "both"
	}
	switch since := w.Since; {
	case since == nil:
	case since.Apart, since.At <= 0 && ask.Stream == "both":
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
	case ask.Stream == "stderr" && begin.Apart:
		ask.Since = &stderr
	case ask.Stream == "both" && begin.Apart && at >= 0:
		ask.Since, ask.SinceStderr = &at, &stderr
	default:
		ask.Since = &at
	}
	return begin, ask
}

// Asked is a wish as the engine is asked for it.
func (f *Agent) Asked(p api.Process, w Wish) api.ProcessLogInput {
	_, ask := f.begin(p, w)
	return ask
}

// CursorOf is where what follows an answer begins.
func CursorOf(ask api.ProcessLogInput, out api.ProcessLogOutput) Cursor {
	c := placed(ask, out.NextCursor, out.Stderr, func(p *api.LogPlace) int64 { return p.NextCursor })
	if c.Apart = out.Stderr != nil; ask.Stream == "stderr" {
		c.At, c.Stderr = c.Stderr, 0
	}
	return c
}

// Status tells in a line whether a process runs, whether there was anything new,
// and how much more there is.
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

// A stretch is a part of a log, or of both halves of one.
type stretch struct {
	parts           []stretchPart
	size            int
	from, next, end Cursor
	lost            int64 // bytes that were asked for and are no longer kept
	ended           bool  // nothing more will come
	unordered       bool  // of parts of both streams nobody knows the order
}

type stretchPart struct {
	stream string
	text   []byte
}

// more is how much there is behind the stretch.
func (s *stretch) more() int64 {
	return s.end.At - s.next.At + s.end.Stderr - s.next.Stderr
}

// readStretch reads up to most bytes. What its end has cut, a character or a
// control sequence, is left for the next one.
func readStretch(ctx context.Context, f *Agent, ask api.ProcessLogInput, most int) (*stretch, error) {
	s := &stretch{}
	for first := true; ; first = false {
		ask.Max = min(most-s.size, logPage)
		out, err := api.ProcessLog.Call(ctx, f.Engine, ask)
		if err != nil {
			return nil, err
		}
		page, err := out.Bytes()
		if err != nil {
			return nil, err
		}
		if first {
			s.from = placed(ask, out.Start, out.Stderr, func(p *api.LogPlace) int64 { return p.Start })
			s.lost = missed(ask.Since, out)
			if p := out.Stderr; p != nil {
				s.lost += missed(ask.SinceStderr, api.ProcessLogOutput{Start: p.Start, Dropped: p.Dropped})
			}
		}
		s.next = placed(ask, out.NextCursor, out.Stderr, func(p *api.LogPlace) int64 { return p.NextCursor })
		s.end = placed(ask, out.End, out.Stderr, func(p *api.LogPlace) int64 { return p.End })
		s.ended = out.State.Ended()
		s.add(ask.Stream, page, out.Parts)
		if len(page) == 0 || s.size >= most || s.more() <= 0 {
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
		s.leaveCut()
	}
	return s, nil
}

// placed is an offset of an answer, and the one in standard error where it has
// one.
func placed(ask api.ProcessLogInput, at int64, stderr *api.LogPlace, of func(*api.LogPlace) int64) Cursor {
	switch {
	case stderr != nil:
		return Cursor{At: at, Stderr: of(stderr)}
	case ask.Stream == "stderr":
		return Cursor{Stderr: at}
	}
	return Cursor{At: at}
}

// add takes in a page, which is of one stream unless it has parts.
func (s *stretch) add(stream string, page []byte, parts []api.LogPart) {
	s.size += len(page)
	if parts == nil && len(page) > 0 {
		parts = []api.LogPart{{Stream: stream, Bytes: len(page)}}
	}
	unknown := map[string]bool{}
	for _, p := range parts {
		n := min(p.Bytes, len(page))
		s.parts = append(s.parts, stretchPart{p.Stream, page[:n]})
		page = page[n:]
		if p.At == nil {
			unknown[p.Stream] = true
		}
	}
	s.unordered = s.unordered || len(unknown) > 1
}

// leaveCut leaves out what the end of each stream has cut.
func (s *stretch) leaveCut() {
	done := map[string]bool{}
	for i := len(s.parts) - 1; i >= 0; i-- {
		p := &s.parts[i]
		if done[p.stream] {
			continue
		}
		done[p.stream] = true
		whole := WholeLength(p.text)
		if cut := int64(len(p.text) - whole); p.stream == "stderr" {
			s.next.Stderr -= cut
		} else {
			s.next.At -= cut
		}
		p.text = p.text[:whole]
	}
}

// text is all parts, each stream's on lines of its own.
func (s *stretch) text() string {
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
