package history

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// prepareMatching fills the tables of fzf's algorithm on first use.
var prepareMatching = sync.OnceFunc(func() { algo.Init("default") })

// Sizes of the scratch memory that fzf uses itself.
const (
	slab16 = 100 << 10
	slab32 = 2048
)

// A term is a word of a query: what to look for, and how.
type term struct {
	match func(caseSensitive, normalize, forward bool, text *util.Chars, pattern []rune, withPos bool, slab *util.Slab) (algo.Result, *[]int)

	runes         []rune
	bytes         []byte
	caseSensitive bool
	normalize     bool   // "e" finds "é"
	inverse       bool   // it must not be found
	anywhere      bool   // it may be at any place
	apart         bool   // so may each of its characters
	mask          uint64 // its characters, see textMask
}

// A query is a list of conditions, which all must hold; of the terms of each one
// must.
type query [][]term

// parseQuery reads fzf's extended syntax: words in any order, 'exact, 'word',
// ^start, end$, !not, and | between words for or. "\ " is a blank within a word.
// A word with a capital in it is looked for with its case.
func parseQuery(s string) query {
	const blank = "\x00" // stands for an escaped one
	prepareMatching()
	var q query
	or := false
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, `\ `, blank)) {
		if word == "|" && len(q) > 0 {
			or = true
			continue
		}
		t, ok := parseTerm(strings.ReplaceAll(word, blank, " "))
		switch {
		case !ok:
		case or:
			q[len(q)-1] = append(q[len(q)-1], t)
		default:
			q = append(q, []term{t})
		}
		or = false
	}
	return q
}

func parseTerm(word string) (term, bool) {
	t := term{match: algo.FuzzyMatchV2, anywhere: true, apart: true}
	if rest, ok := strings.CutPrefix(word, "!"); ok {
		t.inverse, t.match, t.apart, word = true, algo.ExactMatchNaive, false, rest
	}
	suffix := word != "$" && strings.HasSuffix(word, "$")
	if suffix {
		t.match, t.anywhere, t.apart, word = algo.SuffixMatch, false, false, strings.TrimSuffix(word, "$")
	}
	switch {
	case len(word) > 2 && strings.HasPrefix(word, "'") && strings.HasSuffix(word, "'"):
		t.match, t.anywhere, t.apart, word = algo.ExactMatchBoundary, false, false, word[1:len(word)-1]
	case strings.HasPrefix(word, "'"):
		word = word[1:]
		t.anywhere, t.apart = true, t.inverse
		if t.match = algo.ExactMatchNaive; t.inverse {
			t.match = algo.FuzzyMatchV2
		}
	case strings.HasPrefix(word, "^"):
		word = word[1:]
		t.anywhere, t.apart = false, false
		if t.match = algo.PrefixMatch; suffix {
			t.match = algo.EqualMatch
		}
	}
	t.caseSensitive = strings.IndexFunc(word, unicode.IsUpper) >= 0
	if !t.caseSensitive {
		word = strings.ToLower(word)
	}
	t.runes = []rune(word)
	plain := algo.NormalizeRunes(t.runes)
	if t.normalize = slices.Equal(plain, t.runes); t.normalize {
		t.runes = plain
	}
	t.mask, t.bytes = termMask(t.runes), []byte(word)
	return t, len(t.runes) > 0
}

const (
	notASCII   = ^uint64(0)      // the mask of a text that is not all ASCII
	hasCapital = uint64(1) << 63 // in the mask of one with capitals
)

// textMask is a bit for each character that a text has, upper case as lower
// case; several share one. What is not ASCII may be found as another character,
// so such a text has all.
func textMask(s string) (mask uint64) {
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return notASCII
		}
		mask |= maskBit(c)
		if 'A' <= c && c <= 'Z' {
			mask |= hasCapital
		}
	}
	return mask
}

// termMask is the bits that a text has in which all of the characters are.
func termMask(runes []rune) (mask uint64) {
	for _, r := range runes {
		if r < utf8.RuneSelf {
			mask |= maskBit(byte(r))
		}
	}
	return mask
}

func maskBit(c byte) uint64 {
	switch {
	case 'a' <= c && c <= 'z':
		return 1 << (c - 'a')
	case 'A' <= c && c <= 'Z':
		return 1 << (c - 'A')
	case '0' <= c && c <= '9':
		return 1 << (26 + c - '0')
	}
	return 1 << (36 + c%27)
}

// in reports whether an ASCII text contains a term that may be anywhere in it. fzf's algorithm scores
// the match too: with it alone, the 95th percentile of a key is 11 times as high.
func (t *term) in(text []byte) bool {
	if !t.apart {
		return bytes.Contains(text, t.bytes)
	}
	for _, c := range t.bytes {
		at := bytes.IndexByte(text, c)
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

// A matcher matches texts with a query, one after the other. It holds the memory
// that this takes, and belongs to one goroutine.
type matcher struct {
	query query
	mask  uint64 // characters of every text that matches, see textMask
	chars util.Chars
	slab  *util.Slab // made by the first term that needs the algorithm
}

func newMatcher(q query) *matcher {
	m := &matcher{query: q}
	for _, any := range q {
		if len(any) == 1 && !any[0].inverse {
			m.mask |= any[0].mask
		}
	}
	return m
}

// finds reports whether a text matches. It checks the last condition first: texts that an earlier,
// shorter query found meet the others already.
func (m *matcher) finds(texts *historyTexts, n uint32) bool {
	for at := len(m.query) - 1; at >= 0; at-- {
		any, found := m.query[at], false
		for i := 0; i < len(any) && !found; i++ {
			found = m.has(&any[i], texts, n) != any[i].inverse
		}
		if !found {
			return false
		}
	}
	return true
}

func (m *matcher) has(t *term, texts *historyTexts, n uint32) bool {
	mask := texts.masks[n]
	switch {
	case t.mask&^mask != 0:
		return false
	case t.anywhere && mask != notASCII && t.caseSensitive:
		return t.in(texts.bytes(n))
	case t.anywhere && mask != notASCII:
		return t.in(texts.small(n))
	}
	r, _ := m.run(t, texts.bytes(n), false)
	return r.Start >= 0
}

// run matches a term with fzf's algorithm, whether the term is inverse or not.
func (m *matcher) run(t *term, text []byte, withPos bool) (algo.Result, *[]int) {
	if m.slab == nil {
		m.slab = util.MakeSlab(slab16, slab32)
	}
	m.chars = util.ToChars(text)
	return t.match(t.caseSensitive, t.normalize, true, &m.chars, t.runes, withPos, m.slab)
}

// score matches a text. The score is the sum of the scores of the terms found in it.
func (m *matcher) score(text []byte) (score int32, ok bool) {
	score, _, ok = m.match(text, false)
	return score, ok
}

// positions are the indexes of the characters of a text that match, ascending.
func (m *matcher) positions(text []byte) []int {
	_, all, _ := m.match(text, true)
	slices.Sort(all)
	return slices.Compact(all)
}

func (m *matcher) match(text []byte, withPos bool) (score int32, all []int, ok bool) {
	for _, any := range m.query {
		found := false
		for i := range any {
			t := &any[i]
			r, at := m.run(t, text, withPos)
			if t.inverse {
				found = found || r.Start < 0
				continue
			}
			if r.Start < 0 {
				continue
			}
			found = true
			score += int32(r.Score)
			if at != nil {
				all = append(all, *at...)
			} else if withPos {
				for i := r.Start; i < r.End; i++ {
					all = append(all, i)
				}
			}
			break
		}
		if !found {
			return 0, nil, false
		}
	}
	return score, all, true
}
