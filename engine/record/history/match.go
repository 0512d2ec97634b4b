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

// prepareMatching fills the tables of fzf's algorithm, once.
var prepareMatching = sync.OnceFunc(func() { algo.Init("default") })

// Sizes of the scratch memory that fzf uses itself.
const (
	slab16 = 100 << 10
	slab32 = 2048
)

// A term is a word of a query: a pattern, and how to match it.
type term struct {
	match func(caseSensitive, normalize, forward bool, text *util.Chars, pattern []rune, withPos bool, slab *util.Slab) (algo.Result, *[]int)

	runes         []rune
	bytes         []byte
	caseSensitive bool
	normalize     bool   // "e" finds "é"
	inverse       bool   // must not match
	anywhere      bool   // may match at any position
	apart         bool   // its characters may be apart
	mask          uint64 // its characters; see textMask
}

// A query is a list of conditions. All of them must hold. Each condition is a list of alternative
// terms.
type query [][]term

// parseQuery parses the extended syntax of fzf: words in any order, 'exact, 'word', ^start, end$,
// !not, and | between words for or. "\ " is a blank within a word. A word with a capital letter is
// case-sensitive.
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
	// A term with accents must match them exactly.
	plain := algo.NormalizeRunes(t.runes)
	if t.normalize = slices.Equal(plain, t.runes); t.normalize {
		t.runes = plain
	}
	t.mask, t.bytes = termMask(t.runes), []byte(word)
	return t, len(t.runes) > 0
}

const (
	notASCII   = ^uint64(0)      // mask of a text with other than ASCII characters
	hasCapital = uint64(1) << 63 // set in the mask of a text with capitals
)

// textMask returns a bit for each character in a text, ignoring case. Some characters share a bit.
// Non-ASCII characters may match several others, so a text with any has all bits.
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

// termMask returns the bits of the characters in a term. A text can only match if its mask has all
// of them.
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

// isIn reports whether an ASCII text contains a term without a fixed position. fzf's algorithm
// could tell, but also computes a score. With it alone, the slowest 5 % of searches take at least
// 11 times as long.
func (t *term) isIn(text []byte) bool {
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

// A matcher tests whether texts match a query. It reuses its buffers, so only one goroutine may use
// it.
type matcher struct {
	query query
	mask  uint64 // required characters of a matching text; see textMask
	chars util.Chars
	slab  *util.Slab // allocated by the first term using the algorithm
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

// matchesText reports whether text n matches. It checks the last condition first, because texts
// found by an earlier, shorter query meet the others already.
func (m *matcher) matchesText(texts *historyTexts, n uint32) bool {
	for at := len(m.query) - 1; at >= 0; at-- {
		any, found := m.query[at], false
		for i := 0; i < len(any) && !found; i++ {
			found = m.hasTerm(&any[i], texts, n) != any[i].inverse
		}
		if !found {
			return false
		}
	}
	return true
}

func (m *matcher) hasTerm(t *term, texts *historyTexts, n uint32) bool {
	mask := texts.masks[n]
	switch {
	// Most texts lack some character of the term, and one operation rejects them.
	case t.mask&^mask != 0:
		return false
	case t.anywhere && mask != notASCII && t.caseSensitive:
		return t.isIn(texts.lineBytes(n))
	case t.anywhere && mask != notASCII:
		return t.isIn(texts.lowerLine(n))
	}
	r, _ := m.runTerm(t, texts.lineBytes(n), false)
	return r.Start >= 0
}

// runTerm matches a term with fzf's algorithm. It ignores whether the term is negated.
func (m *matcher) runTerm(t *term, text []byte, withPos bool) (algo.Result, *[]int) {
	if m.slab == nil {
		m.slab = util.MakeSlab(slab16, slab32)
	}
	m.chars = util.ToChars(text)
	return t.match(t.caseSensitive, t.normalize, true, &m.chars, t.runes, withPos, m.slab)
}

// score matches a text. The score is the sum of the scores of all terms found.
func (m *matcher) score(text []byte) (score int32, ok bool) {
	score, _, ok = m.matchText(text, false)
	return score, ok
}

// positions returns the indexes of the matching characters of a text, ascending.
func (m *matcher) positions(text []byte) []int {
	_, all, _ := m.matchText(text, true)
	slices.Sort(all)
	return slices.Compact(all)
}

func (m *matcher) matchText(text []byte, withPos bool) (score int32, all []int, ok bool) {
	for _, any := range m.query {
		found := false
		for i := range any {
			t := &any[i]
			r, at := m.runTerm(t, text, withPos)
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
