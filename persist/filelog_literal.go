package persist

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
type literals []literal

// A literal is a string in a log. With fold its ASCII letters, which are lower
// case here, stand for both cases.
type literal struct {
	text []byte
	fold bool
	rare int // index of the byte in text that logs have least of
}

// required gives the literals of which a match has one, none if that is not
// known; sure is whether a line that has one is a match.
func required(re *syntax.Regexp) (must literals, sure bool) {
	if re.Op == syntax.OpCapture {
		return required(re.Sub[0])
	}
	must = literalsOf(re)
	for i, l := range must {
		must[i].rare = rarest(l.text)
		sure = re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !bytes.ContainsAny(l.text, "\r\n")
	}
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

// literalOf is the string of a literal, or its longest part if it has letters
// with more than two cases, which are not looked for.
func literalOf(re *syntax.Regexp) literals {
	text := string(re.Rune)
	if strings.ContainsRune(text, utf8.RuneError) { // matches what is not UTF-8 too
		return nil
	}
	if re.Flags&syntax.FoldCase == 0 {
		return literals{{text: []byte(text)}}
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), severalCases) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if longest == "" {
		return nil
	}
	return literals{{text: []byte(longest), fold: true}}
}

// severalCases reports whether r has more cases than an upper and a lower one
// in ASCII: k and s have (K of Kelvin, long s).
func severalCases(r rune) bool { return r >= utf8.RuneSelf || r == 'k' || r == 's' }

// better reports whether looking for l finds less than looking for m.
func (l literals) better(m literals) bool {
	return l != nil && (m == nil || l.shortest() > m.shortest())
}

func (l literals) shortest() int {
	n := len(l[0].text)
	for _, lit := range l {
		n = min(n, len(lit.text))
	}
	return n
}

// byFrequency lists bytes of logs, the commonest first; others are rare.
const byFrequency = " etaoinsrlcdupm0h1f2g.b-345:67/89vywkxjqz"

func rarest(text []byte) int {
	best, rank := 0, -1
	for i, b := range text {
		r := strings.IndexByte(byFrequency, b)
		if r < 0 {
			return i
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
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
	for i, lit := range l {
		if next[i] < pos {
			next[i] = len(data)
			if at := lit.index(data[pos:]); at >= 0 {
				next[i] = pos + at
			}
		}
		first = min(first, next[i])
	}
	return first
}

// index is where p has the literal first, or -1.
func (l literal) index(p []byte) int {
	if !l.fold {
		return bytes.Index(p, l.text)
	}
	rare := l.text[l.rare]
	both := string([]byte{rare, upper(rare)})
	for from := l.rare; from < len(p); {
		i := bytes.IndexAny(p[from:], both)
		if i < 0 {
			return -1
		}
		if at := from + i - l.rare; l.at(p[at:]) {
			return at
		}
		from += i + 1
	}
	return -1
}

// at reports whether p begins with the literal in either case.
func (l literal) at(p []byte) bool {
	if len(p) < len(l.text) {
		return false
	}
	for i, b := range l.text {
		if p[i] != b && p[i] != upper(b) {
			return false
		}
	}
	return true
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}
