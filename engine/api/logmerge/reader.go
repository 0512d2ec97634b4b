package logmerge

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"tandem/engine/api"
)

// maxLine is how long a line gets before it is given without its end.
const maxLine = 64 << 10

// A reader reads one log forward from the end of its span, line by line.
type reader struct {
	Span
	max     int       // bytes at a time
	partial Line      // the unfinished last line
	last    time.Time // of the last line: a line without a time has that of the line before
	until   int64     // where the log ended when it was first read; -1 before that

	pending []Line // read, and not given yet
	over    bool   // all up to until has been read
	late    bool   // others had lines before it answered
	ended   bool   // the process has ended and all of its log has been read
}

// next reads the lines that come next, and reports whether there are more of those that the
// log had at first.
func (r *reader) next(ctx context.Context, e api.Engine, wait time.Duration) (lines []Line, more bool, err error) {
	out, text, err := r.read(ctx, e, r.To, r.max, wait)
	if r.gone(err) {
		r.ended = true
		return r.rest(), false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if gone := out.Dropped - r.To; r.To >= 0 && gone > 0 {
		lines = append(lines, Line{Source: r.Source, At: r.last, Note: fmt.Sprintf("lost %d earlier bytes: the log is limited", gone)})
	}
	at := out.Start
	for piece := range bytes.Lines(text) {
		lines = r.add(lines, Line{Source: r.Source, Stream: r.Stream, At: WrittenAt(out.Times, at), Offset: at, Next: at + int64(len(piece)), Text: piece})
		at += int64(len(piece))
	}
	moved := out.NextCursor > r.To
	if r.To, r.End = out.NextCursor, out.End; r.until < 0 {
		r.until = out.End
	}
	if out.State.Ended() && !moved {
		r.ended = true
		lines = append(lines, r.rest()...)
	}
	return lines, moved && r.To < r.until, nil
}

// await waits for lines, for a piece of one if there is only this log, or for the end of the
// process.
func (r *reader) await(ctx context.Context, e api.Engine, wait time.Duration) ([]Line, error) {
	for from := r.To; ; {
		lines, _, err := r.next(ctx, e, wait)
		if err != nil || len(lines) > 0 || r.Alone && r.To > from || r.ended || wait == 0 || ctx.Err() != nil {
			return lines, err
		}
	}
}

// add adds a piece of a line, which is a whole one if it has an end or is too long.
func (r *reader) add(lines []Line, piece Line) []Line {
	if len(r.partial.Text) == 0 {
		r.partial = piece
		r.partial.Text = bytes.Clone(piece.Text)
	} else {
		r.partial.Text = append(r.partial.Text, piece.Text...)
		r.partial.Next = piece.Next
	}
	if !bytes.HasSuffix(piece.Text, []byte{'\n'}) && len(r.partial.Text) < maxLine {
		return lines
	}
	return append(lines, r.rest()...)
}

// rest returns the unfinished line, which gets no end. Its time is not before that of the
// line before.
func (r *reader) rest() []Line {
	line := r.partial
	if len(line.Text) == 0 {
		return nil
	}
	r.partial = Line{}
	line.Text = trimmed(line.Text)
	if line.At.Before(r.last) {
		line.At = r.last
	}
	r.last = line.At
	return []Line{line}
}

// trimmed returns a line without its end.
func trimmed(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
}
