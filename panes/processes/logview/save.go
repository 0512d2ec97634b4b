package logview

import (
	"context"
	"fmt"
	"io"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// A CopyFunc writes a log to a file. It may run concurrently with the log.
type CopyFunc func(context.Context, api.Engine, io.Writer) (written int64, err error)

// CopyFunc returns a function that copies the whole log as it is when the function is called. A
// single log is copied byte for byte; merged logs have the name of the process before each line.
func (l *Log) CopyFunc() CopyFunc {
	if !l.window.merged {
		in := api.ProcessLogInput{ID: l.ID, Stream: l.Stream, Max: 1 << 20, Exact: true}
		return func(ctx context.Context, e api.Engine, to io.Writer) (int64, error) { return copyLog(ctx, e, in, to) }
	}
	in := api.ProcessLogsInput{Max: 1 << 20, Partial: true}
	labels := map[string]string{}
	for _, s := range l.window.spans {
		labels[s.source.Process.ID] = s.source.Label
		in.Cursor = append(in.Cursor, api.LogCursor{ID: s.source.Process.ID, Stream: s.stream})
	}
	return func(ctx context.Context, e api.Engine, to io.Writer) (int64, error) {
		return copyMerged(ctx, e, in, labels, to)
	}
}

// copyLog copies a log up to its present end. Parts that the log drops meanwhile are missing.
func copyLog(ctx context.Context, e api.Engine, in api.ProcessLogInput, to io.Writer) (written int64, err error) {
	end := int64(-1)
	for {
		out, err := api.ProcessLog.Call(ctx, e, in)
		if err != nil {
			return written, err
		}
		// Stop at the end found by the first call: a busy process might write faster than it is copied.
		if end < 0 {
			end = out.End
		}
		piece, err := out.Bytes()
		if err == nil {
			_, err = to.Write(piece)
		}
		written += int64(len(piece))
		if err != nil || out.NextCursor >= end || len(piece) == 0 {
			return written, err
		}
		next := out.NextCursor
		in.Since = &next
	}
}

// copyMerged copies merged logs up to their present end, with the name of the process before each
// line.
func copyMerged(ctx context.Context, e api.Engine, in api.ProcessLogsInput, labels map[string]string, to io.Writer) (written int64, err error) {
	err = logmerge.ReadPresent(ctx, e, &in, func(out *api.ProcessLogsOutput, lines []logmerge.Line) error {
		for _, l := range lines {
			log, sign := &out.Logs[l.Log], "|"
			if log.Stream == "stderr" {
				sign = "!"
			}
			n, err := fmt.Fprintf(to, "%s %s %s\n", labels[log.ID], sign, l.Text)
			if written += int64(n); err != nil {
				return err
			}
		}
		return nil
	})
	return written, err
}
