// Package search finds lines that match a regular expression, names and paths that match a glob, and the line that
// has most in common with another one. It knows bytes only: what they are of, and where they come from, is its
// callers' business.
package search

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"sync"
)

// A Pattern finds the lines that match a regular expression. Any number of
// goroutines may use it.
type Pattern struct {
	re   *regexp.Regexp
	must literals   // each match has one of them; none if nothing is known
	sure bool       // a line that has one matches
	auto *automaton // nil if the expression is too large for one

	scans sync.Pool // of *lineScan
}

// Compile reads an expression in RE2 syntax; ^ and $ are the ends of a line. With
// fold, letters match in either case. The error is a *syntax.Error.
func Compile(expr string, fold bool) (*Pattern, error) {
	flags := syntax.Perl
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, err
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	p := &Pattern{re: re, auto: automatonOf(tree)}
	p.must, p.sure = required(tree.Simplify())
	return p, nil
}

// Each calls yield with the bounds, without the newline, of each line of data
// that matches, until yield returns false. A carriage return before the newline is
// no part of what is matched.
func (p *Pattern) Each(data []byte, yield func(lo, hi int) bool) {
	switch {
	case p.sure:
		p.must.each(data, func([]byte) bool { return true }, yield)
		return
	case p.auto == nil:
		p.must.each(data, func(line []byte) bool { return p.re.Match(bare(line)) }, yield)
		return
	}
	scan, ok := p.scans.Get().(*lineScan)
	if !ok {
		scan = newLineScan(p.auto)
	}
	defer p.scans.Put(scan)
	p.must.each(data, scan.matches, yield)
}

// Index returns where in a line the first match begins, or -1.
func (p *Pattern) Index(line []byte) int {
	if at := p.re.FindIndex(line); at != nil {
		return at[0]
	}
	return -1
}

// bare is a line without the carriage return at its end.
func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
