// Package logmerge reads the logs of several processes as one, in the order of time. It implements
// process.logs by calls of process.log. The engine uses it, and so does a client if the engine has
// no process.logs, or several engines are involved.
package logmerge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
)

const (
	defaultMax = 64 << 10
	maxMax     = 1 << 20
	maxWait    = 50 * time.Second
	// minChunk and maxChunk limit the bytes read at once from one of several logs.
	minChunk = 8 << 10
	maxChunk = 64 << 10
	// maxLine is the maximum length of a line in bytes. A longer line is returned in pieces.
	maxLine = 64 << 10
)

// A line is a line of one of the logs.
type line struct {
	log     int
	at      time.Time // when it was written; zero if unknown
	offset  int64
	next    int64  // start of the next line
	text    []byte // with its newline
	partial bool   // it is unfinished
}

// A log is one of the logs during a call.
type log struct {
	api.LogState
	state api.State // of the process at the last read
	known bool      // the caller knows that it has ended
}

// isGone reports whether err means that the log was deleted. If so, it records that the log has
// ended.
func (l *log) isGone(err error) bool {
	if !errors.Is(err, api.CodeNotFound) {
		return false
	}
	l.Error, l.Ended = err.Error(), true
	return true
}

// read reads up to size bytes from offset on.
func (l *log) read(ctx context.Context, e api.Engine, offset int64, size int, wait time.Duration) (out api.ProcessLogOutput, text []byte, err error) {
	out, err = api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: l.ID, Stream: l.Stream, Since: &offset, Max: max(size, utf8.UTFMax),
		WaitMS: int(wait.Milliseconds()), Exact: true, Times: true})
	if err != nil {
		return out, nil, err
	}
	l.End, l.Dropped, l.state = out.End, out.Dropped, out.State
	text, err = out.Bytes()
	return out, text, err
}

// hasEnded reports whether the process has exited, and its log was read to the end.
func (l *log) hasEnded() bool { return l.Ended || l.state.Ended() && l.Next >= l.End }

// timeAt returns when the byte at an offset was written.
func (l *log) timeAt(ctx context.Context, e api.Engine, offset int64) (time.Time, error) {
	out, _, err := l.read(ctx, e, offset, 1, 0)
	return writtenAt(out.Times, offset), err
}

// writtenAt returns when the byte at offset was written, or zero if that is unknown.
func writtenAt(times []api.LogTime, offset int64) time.Time {
	i, exact := slices.BinarySearchFunc(times, offset, func(t api.LogTime, offset int64) int { return cmp.Compare(t.Offset, offset) })
	switch {
	case exact:
		return times[i].At
	case i > 0:
		return times[i-1].At
	}
	return time.Time{}
}

// Read serves process.logs by calls of process.get and process.log to e.
func Read(ctx context.Context, e api.Engine, in api.ProcessLogsInput) (out api.ProcessLogsOutput, err error) {
	logs, processes, err := openLogs(ctx, e, in)
	if out.Processes = processes; err != nil {
		return out, err
	}
	limit := min(cmp.Or(in.Max, defaultMax), maxMax)
	chunk := max(limit, minChunk)
	if len(logs) > 1 { // much of what is read before the others' lines is not returned
		chunk = max(min(limit/len(logs)/2, maxChunk), minChunk)
	}
	var lines []line
	switch {
	case in.Grep != "":
		out.Match, err = find(ctx, e, logs, in.Grep, in.Backward)
	case in.Backward:
		lines, err = readBefore(ctx, e, logs, chunk)
		lines = keepLast(logs, lines, limit, in.Lines)
	default:
		lines, err = readAfter(ctx, e, logs, in, limit, chunk)
	}
	if err != nil {
		return out, err
	}
	out.Logs = make([]api.LogState, len(logs))
	for i, l := range logs {
		l.Ended = l.hasEnded()
		out.Logs[i] = l.LogState
	}
	fillData(&out, lines)
	return out, nil
}

