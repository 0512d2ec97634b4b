package linelog

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
)

// A Search finds the lines of a log that match a regular expression. Any number
// of goroutines may use it.
type Search struct {
	re   *regexp.Regexp
	must literals   // each match has one of them; none if nothing is known
	sure bool       // a line that has one matches
	auto *automaton // nil if the expression is too large for one

	scans sync.Pool // of *lineScan
}

// NewSearch makes a search for an expression in RE2 syntax; ^ and $ are the
// ends of a line. The error is a *syntax.Error.
func NewSearch(expr string) (*Search, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	s := &Search{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		s.must, s.sure = required(tree.Simplify())
		s.auto = automatonOf(tree)
	}
	return s, nil
}

// Match reports whether a line matches. Its newline, and a carriage return
// before that, do not count.
func (s *Search) Match(line []byte) bool { return s.re.Match(TrimLine(line)) }

// TrimLine is a line without its newline and a carriage return before that.
func TrimLine(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// A LogLine is a line of a log.
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
func (s *Search) Forward(ctx context.Context, r Reader, from, to int64, found func(Line) bool) (int64, error) {
	scan := newForwardScan(r, from, to)
	lines, release := s.lines()
	defer release()
	for {
		if err := ctx.Err(); err != nil {
			return scan.base, err
		}
		g, ok, err := scan.next()
		if !ok {
			return scan.base, err
		}
		stopped := int64(-1)
		lines(g.data, func(lo, hi int) bool {
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
func (s *Search) Backward(ctx context.Context, r Reader, from, to int64, found func(Line) bool) (int64, error) {
	scan, err := newBackwardScan(r, from, to)
	if err != nil {
		return to, err
	}
	lines, release := s.lines()
	defer release()
	var spans [][2]int
	for at := scan.to; ; {
		if err := ctx.Err(); err != nil {
			return at, err
		}
		g, ok, err := scan.next()
		if !ok {
			return scan.floor, err
		}
		spans = spans[:0]
		lines(g.data, func(lo, hi int) bool {
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

// An eachLine calls yield with the bounds, without the newline, of each line of
// data that matches, until yield returns false.
type eachLine func(data []byte, yield func(lo, hi int) bool)

// lines gives how to find lines that match until release is called: by literals
// where there are any, as nothing is faster than to look for these.
func (s *Search) lines() (each eachLine, release func()) {
	matches := s.Match
	if s.sure {
		matches = func([]byte) bool { return true }
	}
	if s.sure || s.auto == nil {
		return func(data []byte, yield func(lo, hi int) bool) { s.must.each(data, matches, yield) }, func() {}
	}
	scan, ok := s.scans.Get().(*lineScan)
	if !ok {
		scan = newLineScan(s.auto)
	}
	return func(data []byte, yield func(lo, hi int) bool) { s.must.each(data, scan.matches, yield) }, func() { s.scans.Put(scan) }
}
