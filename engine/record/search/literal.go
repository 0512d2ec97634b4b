package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxLiterals is the maximum number of literals that are searched for one by one.
const maxLiterals = 8

// literals are strings. Every match of a regular expression contains at least one of them.
// Searching for them is many times faster than matching.
type literals [][]byte

// extractLiterals returns the literals of an expression, or nil if there are none. sure reports
// whether every line that contains one is a match.
func extractLiterals(re *syntax.Regexp) (must literals, sure bool) {
	if re.Op == syntax.OpCapture {
		return extractLiterals(re.Sub[0])
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
			if l := literalsOf(sub); l.isBetter(best) {
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

// literalOf returns the string of a literal. It returns nil if the literal ignores case, because
// searching for all spellings would take as long as matching.
func literalOf(re *syntax.Regexp) literals {
	text := string(re.Rune)
	// RuneError also matches invalid UTF-8.
	if re.Flags&syntax.FoldCase != 0 || strings.ContainsRune(text, utf8.RuneError) {
		return nil
	}
	return literals{[]byte(text)}
}

// isBetter reports whether l is likely to occur less often than m.
func (l literals) isBetter(m literals) bool {
	return l != nil && (m == nil || l.shortest() > m.shortest())
}

func (l literals) shortest() int {
	n := len(l[0])
	for _, text := range l {
		n = min(n, len(text))
	}
	return n
}

// eachLine calls yield with the bounds of each matching line of data, without the newline, until
// yield returns false. It calls matches only for lines with one of the literals.
func (l literals) eachLine(data []byte, matches func([]byte) bool, yield func(lo, hi int) bool) {
	// next holds the offset of each literal's next occurrence. An offset before pos is out of date:
	// find replaces it.
	next := make([]int, len(l))
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

// find returns the first offset of any literal at or after pos, or len(data).
func (l literals) find(data []byte, pos int, next []int) int {
	if len(l) == 0 {
		return pos
	}
	first := len(data)
	for i, text := range l {
		// Search again only for literals already passed. Otherwise a rare literal would be searched
		// for in the whole rest, for every line.
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
