package toolkit

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/rendered"
)

// maxLogPage is the maximum size of a log page from the engine.
const maxLogPage = 1 << 20

// A LogChunk is a part of a log as plain text.
type LogChunk struct {
	Text  string
	From  int64 // offset of the chunk
	State LogState
}

func (r LogChunk) Result() Result {
	return Text(r.Text).WithFacts(r.State)
}

// ReadLog reads a part of a log as plain text, with at most limit bytes in JSON. It leaves an
// incomplete character or control sequence at the end for the next call.
func ReadLog(ctx context.Context, f *Agent, ask api.ProcessLogInput, limit int) (LogChunk, error) {
	return readFitting(limit, func(limit int) (LogChunk, string, error) {
		r, err := readLog(ctx, f, ask, limit)
		return r, r.Text, err
	})
}

// ReadNew reads output the agent has not seen. If it is longer than limit, it returns the end and
// states the size skipped.
func ReadNew(ctx context.Context, f *Agent, ask api.ProcessLogInput, limit int) (LogChunk, error) {
	r, err := ReadLog(ctx, f, ask, limit)
	if err != nil || r.State.NextCursor >= r.State.End {
		return r, err
	}
	first := r.From
	r, err = readFitting(limit, func(limit int) (LogChunk, string, error) {
		ask := api.ProcessLogInput{ID: ask.ID, Since: new(int64)}
		*ask.Since = -int64(limit)
		r, err := readLog(ctx, f, ask, limit)
		return r, r.Text, err
	})
	if n := r.From - first; err == nil && n > 0 {
		r.Text = fmt.Sprintf("[%d earlier bytes left out; since %d returns them]\n", n, first) + r.Text
	}
	return r, err
}

func readLog(ctx context.Context, f *Agent, ask api.ProcessLogInput, limit int) (LogChunk, error) {
	var r LogChunk
	var data []byte
	ended := false
	ask.Exact = true
	for first := true; ; first = false {
		ask.Max = min(limit-len(data), maxLogPage)
		out, err := api.ProcessLog.Call(ctx, f.Engine, ask)
		if err != nil {
			return r, err
		}
		page, err := out.Bytes()
		if err != nil {
			return r, err
		}
		if first {
			r.From = out.Start
			r.State.Dropped = countMissing(ask.Since, out)
		}
		data = append(data, page...)
		r.State.NextCursor, r.State.End, ended = out.NextCursor, out.End, out.State.Ended()
		if len(page) == 0 || len(data) >= limit || out.NextCursor >= out.End {
			break
		}
		// Only the first request may wait or count lines; the next ones continue at its end.
		next := out.NextCursor
		ask.Since, ask.Tail, ask.FromLine, ask.WaitMS = &next, 0, nil, 0
	}
	// An exited process never completes a sequence, so nothing is held back for it.
	if !ended {
		whole := CompleteLength(data)
		r.State.NextCursor -= int64(len(data) - whole)
		data = data[:whole]
	}
	r.Text = PlainText(strings.ToValidUTF8(string(data), "\uFFFD"))
	return r, nil
}

// countMissing returns the number of requested bytes no longer in the log.
func countMissing(since *int64, out api.ProcessLogOutput) int64 {
	if since == nil || *since < 0 {
		return 0
	}
	return max(0, min(out.Start, out.Dropped)-*since)
}

// MaxIncomplete is the length after which an incomplete character or control sequence counts as
// text.
const MaxIncomplete = 256

const (
	esc = 0x1b
	c1  = 0xc2 // first byte of U+0080 … U+00BF in UTF-8
)

// PlainText returns a terminal's output without escape sequences and control characters. Of a line
// redrawn with carriage returns, only the last state remains.
//
// It does not use rendered.AppendText: that replaces cursor movements by spaces, and the text could
// become longer than the output and exceed the agent's limit.
func PlainText(s string) string { return removeSequences(s, false) }

// StripSequences returns s without escape sequences and control characters except tabs, newlines
// and carriage returns. It keeps the text of an unterminated sequence.
func StripSequences(s string) string { return removeSequences(s, true) }

func removeSequences(s string, keepReturns bool) string {
	// Fast path: most text has nothing to remove.
	if !strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && (r != '\r' || !keepReturns) }) {
		return s
	}
	out := make([]byte, 0, len(s))
	line := 0 // start of the line in out
	pendingReturn := false
	for i := 0; i < len(s); {
		c := s[i]
		if c == esc {
			n, complete := rendered.Sequence(s[i:])
			if !complete && !keepReturns {
				break
			}
			if !complete {
				n = 1
			}
			i += n
			continue
		}
		if c == c1 && i+1 < len(s) && s[i+1] < 0xa0 {
			i += 2
			continue
		}
		i++
		switch {
		case c == '\n', c == '\r' && keepReturns:
			out, pendingReturn = append(out, c), false
			line = len(out)
		case c == '\r':
			pendingReturn = true
		case c == '\b':
			if len(out) > line {
				_, n := utf8.DecodeLastRune(out)
				out = out[:len(out)-n]
			}
		case c < 0x20 && c != '\t' || c == 0x7f:
		default:
			// Erase the line only when something is drawn over it: a final return leaves it
			// visible.
			if pendingReturn {
				out, pendingReturn = out[:line], false
			}
			out = append(out, c)
		}
	}
	return string(out)
}

// isControl reports whether a terminal would interpret r instead of showing it.
func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// KeepLastDrawn keeps the last state of each line redrawn with carriage returns. A return at the
// end of a line has no effect.
func KeepLastDrawn(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		end := len(strings.TrimRight(line, "\r\n"))
		b.WriteString(line[strings.LastIndexByte(line[:end], '\r')+1:])
	}
	return b.String()
}

// A LogState is the position in a log after a read.
type LogState struct {
	NextCursor int64 `json:"next_cursor"`       // since of the next call
	End        int64 `json:"end"`               // length of the log
	Dropped    int64 `json:"dropped,omitempty"` // requested bytes no longer in the log
}
