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
type literals []literal

// A literal is a string, or an ASCII string in any case.
type literal struct {
	text []byte // in lower case if case is ignored
	// skip is nil if case matters. Else it has, for a byte of a text below the end of text, how far that
	// end is at least from the end of an occurrence (Horspool's search); 0 for the last byte of text.
	skip *[256]uint8
	next int // how far to go on after the last byte of text was found without the rest
}

// extractLiterals returns the literals of an expression, or nil if there are none. sure reports
// whether every line that contains one is a match.
func extractLiterals(re *syntax.Regexp) (must literals, sure bool) {
	if re.Op == syntax.OpCapture {
		return extractLiterals(re.Sub[0])
	}
	must = literalsOf(re)
	sure = len(must) == 1 && re.Op == syntax.OpLiteral && must[0].skip == nil && !bytes.ContainsAny(must[0].text, "\r\n")
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

// literalOf returns the string of a literal, or the longest part of it that can be searched for.
func literalOf(re *syntax.Regexp) literals {
	text := string(re.Rune)
	switch {
	case strings.ContainsRune(text, utf8.RuneError): // it also matches invalid UTF-8
		return nil
	case re.Flags&syntax.FoldCase == 0:
		return literals{{text: []byte(text)}}
	}
	var longest string
	for _, part := range strings.FieldsFunc(text, hasOtherSpellings) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) < minFolded {
		return nil
	}
	return literals{foldedLiteral(strings.ToLower(longest[:min(len(longest), maxFolded)]))}
}

// hasOtherSpellings reports whether a character can be spelled outside ASCII: K and S are the only
// ASCII letters whose case folds to such a character.
func hasOtherSpellings(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }

const (
	minFolded = 2  // a search for less would find most lines
	maxFolded = 32 // more would hardly be faster, and slower in hostile texts
)

// foldedLiteral returns a literal for an ASCII string in lower case.
func foldedLiteral(text string) literal {
	last := len(text) - 1
	l := literal{text: []byte(text), skip: new([256]uint8), next: len(text)}
	for i := range l.skip {
		l.skip[i] = uint8(len(text))
	}
	for i := range text {
		if text[i] == text[last] && i < last {
			l.next = last - i
		}
		for _, c := range [...]string{text[i : i+1], strings.ToUpper(text[i : i+1])} {
			l.skip[c[0]] = uint8(last - i)
		}
	}
	return l
}

// index returns the offset of the first occurrence in data, or -1.
func (l *literal) index(data []byte) int {
	if l.skip == nil {
		return bytes.Index(data, l.text)
	}
	last := len(l.text) - 1
	for i := last; i < len(data); {
		n := int(l.skip[data[i]])
		if n == 0 {
			if bytes.EqualFold(data[i-last:i+1], l.text) {
				return i - last
			}
			n = l.next
		}
		i += n
	}
	return -1
}

// isBetter reports whether l is likely to occur less often than m.
func (l literals) isBetter(m literals) bool {
	return l != nil && (m == nil || l.shortest() > m.shortest())
}

func (l literals) shortest() int {
	n := len(l[0].text)
	for i := range l {
		n = min(n, len(l[i].text))
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
	for i := range l {
		// Search again only for literals already passed. Otherwise a rare literal would be searched
		// for in the whole rest, for every line.
		if next[i] < pos {
			next[i] = len(data)
			if at := l[i].index(data[pos:]); at >= 0 {
				next[i] = pos + at
			}
		}
		first = min(first, next[i])
	}
	return first
}
