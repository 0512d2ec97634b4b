// Package rendered converts lines of output to the text that a terminal shows for them.
package rendered

import (
	"bytes"
	"math"
	"strings"

	"tandem/engine/screen/styled"
)

const esc = 0x1b

// IsPlain reports whether a terminal shows all lines of p unchanged: there are no escape sequences,
// shifts of the character set, backspaces, or carriage returns inside a line. Other control
// characters count as text.
func IsPlain(p []byte) bool {
	for i := range notPlain {
		if c := notPlain[i]; c != '\r' && bytes.IndexByte(p, c) >= 0 {
			return false
		}
	}
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			return true
		}
		if p = p[i+1:]; len(p) > 0 && p[0] != '\n' && p[0] != '\r' {
			return false
		}
	}
}

// AppendText appends the text that a terminal shows for a line of output: it drops escape
// sequences, and replaces text overwritten or erased within the line. line has no newline; an
// incomplete sequence at its end is dropped.
func AppendText(dst, line []byte) []byte {
	dst, _ = AppendLines(dst, line, math.MaxInt)
	return dst
}

// AppendLines appends the text of several lines of output, as AppendText does for each. It may stop
// after a line once it has appended limit bytes, because a short line can expand to many. n is the
// number of bytes of output whose text has been appended.
func AppendLines(dst, output []byte, limit int) (text []byte, n int) {
	start, next := len(dst), newControls()
	for n < len(output) {
		at := next.find(output, n)
		dst = append(dst, output[n:at]...)
		if at == len(output) {
			return dst, at
		}
		n = at + controlLen(output[at:])
		endsLine := output[at] == '\r' && (n == len(output) || output[n] == '\n')
		if endsLine || !movesCursor(output[at:n]) {
			continue
		}
		// A canvas is needed only once the cursor moves: dropping sequences does the rest.
		line := bytes.LastIndexByte(output[:at], '\n') + 1
		rest, _, more := bytes.Cut(output[at:], []byte{'\n'})
		n = at + len(rest)
		dst = dst[:start+bytes.LastIndexByte(dst[start:], '\n')+1]
		dst = drawLine(bytes.TrimRight(output[line:n], "\r"), nil).appendText(dst)
		if more {
			dst = append(dst, '\n')
			n++
		}
		if len(dst)-start >= limit {
			break
		}
	}
	return dst, n
}

// notPlain are the characters that a terminal does not show as text.
const notPlain = "\x1b\r\b\x0e\x0f"

// controls holds, for each character in notPlain, the offset of its next occurrence in the output
// that find searches, or -1 before the first search.
type controls [len(notPlain)]int

func newControls() controls { return controls{-1, -1, -1, -1, -1} }

// find returns the first offset of any of the characters at or after pos, or the length of output.
func (c *controls) find(output []byte, pos int) int {
	first := len(output)
	for i := range c {
		if c[i] < pos {
			c[i] = len(output)
			if n := bytes.IndexByte(output[pos:], notPlain[i]); n >= 0 {
				c[i] = pos + n
			}
		}
		first = min(first, c[i])
	}
	return first
}

// controlLen returns the length of the carriage returns, the other control character or the escape
// sequence at the start of output. A sequence ends with its line.
func controlLen(output []byte) int {
	switch {
	case output[0] == '\r':
		return len(output) - len(bytes.TrimLeft(output, "\r"))
	case output[0] != esc:
		return 1
	case len(output) > 1 && strings.IndexByte("]PX^_", output[1]) >= 0: // only these may contain a newline
		output, _, _ = bytes.Cut(output, []byte{'\n'})
	}
	n, _ := styled.Sequence(output)
	return n
}

// RenderStyled returns a line of output like AppendText, but keeps its colours and attributes as
// SGR sequences.
func RenderStyled(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	if OnlyColours(line) {
		return line
	}
	return drawLine(line, [][]byte{nil}).appendStyled(nil)
}

// OnlyColours reports whether a terminal shows a line unchanged except for colours and attributes:
// SGR is its only kind of sequence.
func OnlyColours(line []byte) bool {
	line = bytes.TrimRight(line, "\r")
	for {
		i := bytes.IndexAny(line, notPlain)
		if i < 0 {
			return true
		}
		if line = line[i:]; line[0] != esc {
			return false
		}
		n, _ := styled.Sequence(line)
		if n < 3 || line[1] != '[' || line[n-1] != 'm' {
			return false
		}
		line = line[n:]
	}
}

// movesCursor reports whether a sequence or control character moves the cursor or erases cells.
func movesCursor(s []byte) bool {
	if s[0] != esc {
		return s[0] == '\b' || s[0] == '\r'
	}
	return len(s) > 2 && s[1] == '[' && strings.IndexByte("CDGK", s[len(s)-1]) >= 0
}
