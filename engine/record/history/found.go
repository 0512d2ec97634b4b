package history

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"tandem/engine/base/panics"
)

// A search runs after every key, and each query is nearly the same as the previous one. Command
// lines are stored once and never change, so the set of lines matching a query stays valid. A
// repeated query only has to be matched with lines added since. A longer query that narrows an
// earlier one only has to be matched with that one's results.

// maxCachedQueries is how many queries keep their results. It is enough for typing a line and
// deleting it again.
const maxCachedQueries = 32

// A queryCache keeps the matching texts of recent queries. Without it, the median search takes 1.6
// times as long on a large history.
type queryCache struct {
	mu   sync.Mutex
	sets []textSet // newest first
}

// A textSet has one bit for each of the first count texts, set if the query matches it.
type textSet struct {
	query string
	bits  []uint64
	count int
}

func newTextSet(count int) textSet { return textSet{bits: make([]uint64, (count+63)/64), count: count} }

func (s *textSet) add(text uint32) { s.bits[text/64] |= 1 << (text % 64) }

func (s *textSet) has(text uint32) bool { return s.bits[text/64]>>(text%64)&1 != 0 }

func (s *textSet) size() (n int) {
	for _, word := range s.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// narrows reports whether query can only match texts also matched by shorter. That is so if it
// continues shorter, and the last word of shorter has no operator whose meaning a longer word
// reverses.
func narrows(query, shorter string) bool {
	if !strings.HasPrefix(query, shorter) || strings.Contains(query, "|") || strings.Contains(shorter, `\`) {
		return false
	}
	last := shorter[strings.LastIndexFunc(shorter, unicode.IsSpace)+1:]
	return !strings.ContainsAny(last, "!$") && !strings.HasSuffix(last, "'")
}

// findNearest returns the result of query if it is cached, or else of the longest cached query
// narrowed by it.
func (f *queryCache) findNearest(query string) (near textSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sets {
		if s.query == query {
			return s
		}
		if len(s.query) > len(near.query) && narrows(query, s.query) {
			near = s
		}
	}
	return near
}

func (f *queryCache) storeSet(s textSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sets = slices.DeleteFunc(f.sets, func(old textSet) bool { return old.query == s.query })
	f.sets = slices.Insert(f.sets, 0, s)
	f.sets = f.sets[:min(len(f.sets), maxCachedQueries)]
}

// matchTexts returns the texts matching a query.
func (x *historyIndex) matchTexts(ctx context.Context, text string, q query) (textSet, error) {
	text = strings.TrimLeft(text, " ")
	near := x.queries.findNearest(text)
	if near.query == text && near.count == x.texts.count() {
		return near, nil
	}
	found := newTextSet(x.texts.count())
	found.query = text
	err := runParallel(ctx, len(found.bits), q, func(m *matcher, from, to int) {
		for w := from; w < to; w++ {
			found.bits[w] = x.matchWord(m, &near, found, w)
		}
	})
	if err != nil {
		return textSet{}, err
	}
	x.queries.storeSet(found)
	return found, nil
}

// matchWord computes one word of the bits in found, the word with index w. near is the result of
// the same query or of a wider one. If near covers only part of the word, the word is matched from
// scratch.
func (x *historyIndex) matchWord(m *matcher, near *textSet, found textSet, w int) (word uint64) {
	todo := ^uint64(0)
	if (w+1)*64 <= near.count {
		if todo = near.bits[w]; near.query == found.query {
			return todo
		}
	} else if rest := found.count - w*64; rest < 64 {
		todo = 1<<rest - 1
	}
	for ; todo != 0; todo &= todo - 1 {
		bit := bits.TrailingZeros64(todo)
		n := uint32(w*64 + bit)
		if m.mask&^x.texts.masks[n] == 0 && m.matchesText(&x.texts, n) {
			word |= 1 << bit
		}
	}
	return word
}

// parallelStep is how many items a worker processes between two checks of the context.
const parallelStep = 64

// runParallel processes n items on several processors. Each worker calls part for ranges of items,
// with a matcher of its own. It stops early when ctx ends.
func runParallel(ctx context.Context, n int, q query, part func(m *matcher, from, to int)) error {
	var next atomic.Int64
	var workers panics.Group
	for range max(1, min(runtime.GOMAXPROCS(0), maxSearchWorkers, n/parallelStep)) {
		workers.Start(func() {
			m := newMatcher(q)
			for ctx.Err() == nil {
				// A worker takes the next range when it is done, so a slow one does not delay the
				// others.
				from := int(next.Add(parallelStep)) - parallelStep
				if from >= n {
					return
				}
				part(m, from, min(from+parallelStep, n))
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// maxSearchWorkers is the maximum number of processors used by a search.
const maxSearchWorkers = 4
