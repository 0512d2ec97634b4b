package history

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// historyTexts holds the command lines of a history, each once and one after the
// other, without a pointer to any. An ASCII line with capitals is followed by a copy
// in small letters, so that a search that ignores case compares bytes.
type historyTexts struct {
	all   []byte
	ends  []uint32 // where in all each of them ends
	masks []uint64 // which characters each of them has, see textMask

	table []uint32 // hash → number + 1, open addressing; its length is a power of 2
	seed  maphash.Seed
}

// newHistoryTexts makes room for a number of lines that have size bytes in total.
func newHistoryTexts(lines, size int) historyTexts {
	return historyTexts{
		all:   make([]byte, 0, size+size/2),
		ends:  make([]uint32, 0, lines),
		masks: make([]uint64, 0, lines),
		table: make([]uint32, 1<<bits.Len(uint(max(lines+lines/3, 512)))),
		seed:  maphash.MakeSeed(),
	}
}

func (t *historyTexts) count() int { return len(t.ends) }

// bytes returns a line. It must not be changed.
func (t *historyTexts) bytes(n uint32) []byte {
	both := t.both(n)
	if hasSmall(t.masks[n]) {
		return both[: len(both)/2 : len(both)/2]
	}
	return both
}

// small returns an ASCII line in small letters. It must not be changed.
func (t *historyTexts) small(n uint32) []byte {
	both := t.both(n)
	if hasSmall(t.masks[n]) {
		return both[len(both)/2:]
	}
	return both
}

// both returns a line with its copy in small letters, if it has one.
func (t *historyTexts) both(n uint32) []byte {
	begin, end := uint32(0), t.ends[n]
	if n > 0 {
		begin = t.ends[n-1]
	}
	return t.all[begin:end:end]
}

// hasSmall reports whether a text with this mask has a copy in small letters.
func hasSmall(mask uint64) bool { return mask != notASCII && mask&hasCapital != 0 }

func (t *historyTexts) line(n uint32) string { return string(t.bytes(n)) }

// find returns the number of a line.
func (t *historyTexts) find(line string) (n uint32, ok bool) {
	n = t.table[t.place(line)]
	return n - 1, n > 0
}

// place returns the index in table of a line, or of the free entry for it.
func (t *historyTexts) place(line string) int {
	last := len(t.table) - 1
	place := int(maphash.String(t.seed, line)) & last
	for t.table[place] > 0 && string(t.bytes(t.table[place]-1)) != line {
		place = (place + 1) & last
	}
	return place
}

// number returns the number of a line, which is added if it is new.
func (t *historyTexts) number(line string) uint32 {
	place := t.place(line)
	if n := t.table[place]; n > 0 {
		return n - 1
	}
	mask := textMask(line)
	t.masks = append(t.masks, mask)
	t.all = append(t.all, line...)
	if hasSmall(mask) {
		t.all = append(t.all, strings.ToLower(line)...)
	}
	t.ends = append(t.ends, uint32(len(t.all)))
	n := uint32(len(t.ends))
	t.table[place] = n
	if 4*t.count() > 3*len(t.table) {
		t.table = make([]uint32, 2*len(t.table))
		for old := range n {
			t.table[t.place(t.line(old))] = old + 1
		}
	}
	return n - 1
}
