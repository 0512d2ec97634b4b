package history

import (
	"bytes"
	"context"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/junegunn/fzf/src/util"

	"tandem/engine/panics"
)

// foundKept is how many queries are remembered with what they have found: those
// of a line that is typed, and typed back.
const foundKept = 32

// foundTexts remembers which texts queries have found. Texts never change, so
// that holds for ever; those that came since are looked at later.
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

func (s *textSet) has(text uint32) bool { return s.bits[text/64]>>(text%64)&1 != 0 }

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
func (x *historyIndex) textsThat(ctx context.Context, text string, q query, s *scratch) (textSet, error) {
	text = strings.TrimLeft(text, " ")
	near := x.found.near(text)
	if near.query == text && near.count == x.texts.count() {
		return near, nil
	}
	found := textSet{query: text, count: x.texts.count()}
	found.bits = make([]uint64, (found.count+63)/64)
	settled := q.settled(text, near.query)
	err := inParallel(ctx, len(found.bits), func(worker, from, to int) {
		m := s.matcher(worker, q)
		for w := from; w < to; w++ {
			m.settled = 0
			if (w+1)*64 <= near.count {
				m.settled = settled
			}
			found.bits[w] = x.wordOf(m, &near, found, w)
		}
	})
	if err != nil {
		return textSet{}, err
	}
	x.found.keep(found)
	return found, nil
}

// settled is how many of the conditions of a query, from the first on, another
// one has that it narrows.
func (q query) settled(text, near string) (n int) {
	words, known := strings.Fields(text), strings.Fields(near)
	if len(words) != len(q) || len(known) != len(parseQuery(near)) {
		return 0
	}
	for n < min(len(words), len(known)) && words[n] == known[n] {
		n++
	}
	return n
}

// wordOf makes a word of a set: near has been found by the same query, or by one
// that finds more.
func (x *historyIndex) wordOf(m *matcher, near *textSet, found textSet, w int) (word uint64) {
	todo := ^uint64(0)
	if rest := found.count - w*64; rest < 64 {
		todo = 1<<rest - 1
	}
	if w < len(near.bits) {
		if known := near.count - w*64; known >= 64 {
			todo &= near.bits[w]
		} else { // of some texts nothing is known yet
			todo &= near.bits[w] | ^uint64(0)<<known
		}
	}
	if near.query == found.query && (w+1)*64 <= near.count {
		return todo
	}
	for ; todo != 0; todo &= todo - 1 {
		bit := bits.TrailingZeros64(todo)
		if m.quick.mask&^x.texts.masks[w*64+bit] != 0 {
			continue
		}
		if x.matches(m, uint32(w*64+bit)) {
			word |= 1 << bit
		}
	}
	return word
}

// matches reports whether a text is found that has the characters for it. Of ASCII most can be told without the
// algorithm, by its characters alone or by looking for the terms.
func (x *historyIndex) matches(m *matcher, n uint32) bool {
	mask := x.texts.masks[n]
	if mask != ^uint64(0) {
		if m.quick.characters {
			return true
		}
		if found := x.mayMatch(m, n); !found || m.quick.sure {
			return found
		}
	}
	m.text = x.texts.appendLine(m.text[:0], n)
	_, ok := m.score(m.text, mask)
	return ok
}

// A quickQuery is a query as ASCII texts can be matched without fzf's algorithm.
type quickQuery struct {
	mask       uint64 // see textMask; this of all that are found
	terms      [][]quickTerm
	sure       bool // what matches is found
	characters bool // mask alone says so
}

type quickTerm struct {
	small   []byte // in small letters
	cased   []byte // as it is, if case counts
	apart   bool   // its characters may be apart
	inverse bool
	unsure  bool // only without it something can be told
}

func (q query) quick() quickQuery {
	quick := quickQuery{sure: true, characters: true}
	for _, any := range q {
		var terms []quickTerm
		for i := range any {
			t := quickTermOf(&any[i])
			terms = append(terms, t)
			quick.sure = quick.sure && !t.unsure
			quick.characters = quick.characters && len(any) == 1 && !t.unsure && !t.inverse && t.cased == nil && len(t.small) == 1 && ownBit(t.small[0])
		}
		if len(any) == 1 {
			quick.mask |= any[0].mask
		}
		quick.terms = append(quick.terms, terms)
	}
	return quick
}

func quickTermOf(t *term) quickTerm {
	text := []byte(string(t.runes))
	quick := quickTerm{small: bytes.ToLower(text), apart: t.apart, inverse: t.inverse, unsure: !t.anywhere}
	if t.caseSensitive {
		quick.cased = text
	}
	return quick
}

// mayMatch reports whether an ASCII text has what is asked for. If not all that
// is asked for can be told, it may be that the text does not match.
func (x *historyIndex) mayMatch(m *matcher, n uint32) bool {
	small, whole := x.texts.smallLine(n), false
	for _, any := range m.quick.terms[m.settled:] {
		found := false
		for i := range any {
			t := &any[i]
			ok := has(small, t.small, t.apart)
			if ok && t.cased != nil {
				if !whole {
					m.text, whole = x.texts.appendLine(m.text[:0], n), true
				}
				ok = has(m.text, t.cased, t.apart)
			}
			if found = ok != t.inverse || t.unsure && t.inverse; found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func has(text, term []byte, apart bool) bool {
	if !apart {
		return bytes.Contains(text, term)
	}
	for _, c := range term {
		at := bytes.IndexByte(text, c)
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

// parallelStep is how much is done between looks at the context.
const parallelStep = 64

// inParallel does n things on some processors: part is called for parts of them.
// It gives up when ctx ends.
func inParallel(ctx context.Context, n int, part func(worker, from, to int)) error {
	var next atomic.Int64
	var workers panics.Group
	for worker := range max(1, min(runtime.GOMAXPROCS(0), searchWorkers, n/parallelStep)) {
		workers.Start(func() {
			for ctx.Err() == nil {
				from := int(next.Add(parallelStep)) - parallelStep
				if from >= n {
					return
				}
				part(worker, from, min(from+parallelStep, n))
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// searchWorkers is on how many processors at most a search runs.
const searchWorkers = 4

// A scratch is the memory that searches use, one after the other.
type scratch struct {
	runs  []int32 // of each text, what gets through the filter
	slabs [searchWorkers]*util.Slab
}

func (s *scratch) reset(texts int) {
	s.runs = slices.Grow(s.runs[:0], texts)[:texts]
	clear(s.runs)
}

// matcher makes a matcher for one of the workers.
func (s *scratch) matcher(worker int, q query) *matcher {
	if s.slabs[worker] == nil {
		s.slabs[worker] = util.MakeSlab(slab16, slab32)
	}
	return newMatcher(q, s.slabs[worker])
}