// openLogs returns the logs of a request, at their positions. processes are those without a
// position in the cursor.
func openLogs(ctx context.Context, e api.Engine, in api.ProcessLogsInput) (logs []*log, processes []api.Process, err error) {
	switch {
	case in.Since != nil && in.Tail != nil:
		return nil, nil, api.Errorf(api.CodeInvalid, "read logs: give only one of since and tail")
	case min(in.Max, in.Lines, in.WaitMS) < 0 || in.Tail != nil && *in.Tail < 0:
		return nil, nil, api.Errorf(api.CodeInvalid, "read logs: tail, max, lines and wait_ms cannot be negative")
	case in.Backward && in.Since != nil && *in.Since < 0:
		return nil, nil, api.Errorf(api.CodeInvalid, "read logs backward: since cannot be negative")
	case in.Stream != "" && in.Stream != "both" && in.Stream != "stdout" && in.Stream != "stderr":
		return nil, nil, api.Errorf(api.CodeInvalid, "read logs: no stream %q", in.Stream).WithHint("stdout, stderr or both")
	}
	known := map[string]bool{}
	for _, c := range in.Cursor {
		logs = append(logs, &log{LogState: api.LogState{ID: c.ID, Stream: c.Stream, Start: c.Offset, Next: c.Offset}, known: c.Ended})
		known[c.ID] = true
	}
	for _, id := range in.IDs {
		p, err := api.ProcessGet.Call(ctx, e, api.IDInput{ID: id})
		if err != nil {
			return nil, nil, err
		}
		if known[p.ID] {
			continue
		}
		known[p.ID] = true
		of := logsOf(&p, in)
		if in.Tail != nil && !in.Backward {
			if err := seekTail(ctx, e, of, *in.Tail); err != nil {
				return nil, nil, err
			}
		}
		logs, processes = append(logs, of...), append(processes, p)
	}
	if len(logs) == 0 {
		return nil, nil, api.Errorf(api.CodeInvalid, "read logs: no process given").WithHint("give ids or cursor")
	}
	return logs, processes, nil
}

const (
	// atEnd is the position of a log that is to be read backward from its end.
	atEnd = -1
	// searchEnd is the position of a log that is to be searched upward from its end. It is not
	// atEnd, because process.log takes a negative offset as a distance from the end.
	searchEnd = math.MaxInt64
)

// logsOf returns the logs of a process. There is one if both streams share a log, or if only one
// was requested. Otherwise there is one for each stream.
func logsOf(p *api.Process, in api.ProcessLogsInput) (logs []*log) {
	streams := []string{""}
	if v := p.Supervision; v != nil && v.SplitLog {
		if streams = []string{"stdout", "stderr"}; slices.Contains(streams, in.Stream) {
			streams = []string{in.Stream}
		}
	}
	start := startPosition(in)
	for _, stream := range streams {
		logs = append(logs, &log{LogState: api.LogState{ID: p.ID, Stream: stream, Start: start, Next: start}})
	}
	return logs
}

// startPosition returns the position of logs for which the request has no cursor.
func startPosition(in api.ProcessLogsInput) int64 {
	switch {
	case in.Since != nil:
		return *in.Since
	case in.Backward && in.Grep == "":
		return atEnd
	case in.Backward:
		return searchEnd
	}
	return 0
}

// fillData sets the data of an answer.
func fillData(out *api.ProcessLogsOutput, lines []line) {
	size := 0
	for _, l := range lines {
		size += len(l.text)
	}
	data := make([]byte, 0, size)
	for i, l := range lines {
		data = append(data, l.text...)
		if n := len(out.Parts); n > 0 && !l.partial {
			last, before := &out.Parts[n-1], lines[i-1]
			if last.Log == l.log && before.next == l.offset && before.at.Equal(l.at) {
				last.Bytes += len(l.text)
				continue
			}
		}
		part := api.LogsPart{Log: l.log, Offset: l.offset, Bytes: len(l.text), Partial: l.partial}
		if !l.at.IsZero() {
			part.At = &l.at
		}
		out.Parts = append(out.Parts, part)
	}
	if out.Data = string(data); !utf8.Valid(data) {
		out.Data, out.DataBytes = "", base64.StdEncoding.EncodeToString(data)
	}
}

// trimLineEnd returns text without its line end.
func trimLineEnd(text []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
}
