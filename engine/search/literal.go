package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxLiterals is how many alternatives are looked for one by one.
const maxLiterals = 8

// literals are strings of which each match of a regular expression has at
// least one. Looking for them is many times faster than matching.
type literals [][]byte

// required gives the literals of which a match has one, none if that is not
// known; sure is whether a line that has one is a match.
func required(re *syntax.Regexp) (must literals, sure bool) {
	if re.Op == syntax.OpCapture {
		return required(re.Sub[0])
	}
	must = literalsOf(re)
	sure = len(must) == 1 && re.Op == syntax.OpLiteral && !bytes.ContainsAny(must[0], "\r\n")
	return must, sure
}

func literalsOf(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(re)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literals
		for _, sub := range re.Sub {
			if l := literalsOf(sub); l.better(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all literals
		for _, sub := range re.Sub {
			l := literalsOf(sub)
			if l == nil {
				return nil
			}
			all = append(all, l...)
		}
		if len(all) <= maxLiterals {
			return all
		}
	}
	return nil
}

// literalOf is the string of a literal, none if its case does not count: looking
// for all cases would take as long as matching.
func literalOf(re *syntax.Regexp) literals {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase != 0 || strings.ContainsRune(text, utf8.RuneError) { // which matches what is not UTF-8 too
		return nil
	}
	return literals{[]byte(text)}
}

// better reports whether looking for l finds less than looking for m.
func (l literals) better(m literals) bool {
	return l != nil && (m == nil || l.shortest() > m.shortest())
}

func (l literals) shortest() int {
	n := len(l[0])
	for _, text := range l {
		n = min(n, len(text))
	}
	return n
}

// each calls yield with the bounds, without the newline, of each line of data
// that matches, until yield returns false. Only lines that have one of the
// literals are matched.
func (l literals) each(data []byte, matches func([]byte) bool, yield func(lo, hi int) bool) {
	next := make([]int, len(l)) // where data has each literal, as far as known
	for i := range next {
		next[i] = -1
	}
	for pos := 0; pos < len(data); {
		at := l.find(data, pos, next)
		if at == len(data) {
			return
		}
		lo := pos + bytes.LastIndexByte(data[pos:at], '\n') + 1
		hi := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			hi = at + i
		}
		if matches(data[lo:hi]) && !yield(lo, hi) {
			return
		}
		pos = hi + 1
	}
}

// find is where data has the first of the literals from pos on, or its length.
func (l literals) find(data []byte, pos int, next []int) int {
	if len(l) == 0 {
		return pos
	}
	first := len(data)
	for i, text := range l {
		if next[i] < pos {
			next[i] = len(data)
			if at := bytes.Index(data[pos:], text); at >= 0 {
				next[i] = pos + at
			}
		}
		first = min(first, next[i])
	}
	return first
}
