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

	"tandem/engine/panics"
)

// foundKept is how many queries are remembered with what they have found: those
// of a line that is typed, and typed back.
const foundKept = 32

// foundTexts remembers which texts queries have found. Texts never change, so
// that stays true; texts added since are matched by the next query. Without this,
// the median key takes 1.6 times as long on a large history.
type foundTexts struct {
	mu   sync.Mutex
	sets []textSet // the latest first
}

// A textSet is which of the first count texts a query finds, a bit each.
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

// narrows reports whether a query finds nothing that a shorter one does not:
// more was typed at its end, and the word that this went on with has nothing that
// works the other way around.
func narrows(query, shorter string) bool {
	if !strings.HasPrefix(query, shorter) || strings.Contains(query, "|") || strings.Contains(shorter, `\`) {
		return false
	}
	last := shorter[strings.LastIndexFunc(shorter, unicode.IsSpace)+1:]
	return !strings.ContainsAny(last, "!$") && !strings.HasSuffix(last, "'")
}

// near gives the set of a query, or the one of the longest query that it narrows.
func (f *foundTexts) near(query string) (near textSet) {
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

func (f *foundTexts) keep(s textSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sets = slices.DeleteFunc(f.sets, func(old textSet) bool { return old.query == s.query })
	f.sets = slices.Insert(f.sets, 0, s)
	f.sets = f.sets[:min(len(f.sets), foundKept)]
}

// textsThat gives the texts that a query finds.
func (x *historyIndex) textsThat(ctx context.Context, text string, q query) (textSet, error) {
	text = strings.TrimLeft(text, " ")
	near := x.found.near(text)
	if near.query == text && near.count == x.texts.count() {
		return near, nil
	}
	found := newTextSet(x.texts.count())
	found.query = text
	err := inParallel(ctx, len(found.bits), q, func(m *matcher, from, to int) {
		for w := from; w < to; w++ {
			found.bits[w] = x.wordOf(m, &near, found, w)
		}
	})
	if err != nil {
		return textSet{}, err
	}
	x.found.keep(found)
	return found, nil
}

// wordOf makes a word of a set: near was found by the same query, or by one that
// finds more. A word that near covers in part only is matched from scratch.
func (x *historyIndex) wordOf(m *matcher, near *textSet, found textSet, w int) (word uint64) {
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
		if m.mask&^x.texts.masks[n] == 0 && m.finds(&x.texts, n) {
			word |= 1 << bit
		}
	}
	return word
}

// parallelStep is how much is done between looks at the context.
const parallelStep = 64

// inParallel does n things on several processors: each calls part for ranges of them, with a
// matcher of its own. It gives up when ctx ends.
func inParallel(ctx context.Context, n int, q query, part func(m *matcher, from, to int)) error {
	var next atomic.Int64
	var workers panics.Group
	for range max(1, min(runtime.GOMAXPROCS(0), searchWorkers, n/parallelStep)) {
		workers.Start(func() {
			m := newMatcher(q)
			for ctx.Err() == nil {
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

// searchWorkers is on how many processors at most a search runs.
const searchWorkers = 4
