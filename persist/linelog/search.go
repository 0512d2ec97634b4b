package linelog

import (
	"bytes"
	"context"
	"slices"
)

// A Matcher finds matching lines. Each calls yield with the bounds of each matching line in data,
// without the newline, until yield returns false.
type Matcher interface {
	Each(data []byte, yield func(lo, hi int) bool)
}

// TrimLine returns line without its newline and a preceding carriage return.
func TrimLine(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

type Line struct {
	Offset int64  // offset of its first byte
	Text   []byte // without its line ending; valid until the next line
	Next   int64  // start of the next line
	Whole  bool   // it ends with a newline or was broken, so it cannot grow
}

// Forward calls found for each matching line between from and to, in order, until found returns
// false. A line must start at from. Lines dropped meanwhile are skipped. It returns the offset
// after the last line examined; the next search starts there.
func Forward(ctx context.Context, r Reader, m Matcher, from, to int64, found func(Line) bool) (int64, error) {
	scan := newForwardScan(r, from, to)
	for {
		if err := ctx.Err(); err != nil {
			return scan.base, err
		}
		g, ok, err := scan.nextRegion()
		if !ok {
			return scan.base, err
		}
		stopped := int64(-1)
		m.Each(g.data, func(lo, hi int) bool {
			line := g.lineAt(lo, hi)
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

// Backward calls found for each matching line between from and to, the last line first, until found
// returns false. It returns the start of the first line examined; the next search ends there.
func Backward(ctx context.Context, r Reader, m Matcher, from, to int64, found func(Line) bool) (int64, error) {
	return new(Scratch).Backward(ctx, r, m, from, to, found)
}

// A Scratch is memory for searches, one after the other. The zero value is ready to use.
type Scratch struct{ buf []byte }

// grow returns n bytes of any content.
func (s *Scratch) grow(n int) []byte {
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	return s.buf[:n]
}

// Backward is like the package function of that name, but reuses the memory of s.
func (s *Scratch) Backward(ctx context.Context, r Reader, m Matcher, from, to int64, found func(Line) bool) (int64, error) {
	scan, err := newBackwardScan(r, from, to, s)
	if err != nil {
		return to, err
	}
	var spans [][2]int
	for at := scan.to; ; {
		if err := ctx.Err(); err != nil {
			return at, err
		}
		g, ok, err := scan.nextRegion()
		if !ok {
			return scan.lowest, err
		}
		spans = spans[:0]
		m.Each(g.data, func(lo, hi int) bool {
			// Each only searches forwards, so collect the matches and report them in reverse.
			spans = append(spans, [2]int{lo, hi})
			return true
		})
		for _, f := range slices.Backward(spans) {
			if line := g.lineAt(f[0], f[1]); !found(line) {
				return line.Offset, nil
			}
		}
		at = g.base
	}
}
