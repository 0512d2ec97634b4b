package logmerge

import (
	"bytes"
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
)

const (
	// settle is how long output of several followed logs is collected before it is read.
	settle = 30 * time.Millisecond
	// maxLate is how long followed logs wait for another log that does not answer.
	maxLate = time.Second
	// maxReads is how many logs are read at the same time. It also limits the open files.
	maxReads = 16
)

// A reader reads one log forward, line by line.
type reader struct {
	*log
	index   int
	chunk   int       // bytes per read
	to      int64     // end of what was read
	until   int64     // end of the log at the first read; -1 before it
	partial line      // the unfinished last line
	shown   bool      // it has been returned
	last    time.Time // of the last line, used for lines without a time

	pending []line // read but not yet returned
	over    bool   // read up to until
}

// readAfter reads lines after the positions of the logs, and moves the positions after them. If
// there are none, it waits if requested.
func readAfter(ctx context.Context, e api.Engine, logs []*log, in api.ProcessLogsInput, limit, chunk int) (lines []line, err error) {
	readers := make([]*reader, len(logs))
	for i, l := range logs {
		readers[i] = &reader{log: l, index: i, chunk: chunk, to: l.Next}
	}
	deadline := time.Now().Add(min(time.Duration(in.WaitMS)*time.Millisecond, maxWait))
	for {
		for _, r := range readers {
			r.until, r.over, r.shown = -1, false, false
		}
		if err := fillAll(ctx, e, readers, in); err != nil {
			return nil, err
		}
		size := 0
		for size < limit && (in.Lines == 0 || len(lines) < in.Lines) {
			l, ok, err := readNext(ctx, e, readers, in.Partial)
			if err != nil {
				return nil, err
			}
			// The limit is exceeded only by a single line.
			if !ok || size > 0 && size+len(l.text) > limit {
				break
			}
			size += len(l.text)
			lines = append(lines, l)
			readers[l.log].take(l)
		}
		left := time.Until(deadline)
		if in.WaitMS == 0 || left <= 0 || hasNews(readers, lines, in) || !slices.ContainsFunc(readers, func(r *reader) bool { return !r.hasEnded() }) {
			return lines, nil
		}
		lines = nil
		if err := awaitOutput(ctx, e, readers, left); err != nil {
			return nil, err
		}
	}
}

// fillAll reads the first lines of all logs concurrently. If the caller waits for output, logs that
// do not answer in time are left out. So a machine that hangs delays the others only briefly.
func fillAll(ctx context.Context, e api.Engine, readers []*reader, in api.ProcessLogsInput) error {
	filling, cancel := ctx, func() {}
	if in.WaitMS > 0 && len(readers) > 1 {
		filling, cancel = context.WithTimeout(ctx, maxLate)
	}
	defer cancel()
	failed := make([]error, len(readers))
	var calls panics.Group
	for i := range min(maxReads, len(readers)) {
		calls.Start(func() {
			for k := i; k < len(readers); k += maxReads {
				failed[k] = readers[k].fillPending(filling, e, in.Partial)
			}
		})
	}
	calls.Wait()
	for i, err := range failed {
		if err != nil && (filling.Err() == nil || ctx.Err() != nil) {
			return err
		}
		readers[i].over = readers[i].over || err != nil
	}
	return nil
}

// hasNews reports whether a waiting caller should get an answer: a log has ended, there are whole
// lines, or an unfinished line has grown.
func hasNews(readers []*reader, lines []line, in api.ProcessLogsInput) bool {
	return slices.ContainsFunc(readers, func(r *reader) bool { return !r.known && r.hasEnded() }) || slices.ContainsFunc(lines, func(l line) bool {
		return !l.partial || l.log >= len(in.Cursor) || l.next > in.Cursor[l.log].Seen
	})
}

