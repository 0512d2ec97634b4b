package list

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// A Query is a list of words a text must match, fuzzily and in any order. It is not safe for
// concurrent use.
type Query struct {
	words []word
	slab  *util.Slab
}

// A word is a word of a query.
type word struct {
	runes     []rune
	sensitive bool // case-sensitive, because it has a capital
}

// matching makes sure that fzf's tables are initialized only once.
var matching sync.Once

func prepareMatching() { matching.Do(func() { algo.Init("default") }) }

// Sizes of the scratch memory, as in fzf.
const (
	matchSlab16 = 100 << 10
	matchSlab32 = 2048
)

// NewQuery parses the text of a query.
func NewQuery(text string) Query {
	prepareMatching()
	q := Query{slab: util.MakeSlab(matchSlab16, matchSlab32)}
	for text := range strings.FieldsSeq(text) {
		w := word{sensitive: strings.IndexFunc(text, unicode.IsUpper) >= 0}
		if !w.sensitive {
			text = strings.ToLower(text)
		}
		// fzf expects normalized patterns, so that e finds é.
		w.runes = algo.NormalizeRunes([]rune(text))
		q.words = append(q.words, w)
	}
	return q
}

func (w word) match(text *util.Chars, places bool, slab *util.Slab) (algo.Result, *[]int) {
	return algo.FuzzyMatchV2(w.sensitive, true, true, text, w.runes, places, slab)
}

// Places returns the indexes of the matched characters of a text, in order.
func (q *Query) Places(text string) []int {
	chars := util.ToChars([]byte(text))
	return q.places(&chars)
}

func (q *Query) places(text *util.Chars) (at []int) {
	for _, w := range q.words {
		if r, places := w.match(text, true, q.slab); r.Start >= 0 && places != nil {
			at = append(at, *places...)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// baseBonus is the bonus for matching the last part of a path.
const baseBonus = 24

// RankPaths returns the indexes of the matching paths, best first. Matches in the last part of a
// path count more, and shorter paths win ties.
func (q *Query) RankPaths(paths []string) []int {
	var found []int
	scores := make([]int, len(paths))
	for i, path := range paths {
		if score, ok := q.scorePath(path); ok {
			scores[i] = score
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(len(paths[a]), len(paths[b])))
	})
	return found
}

func (q *Query) scorePath(path string) (sum int, ok bool) {
	whole := util.ToChars([]byte(path))
	base := util.ToChars([]byte(path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]))
	for _, w := range q.words {
		in, _ := w.match(&whole, false, q.slab)
		if in.Start < 0 {
			return 0, false
		}
		best := in.Score
		if r, _ := w.match(&base, false, q.slab); r.Start >= 0 {
			best = max(best, r.Score+baseBonus)
		}
		sum += best
	}
	return sum, true
}
