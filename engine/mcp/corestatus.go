package mcp

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

const (
	// streamMost bounds how much of one stream of output a result holds.
	streamMost = 1 << 20
	// untilDone is the time-out of a call that waits as long as it takes.
	untilDone = 24 * time.Hour
	// stopPatience is the time from SIGTERM to SIGKILL, in milliseconds.
	stopPatience = 5000
)

// exitCode is the exit code of what has ended, 128 and the signal's number of
// what a signal ended, as shells have it; ok is false if nobody knows.
func exitCode(p api.Process) (code int, ok bool) {
	if p.ExitCode != nil {
		return *p.ExitCode, true
	}
	if n := unix.SignalNum(p.ExitSignal); n > 0 {
		return 128 + int(n), true
	}
	return 0, false
}

// exitText is exitCode in words.
func exitText(p api.Process) string {
	if code, ok := exitCode(p); ok {
		return strconv.Itoa(code)
	}
	return "unknown"
}

// lasted is how long a process ran, or has run.
func lasted(p api.Process) time.Duration {
	end := time.Now()
	if p.ExitedAt != nil {
		end = *p.ExitedAt
	}
	return max(end.Sub(p.StartedAt), 0)
}

// cannotStart is why a program could not be started, without its name.
func cannotStart(argv []string, err error) string {
	message := api.AsError(err).Message
	if len(argv) > 0 {
		message = strings.TrimPrefix(message, "start "+strconv.Quote(argv[0])+": ")
	}
	return message
}

// printed is the end of what a process has printed to one of its streams, at
// most streamMost bytes; dropped counts those before it. Of a process that does
// not keep its streams apart stdout is all.
func (f *face) printed(ctx context.Context, p api.Process, stream string) (output string, dropped int64, err error) {
	if p.Supervision == nil || !p.Supervision.SplitLog {
		if stream == "stderr" {
			return "", 0, nil
		}
		stream = ""
	}
	since := int64(-streamMost)
	var b strings.Builder
	for {
		in := api.ProcessLogInput{ID: p.ID, Stream: stream, Since: &since, Max: streamMost}
		out, err := api.ProcessLog.Call(ctx, f.engine, in)
		if err != nil {
			return "", 0, err
		}
		if b.Len() == 0 {
			dropped = out.Start
		}
		b.WriteString(out.Data)
		if out.NextCursor <= max(since, out.Start) || out.NextCursor >= out.End || b.Len() >= 2*streamMost {
			return b.String(), dropped, nil
		}
		since = out.NextCursor
	}
}

// cutNote says what is not in a result, and where it is.
func cutNote(dropped int64, p api.Process) string {
	if dropped <= 0 {
		return ""
	}
	return "[" + strconv.FormatInt(dropped, 10) + " bytes before this are in " + cmp.Or(p.LogPath, "the log") + "]\n"
}

// lastLines is the end of text: so many lines, and whether there were more.
func lastLines(text string, n int) (lines string, cut bool) {
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0; n-- {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text, false
		}
	}
	return text[at+1:], true
}
