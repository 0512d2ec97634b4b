package logmerge

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
)

// lineMost is how long a line gets before it is given though its end has not come.
const lineMost = 64 << 10

// A Reader reads one log forward, line by line.
type Reader struct {
	Source *Source
	In     api.ProcessLogInput // the next question
	Skip   bool                // its answer only tells where the log ends

	partial  []Line
	last     time.Time // of the last line: what has no time of its own has that of the line before
	asked    bool
	until    int64 // where the log ended at first
	untilErr int64
	end      int64 // where it ended last

	pending []Line // read, and not given yet
	over    bool   // there is nothing more of what the log had at first
	ended   bool   // nor will there be
}

// Ask gives the lines that come next, and whether there are more of those that
// the log had at first.
func (r *Reader) Ask(ctx context.Context, e api.Engine) (lines []Line, more bool, state api.State, err error) {
	out, err := api.ProcessLog.Call(ctx, e, r.In)
	if err != nil {
		return nil, false, "", err
	}
	end, endErr := out.End, int64(0)
	if out.Stderr != nil {
		endErr = out.Stderr.End
	}
	if r.end = end + endErr; !r.asked {
		r.asked, r.until, r.untilErr = true, end, endErr
	}
	if !r.Skip {
		if gone := r.gone(out); gone > 0 {
			lines = append(lines, Line{Source: r.Source, At: r.last, Note: fmt.Sprintf("lost %d earlier bytes: the log is limited", gone)})
		}
		if lines, err = r.take(lines, out); err != nil {
			return nil, false, "", err
		}
	}
	return lines, r.moveOn(out), out.State, nil
}

// gone is how many bytes are not there any more of what was asked for.
func (r *Reader) gone(out api.ProcessLogOutput) int64 {
	if r.In.Tail > 0 || r.In.Since != nil && *r.In.Since < 0 {
		return 0
	}
	behind := func(dropped int64, since *int64) int64 {
		if since != nil {
			dropped -= *since
		}
		return max(dropped, 0)
	}
	n := behind(out.Dropped, r.In.Since)
	if out.Stderr != nil {
		n += behind(out.Stderr.Dropped, r.In.SinceStderr)
	}
	return n
}

// moveOn makes the question that follows an answer, and reports whether there
// is more of what the log had at first.
func (r *Reader) moveOn(out api.ProcessLogOutput) (more bool) {
	next, nextErr := out.NextCursor, int64(0)
	if out.Stderr != nil {
		nextErr = out.Stderr.NextCursor
	}
	if r.Skip {
		next = out.End
		if out.Stderr != nil {
			nextErr = out.Stderr.End
		}
	}
	first := r.In.Since == nil || *r.In.Since < 0
	moved := first || next > *r.In.Since || r.In.SinceStderr != nil && nextErr > *r.In.SinceStderr
	r.In.Since, r.In.Tail, r.Skip = &next, 0, false
	if out.Stderr != nil {
		r.In.SinceStderr = &nextErr
	}
	return moved && (next < r.until || nextErr < r.untilErr)
}

// Read is how many bytes of the log lie before the next question.
func (r *Reader) Read() (n int64) {
	for _, since := range []*int64{r.In.Since, r.In.SinceStderr} {
		if since != nil {
			n += *since
		}
	}
	return n
}

// take adds the lines of an answer. What has no end yet is kept for later.
func (r *Reader) take(lines []Line, out api.ProcessLogOutput) ([]Line, error) {
	text, err := out.Bytes()
	if err != nil {
		return nil, err
	}
	if out.Stderr == nil {
		stream := ""
		if r.In.Stream != "both" {
			stream = r.In.Stream
		}
		at := out.Start
		for line := range bytes.Lines(text) {
			lines = r.add(lines, Line{Stream: stream, At: WrittenAt(out.Times, at), Offset: at, Text: line})
			at += int64(len(line))
		}
		return lines, nil
	}
	at := map[string]int64{"stdout": out.Start, "stderr": out.Stderr.Start}
	for _, part := range out.Parts {
		n := min(part.Bytes, len(text))
		var written time.Time
		if part.At != nil {
			written = *part.At
		}
		for line := range bytes.Lines(text[:n]) {
			lines = r.add(lines, Line{Stream: part.Stream, At: written, Offset: at[part.Stream], Text: line})
			at[part.Stream] += int64(len(line))
		}
		text = text[n:]
	}
	return lines, nil
}

// add adds a piece of a line, which is a whole one if it has an end or is
// too long.
func (r *Reader) add(lines []Line, piece Line) []Line {
	i := slices.IndexFunc(r.partial, func(l Line) bool { return l.Stream == piece.Stream })
	if i < 0 {
		i = len(r.partial)
		r.partial = append(r.partial, Line{Source: r.Source, Stream: piece.Stream, At: piece.At, Offset: piece.Offset})
	}
	line := &r.partial[i]
	line.Text = append(line.Text, piece.Text...)
	line.Next = piece.Offset + int64(len(piece.Text))
	if !bytes.HasSuffix(line.Text, []byte{'\n'}) && len(line.Text) < lineMost {
		return lines
	}
	lines = append(lines, r.inOrder(*line))
	r.partial = slices.Delete(r.partial, i, i+1)
	return lines
}

// Rest is what has no end and will get none.
func (r *Reader) Rest() []Line {
	rest := r.partial
	r.partial = nil
	for i := range rest {
		rest[i] = r.inOrder(rest[i])
	}
	return rest
}

// inOrder is a line whose time is not before that of the one before it.
func (r *Reader) inOrder(l Line) Line {
	l.Text = trimmed(l.Text)
	if l.At.Before(r.last) {
		l.At = r.last
	}
	r.last = l.At
	return l
}

// trimmed is a line without its end.
func trimmed(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
}
