package toolkit

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/screen/styled"
)

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
			n, complete := styled.Sequence(s[i:])
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
