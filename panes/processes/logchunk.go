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
	bytes  func(text string) int64 // how many bytes of the log a part of the text was
}

// chunkOf takes the data of an answer; with partial set, what comes before its
// first newline is left out. Where bytes that are not UTF-8 were replaced on the
// way, offsets inside are made out from the lengths.
func chunkOf(out *api.ProcessLogOutput, partial bool) chunk {
	const sign = string(utf8.RuneError)
	c := chunk{text: out.Data, offset: out.Start, bytes: func(text string) int64 { return int64(len(text)) }}
	n, size := out.NextCursor-out.Start, int64(len(out.Data))
	switch {
	case size == n || size == 0:
	case size-n == int64((len(sign)-1)*strings.Count(out.Data, sign)):
		c.bytes = func(text string) int64 { return int64(len(text) - (len(sign)-1)*strings.Count(text, sign)) }
	default:
		c.bytes = func(text string) int64 { return int64(len(text)) * n / size }
	}
	if !partial {
		return c
	}
	c.drop(strings.IndexByte(c.text, '\n') + 1)
	if !strings.Contains(c.text, sign) { // only the part of a character at the beginning was replaced
		c.offset = out.NextCursor - int64(len(c.text))
		c.bytes = func(text string) int64 { return int64(len(text)) }
	}
	return c
}

// cut cuts the first line off, but at most n bytes of it. A line whose newline
// is not in the chunk is open.
func (c *chunk) cut(n int) logLine {
	i := strings.IndexByte(c.text, '\n')
	line := logLine{offset: c.offset}
	took := i + 1
	switch {
	case i > n || i < 0 && len(c.text) > n:
		took = wholeRunes(c.text, max(n, 1))
		line.raw = c.text[:took]
	case i < 0:
		took = len(c.text)
		line.raw, line.open = c.text, true
	default:
		line.raw = c.text[:i]
	}
	c.drop(took)
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
	c.offset += c.bytes(c.text[:n])
	c.text = c.text[n:]
}

// split appends the lines of the chunk to lines.
func (c *chunk) split(lines []logLine) []logLine {
	for c.text != "" {
		lines = append(lines, c.cut(longLogLine))
	}
	return lines
}
