package toolkit

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/rendered"
)

// logPage is what the engine gives of a log in one answer at most.
const logPage = 1 << 20

// A reading is a piece of a log, and where reading has come to.
type reading struct {
	Text  string
	From  int64 // where it begins
	State LogState
}

func (r reading) Result() Result {
	return Text(r.Text).With(r.State)
}

// ReadLog reads up to most bytes, in JSON, of a log, as text that no terminal has to
// make sense of. What the end of the piece has cut, a character or a control
// sequence, is left for the next one.
func ReadLog(ctx context.Context, f *Agent, ask api.ProcessLogInput, most int) (reading, error) {
	return fitting(most, func(limit int) (reading, string, error) {
		r, err := readLog(ctx, f, ask, limit)
		return r, r.Text, err
	})
}

// ReadNew reads the output that an agent has not seen. If that is longer than most, it returns the
// end and says how much it skipped.
func ReadNew(ctx context.Context, f *Agent, ask api.ProcessLogInput, most int) (reading, error) {
	r, err := ReadLog(ctx, f, ask, most)
	if err != nil || r.State.NextCursor >= r.State.End {
		return r, err
	}
	first := r.From
	r, err = fitting(most, func(limit int) (reading, string, error) {
		ask := api.ProcessLogInput{ID: ask.ID, Since: new(int64)}
		*ask.Since = -int64(limit)
		r, err := readLog(ctx, f, ask, limit)
		return r, r.Text, err
	})
	if n := r.From - first; err == nil && n > 0 {
		r.Text = fmt.Sprintf("[%d bytes before this left out; since %d gives them]\n", n, first) + r.Text
	}
	return r, err
}

func readLog(ctx context.Context, f *Agent, ask api.ProcessLogInput, most int) (reading, error) {
	var r reading
	var data []byte
	ended := false
	ask.Exact = true
	for first := true; ; first = false {
		ask.Max = min(most-len(data), logPage)
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
			r.State.Dropped = missed(ask.Since, out)
		}
		data = append(data, page...)
		r.State.NextCursor, r.State.End, ended = out.NextCursor, out.End, out.State.Ended()
		if len(page) == 0 || len(data) >= most || out.NextCursor >= out.End {
			break
		}
		next := out.NextCursor
		ask.Since, ask.Tail, ask.FromLine, ask.WaitMS = &next, 0, nil, 0
	}
	if !ended {
		whole := WholeLength(data)
		r.State.NextCursor -= int64(len(data) - whole)
		data = data[:whole]
	}
	r.Text = PlainText(strings.ToValidUTF8(string(data), "\uFFFD"))
	return r, nil
}

// missed is how many bytes that were asked for are no longer kept.
func missed(since *int64, out api.ProcessLogOutput) int64 {
	if since == nil || *since < 0 {
		return 0
	}
	return max(0, min(out.Start, out.Dropped)-*since)
}

// CutMost is how long a piece of a character or control sequence is worth
// waiting for the rest of it.
const CutMost = 256

const (
	esc = 0x1b
	c1  = 0xc2 // the first byte of U+0080 … U+00BF in UTF-8
)

// PlainText is what a terminal's output says: without escape sequences and
// control characters, and of a line that was drawn over with carriage returns
// what was drawn last.
//
// It does not use rendered.AppendText, which writes blanks for cursor movements: the text would
// be longer than the output, and than an agent's bound.
func PlainText(s string) string { return stripped(s, false) }

// Stripped returns s without escape sequences and control characters except tabs, newlines and
// carriage returns. The text of an unterminated sequence is kept.
func Stripped(s string) string { return stripped(s, true) }

func stripped(s string, whole bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && (r != '\r' || !whole) }) {
		return s
	}
	out := make([]byte, 0, len(s))
	line := 0 // where the line begins
	returned := false
	for i := 0; i < len(s); {
		c := s[i]
		if c == esc {
			n, complete := rendered.Sequence(s[i:])
			if !complete && !whole {
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
		case c == '\n', c == '\r' && whole:
			out, returned = append(out, c), false
			line = len(out)
		case c == '\r':
			returned = true
		case c == '\b':
			if len(out) > line {
				_, n := utf8.DecodeLastRune(out)
				out = out[:len(out)-n]
			}
		case c < 0x20 && c != '\t' || c == 0x7f:
		default:
			if returned {
				out, returned = out[:line], false
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

// LastDrawn is a text with what was drawn last of each line that was drawn over with
// carriage returns; one that ends a line stays.
func LastDrawn(s string) string {
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

// A LogState says where in a log reading has come to.
type LogState struct {
	NextCursor int64 `json:"next_cursor"`       // since of the next call
	End        int64 `json:"end"`               // length of the log
	Dropped    int64 `json:"dropped,omitempty"` // bytes asked for that are no longer kept
}
