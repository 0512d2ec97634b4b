package persist

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"slices"
)

// A Search finds the lines of a log that match a regular expression. Any number
// of goroutines may use it.
type Search struct {
	re   *regexp.Regexp
	must literals // each match has one of them; none if nothing is known
	sure bool     // a line that has one matches
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
type LogLine struct {
	Offset int64  // of its first byte
	Text   []byte // without its end; valid until the next line
	Next   int64  // where the next line begins
	Whole  bool   // it has a newline, or was broken: it does not grow
}

// Forward calls found for each line that matches in the part of a log from one
// offset up to another, in order, until found returns false. It takes the first
// offset for the start of a line. What is dropped meanwhile is left out. It
// returns where the next search goes on: behind the last line looked at.
func (s *Search) Forward(ctx context.Context, r LogReader, from, to int64, found func(LogLine) bool) (int64, error) {
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
		s.must.each(g.data, s.matches, func(lo, hi int) bool {
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
func (s *Search) Backward(ctx context.Context, r LogReader, from, to int64, found func(LogLine) bool) (int64, error) {
	scan, err := newBackwardScan(r, from, to)
	if err != nil {
		return to, err
	}
	var spans []span
	for at := scan.to; ; {
		if err := ctx.Err(); err != nil {
			return at, err
		}
		g, ok, err := scan.next()
		if !ok {
			return scan.floor, err
		}
		spans = spans[:0]
		s.must.each(g.data, s.matches, func(lo, hi int) bool {
			spans = append(spans, span{int64(lo), int64(hi)})
			return true
		})
		for _, f := range slices.Backward(spans) {
			if line := g.line(int(f.from), int(f.to)); !found(line) {
				return line.Offset, nil
			}
		}
		at = g.base
	}
}

// matches reports whether a line that has one of s.must matches.
func (s *Search) matches(line []byte) bool { return s.sure || s.Match(line) }
