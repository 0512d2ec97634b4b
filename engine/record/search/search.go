// Package search finds the lines that match a regular expression, the names and paths that match a
// glob, and the line most similar to another one. It handles bytes only; their source and meaning
// are up to the callers.
package search

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"sync"
)

// A Pattern finds the lines that match a regular expression. It is safe for concurrent use.
type Pattern struct {
	re   *regexp.Regexp
	must literals   // every match contains one of them; none if unknown
	sure bool       // a line that contains one matches
	auto *automaton // nil if the expression is too large

	scans sync.Pool // of *lineScan
}

// Compile parses an expression in RE2 syntax. ^ and $ match at the ends of a line. If fold is set,
// case is ignored. The error is a *syntax.Error.
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
	p.must, p.sure = extractLiterals(tree.Simplify())
	return p, nil
}

// Each calls yield with the bounds of each matching line of data, without the newline, until yield
// returns false. A carriage return before the newline is not part of the line.
func (p *Pattern) Each(data []byte, yield func(lo, hi int) bool) {
	switch {
	case p.sure:
		p.must.eachLine(data, func([]byte) bool { return true }, yield)
		return
	case p.auto == nil:
		p.must.eachLine(data, func(line []byte) bool { return p.re.Match(trimCR(line)) }, yield)
		return
	}
	scan, ok := p.scans.Get().(*lineScan)
	if !ok {
		scan = newLineScan(p.auto)
	}
	defer p.scans.Put(scan)
	p.must.eachLine(data, scan.matches, yield)
}

// Index returns the offset of the first match in a line, or -1.
func (p *Pattern) Index(line []byte) int {
	if at := p.re.FindIndex(line); at != nil {
		return at[0]
	}
	return -1
}

// trimCR returns a line without a carriage return at its end.
func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