// readNext returns the earliest pending line. ok is false if there are no more lines of those
// present at the first read.
func readNext(ctx context.Context, e api.Engine, readers []*reader, partial bool) (l line, ok bool, err error) {
	// Times can be compared only once every log has a pending line.
	var first *reader
	for _, r := range readers {
		if err := r.fillPending(ctx, e, partial); err != nil {
			return line{}, false, err
		}
		if len(r.pending) > 0 && (first == nil || r.pending[0].at.Before(first.pending[0].at)) {
			first = r
		}
	}
	if first == nil {
		return line{}, false, nil
	}
	return first.pending[0], true, nil
}

// take removes a pending line. Unless the line is unfinished, the position of the log moves after
// it.
func (r *reader) take(l line) {
	r.pending = r.pending[1:]
	if !l.partial {
		r.Next = l.next
	}
}

// fillPending reads until r has a pending line or has reached its end.
func (r *reader) fillPending(ctx context.Context, e api.Engine, partial bool) error {
	for len(r.pending) == 0 && !r.over {
		if err := r.readChunk(ctx, e); err != nil {
			return err
		}
	}
	if len(r.pending) == 0 && partial && !r.shown && len(r.partial.text) > 0 {
		r.pending, r.shown = []line{r.partial}, true
		r.pending[0].partial = true
	}
	return nil
}

// readChunk reads the next lines.
func (r *reader) readChunk(ctx context.Context, e api.Engine) error {
	out, text, err := r.read(ctx, e, r.to, r.chunk, 0)
	if r.isGone(err) {
		r.over = true
		r.flushPartial()
		return nil
	}
	if err != nil {
		return err
	}
	if out.Start != r.to { // resolved, or dropped meanwhile
		if r.to >= 0 {
			r.Lost += max(out.Start-r.to, 0)
		}
		if r.flushPartial(); len(r.pending) == 0 {
			if r.Next == r.Start { // no line has been returned
				r.Start = out.Start
			}
			r.Next = out.Start
		}
	}
	at := out.Start
	for piece := range bytes.Lines(text) { // whose capacity is its length: appending to it copies it
		next := at + int64(len(piece))
		r.addPiece(line{log: r.index, at: writtenAt(out.Times, at), offset: at, next: next, text: piece})
		at = next
	}
	moved := out.NextCursor > r.to
	if r.to = out.NextCursor; r.until < 0 {
		r.until = out.End
	}
	if r.over = !moved || r.to >= r.until; r.over && out.State.Ended() && r.to >= out.End {
		r.flushPartial()
	}
	return nil
}

// addPiece adds a piece to the unfinished line. The line becomes pending once it is complete or too
// long.
func (r *reader) addPiece(piece line) {
	if len(r.partial.text) == 0 {
		r.partial = piece
	} else {
		r.partial.text = append(r.partial.text, piece.text...)
		r.partial.next = piece.next
	}
	if bytes.HasSuffix(piece.text, []byte{'\n'}) || len(r.partial.text) >= maxLine {
		r.flushPartial()
	}
}

// flushPartial makes the unfinished line pending, if there is one. Its time is not earlier than the
// one of the line before.
func (r *reader) flushPartial() {
	l := r.partial
	if len(l.text) == 0 {
		return
	}
	r.partial = line{}
	if l.at.Before(r.last) {
		l.at = r.last
	}
	r.last = l.at
	r.pending = append(r.pending, l)
}

// awaitOutput waits until a log has grown beyond the part read, or has ended.
func awaitOutput(ctx context.Context, e api.Engine, readers []*reader, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	failed := make([]error, len(readers))
	var calls panics.Group
	for i, r := range readers {
		if r.hasEnded() {
			continue
		}
		calls.Start(func() {
			out, text, err := r.read(waiting, e, r.to, 1, wait)
			// Only a call cancelled by this function may fail.
			if waiting.Err() == nil && (err != nil || len(text) > 0 || out.State.Ended()) {
				failed[i] = err
				cancel()
			}
		})
	}
	calls.Wait()
	for i, err := range failed {
		if err != nil && !readers[i].isGone(err) {
			return err
		}
	}
	if ctx.Err() == nil && len(readers) > 1 {
		return sleep.For(ctx, settle)
	}
	return ctx.Err()
}
