package logmerge

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"tandem/engine/api"
)

// maxLine is the maximum length of a line in bytes; a longer one is returned in pieces.
const maxLine = 64 << 10

// A reader reads one log forward from the end of its span, line by line.
type reader struct {
	Span
	max     int       // bytes per read
	partial Line      // the unfinished last line
	last    time.Time // of the last line, used for lines without a time
	until   int64     // end of the log at the first read, or when Last counted its lines; -1 before it

	pending []Line // read but not yet returned
	over    bool   // read up to until
	late    bool   // its last call was cancelled because other logs had lines
	ended   bool   // the process has exited and its log was read to the end
}

// readNext reads the next lines. more reports whether the end of the first read is still ahead.
func (r *reader) readNext(ctx context.Context, e api.Engine, wait time.Duration) (lines []Line, more bool, err error) {
	out, text, err := r.read(ctx, e, r.To, r.max, wait)
	if r.isGone(err) {
		r.ended = true
		return r.takePartial(), false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if gone := out.Dropped - r.To; r.To >= 0 && gone > 0 {
		lines = append(lines, Line{Source: r.Source, At: r.last, Note: fmt.Sprintf("lost %d earlier bytes: the log has a size limit", gone)})
	}
	at := out.Start
	for piece := range bytes.Lines(text) {
		lines = r.addPiece(lines, Line{Source: r.Source, Stream: r.Stream, At: WrittenAt(out.Times, at), Offset: at, Next: at + int64(len(piece)), Text: piece})
		at += int64(len(piece))
	}
	moved := out.NextCursor > r.To
	if r.To, r.End = out.NextCursor, out.End; r.until < 0 {
		r.until = out.End
	}
	// An exited process may have unread output, so it has ended only after an empty read.
	if out.State.Ended() && !moved {
		r.ended = true
		lines = append(lines, r.takePartial()...)
	}
	return lines, moved && r.To < r.until, nil
}

// awaitLines waits for lines, for a part of a line if this is the only log, or for the exit of the
// process.
func (r *reader) awaitLines(ctx context.Context, e api.Engine, wait time.Duration) ([]Line, error) {
	for from := r.To; ; {
		lines, _, err := r.readNext(ctx, e, wait)
		if err != nil || len(lines) > 0 || r.Alone && r.To > from || r.ended || wait == 0 || ctx.Err() != nil {
			return lines, err
		}
	}
}

// addPiece adds a piece to the partial line, and appends that to lines once it is complete or too
// long.
func (r *reader) addPiece(lines []Line, piece Line) []Line {
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
	return append(lines, r.takePartial()...)
}

// takePartial returns and clears the partial line, if any. Its time is at least that of the
// previous line.
func (r *reader) takePartial() []Line {
	line := r.partial
	if len(line.Text) == 0 {
		return nil
	}
	r.partial = Line{}
	line.Text = trimLineEnd(line.Text)
	if line.At.Before(r.last) {
		line.At = r.last
	}
	r.last = line.At
	return []Line{line}
}

// trimLineEnd returns text without its line end.
func trimLineEnd(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
}
