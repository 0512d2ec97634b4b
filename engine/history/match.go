package history

import (
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
	caseSensitive bool
	normalize     bool   // "e" finds "é"
	inverse       bool   // it must not be found
	fuzzy         bool   // it is neither marked as something else nor inverse
	anywhere      bool   // it may be at any place
	apart         bool   // so may each of its characters
	mask          uint64 // characters that a match has
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
	t, given := term{match: algo.FuzzyMatchV2, anywhere: true, apart: true}, word
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
	t.fuzzy = word == given
	t.caseSensitive = strings.IndexFunc(word, unicode.IsUpper) >= 0
	if !t.caseSensitive {
		word = strings.ToLower(word)
	}
	t.runes = []rune(word)
	plain := algo.NormalizeRunes(t.runes)
	if t.normalize = slices.Equal(plain, t.runes); t.normalize {
		t.runes = plain
	}
	if !t.inverse {
		t.mask = termMask(t.runes)
	}
	return t, len(t.runes) > 0
}

// textMask is a bit for each character that a text has, upper case as lower
// case; several share one. What is not ASCII may be found as another character,
// so such a text has all.
func textMask(s string) (mask uint64) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return ^uint64(0)
		}
		mask |= maskBit(s[i])
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
	return 1 << (36 + c%28)
}

// ownBit reports whether a small letter or another character shares its bit with
// none.
func ownBit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// A matcher matches texts with a query, one after the other. It holds the memory
// that this takes, and belongs to one goroutine.
type matcher struct {
	query query
	quick quickQuery
	chars util.Chars
	slab  *util.Slab
	text  []byte // the last one

	settled int // conditions that hold for all texts that are matched
}

func newMatcher(q query, slab *util.Slab) *matcher {
	return &matcher{query: q, quick: q.quick(), slab: slab}
}

// score matches a text that has the given mask; the score is the sum of those of
// the terms that are found in it.
func (m *matcher) score(text []byte, mask uint64) (score int32, ok bool) {
	for _, any := range m.query {
		if len(any) == 1 && any[0].mask&^mask != 0 {
			return 0, false
		}
	}
	m.chars = util.ToChars(text)
	for _, any := range m.query {
		found := false
		for i := range any {
			t := &any[i]
			if t.mask&^mask != 0 {
				continue
			}
			r, _ := t.match(t.caseSensitive, t.normalize, true, &m.chars, t.runes, false, m.slab)
			if found = (r.Start >= 0) != t.inverse; found {
				if !t.inverse {
					score += int32(r.Score)
				}
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return score, true
}

// positions are the indexes of the characters of a text that match, ascending.
func (m *matcher) positions(text []byte) []int {
	m.chars = util.ToChars(text)
	var all []int
	for _, any := range m.query {
		for i := range any {
			t := &any[i]
			if t.inverse {
				continue
			}
			r, at := t.match(t.caseSensitive, t.normalize, true, &m.chars, t.runes, true, m.slab)
			if r.Start < 0 {
				continue
			}
			if at != nil {
				all = append(all, *at...)
			} else {
				for i := r.Start; i < r.End; i++ {
					all = append(all, i)
				}
			}
			break
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
