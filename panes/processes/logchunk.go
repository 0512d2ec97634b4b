package processes

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

// A chunk is a piece of a log and where it was.
type chunk struct {
	text   string
	offset int64
}

// chunkOf takes the data of an answer; with partial set, what comes before its
// first newline is left out.
func chunkOf(out *api.ProcessLogOutput, partial bool) chunk {
	c := chunk{out.Data, out.Start}
	if partial {
		c.drop(strings.IndexByte(c.text, '\n') + 1)
	}
	return c
}

// cut cuts the first line off, but at most n bytes of it. A line whose newline
// is not in the chunk is open.
func (c *chunk) cut(n int) logLine {
	i := strings.IndexByte(c.text, '\n')
	line := logLine{offset: c.offset}
	size := i + 1
	switch {
	case i > n || i < 0 && len(c.text) > n:
		size = wholeRunes(c.text, max(n, 1))
		line.raw = c.text[:size]
	case i < 0:
		size = len(c.text)
		line.raw, line.open = c.text, true
	default:
		line.raw = c.text[:i]
	}
	c.drop(size)
	return line
}

// wholeRunes is the largest number of bytes of s up to n, but at least one,
// that cuts no character.
func wholeRunes(s string, n int) int {
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

func (c *chunk) drop(n int) {
	c.offset += int64(n)
	c.text = c.text[n:]
}

// split appends the lines of the chunk to lines.
func (c *chunk) split(lines []logLine) []logLine {
	for c.text != "" {
		lines = append(lines, c.cut(longLogLine))
	}
	return lines
}
