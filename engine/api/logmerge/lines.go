package logmerge

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"tandem/engine/api"
)

// Call calls process.logs. If the engine has no such operation, it asks for each log instead.
func Call(ctx context.Context, e api.Engine, in api.ProcessLogsInput) (api.ProcessLogsOutput, error) {
	out, err := api.ProcessLogs.Call(ctx, e, in)
	if errors.Is(err, api.CodeNotSupported) {
		return Read(ctx, e, in)
	}
	return out, err
}

// A Line is a line of an answer, or a piece of a long one.
type Line struct {
	Log     int       // index of its log in the answer
	At      time.Time // when it was written; zero if unknown
	Offset  int64     // start of the line in its log
	Next    int64     // start of the next line
	Text    []byte    // without its line end
	Partial bool      // it is unfinished
}

// Lines returns the lines of an answer.
func Lines(out *api.ProcessLogsOutput) (lines []Line, err error) {
	data, err := out.Bytes()
	if err != nil {
		return nil, err
	}
	for _, part := range out.Parts {
		if part.Bytes < 0 || part.Bytes > len(data) || part.Log < 0 || part.Log >= len(out.Logs) {
			return nil, api.Errorf(api.CodeInternal, "read logs: the answer has wrong parts")
		}
		l := Line{Log: part.Log, Next: part.Offset, Partial: part.Partial}
		if part.At != nil {
			l.At = *part.At
		}
		for text := range bytes.Lines(data[:part.Bytes]) {
			l.Offset, l.Next, l.Text = l.Next, l.Next+int64(len(text)), trimLineEnd(text)
			lines = append(lines, l)
		}
		data = data[part.Bytes:]
	}
	return lines, nil
}

// ReadPresent reads everything that the logs contain now, and calls found with each answer and its
// lines. It moves the cursor in the input after them.
func ReadPresent(ctx context.Context, e api.Engine, in *api.ProcessLogsInput, found func(out *api.ProcessLogsOutput, lines []Line) error) error {
	var until []int64 // the ends at first: busy processes might write faster than their logs are read
	for more := true; more; {
		out, err := Call(ctx, e, *in)
		if err != nil {
			return err
		}
		lines, err := Lines(&out)
		if err != nil {
			return err
		}
		for _, l := range out.Logs[len(until):] {
			until = append(until, l.End)
		}
		lines = slices.DeleteFunc(lines, func(l Line) bool {
			log := &out.Logs[l.Log]
			later := l.Offset >= until[l.Log]
			switch {
			case later:
				log.Next = min(log.Next, l.Offset)
			case l.Partial:
				log.Next = max(log.Next, l.Next) // it is read once
			}
			return later
		})
		if err := found(&out, lines); err != nil {
			return err
		}
		in.IDs, in.Cursor, more = nil, nil, false
		for i, l := range out.Logs {
			in.Cursor = append(in.Cursor, l.Cursor())
			more = more || len(lines) > 0 && l.Next < until[i]
		}
	}
	return nil
}
