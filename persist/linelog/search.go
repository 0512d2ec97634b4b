package linelog

import (
	"bytes"
	"context"
	"slices"
)

// A Matcher tells which lines match: it calls yield with the bounds, without the
// newline, of each that does in data, until yield returns false.
type Matcher interface {
	Each(data []byte, yield func(lo, hi int) bool)
}

// TrimLine is a line without its newline and a carriage return before that.
func TrimLine(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// A Line is a line of a log.
type Line struct {
	Offset int64  // of its first byte
	Text   []byte // without its end; valid until the next line
	Next   int64  // where the next line begins
	Whole  bool   // it has a newline, or was broken: it does not grow
}

// Forward calls found for each line that matches in the part of a log from one
// offset up to another, in order, until found returns false. It takes the first
// offset for the start of a line. What is dropped meanwhile is left out. It
// returns where the next search goes on: behind the last line looked at.
func Forward(ctx context.Context, r Reader, m Matcher, from, to int64, found func(Line) bool) (int64, error) {
	scan := newForwardScan(r, from, to)
	for {
		if err := ctx.Err(); err != nil {
			return scan.base, err
		}
		g, ok, err := scan.next()
		if !ok {
			return scan.base, err
		}
		stopped := int64(-1)
		m.Each(g.data, func(lo, hi int) bool {
			line := g.line(lo, hi)
			if !found(line) {
				stopped = line.Next
			}
			return stopped < 0
		})
		if stopped >= 0 {
			return stopped, nil
		}
	}
}

// Backward calls found for each line that matches in the part of a log from
// one offset up to another, the last line first, until found returns false. It
// returns where the next search ends: at the first line looked at.
func Backward(ctx context.Context, r Reader, m Matcher, from, to int64, found func(Line) bool) (int64, error) {
	scan, err := newBackwardScan(r, from, to)
	if err != nil {
		return to, err
	}
	var spans [][2]int
	for at := scan.to; ; {
		if err := ctx.Err(); err != nil {
			return at, err
		}
		g, ok, err := scan.next()
		if !ok {
			return scan.lowest, err
		}
		spans = spans[:0]
		m.Each(g.data, func(lo, hi int) bool {
			spans = append(spans, [2]int{lo, hi})
			return true
		})
		for _, f := range slices.Backward(spans) {
			if line := g.line(f[0], f[1]); !found(line) {
				return line.Offset, nil
			}
		}
		at = g.base
	}
}
