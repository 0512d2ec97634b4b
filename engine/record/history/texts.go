package history

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// historyTexts stores the command lines of a history, each one once and back to back, without
// pointers. An ASCII line with capital letters is followed by a copy in lower case, so a search
// regardless of case only compares bytes.
type historyTexts struct {
	all   []byte   // the command lines
	ends  []uint32 // of each command line, its end offset in the field all
	masks []uint64 // of each command line, its characters; see textMask

	table []uint32 // hash → number + 1, open addressing; its length is a power of 2
	seed  maphash.Seed
}

// newHistoryTexts allocates memory for lines with size bytes in total.
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

// lineBytes returns a line. It must not be modified.
func (t *historyTexts) lineBytes(n uint32) []byte {
	both := t.lineWithCopy(n)
	if hasLowerCopy(t.masks[n]) {
		return both[: len(both)/2 : len(both)/2]
	}
	return both
}

// lowerLine returns an ASCII line in lower case. It must not be modified.
func (t *historyTexts) lowerLine(n uint32) []byte {
	both := t.lineWithCopy(n)
	if hasLowerCopy(t.masks[n]) {
		return both[len(both)/2:]
	}
	return both
}

// lineWithCopy returns a line, followed by its copy in lower case if it has one.
func (t *historyTexts) lineWithCopy(n uint32) []byte {
	begin, end := uint32(0), t.ends[n]
	if n > 0 {
		begin = t.ends[n-1]
	}
	return t.all[begin:end:end]
}

// hasLowerCopy reports whether a text with this mask has a copy in lower case.
func hasLowerCopy(mask uint64) bool { return mask != notASCII && mask&hasCapital != 0 }

func (t *historyTexts) line(n uint32) string { return string(t.lineBytes(n)) }

// findLine returns the number of a line.
func (t *historyTexts) findLine(line string) (n uint32, ok bool) {
	n = t.table[t.findSlot(line)]
	return n - 1, n > 0
}

// findSlot returns the index in table of a line, or of the free entry for it.
func (t *historyTexts) findSlot(line string) int {
	last := len(t.table) - 1
	slot := int(maphash.String(t.seed, line)) & last
	for t.table[slot] > 0 && string(t.lineBytes(t.table[slot]-1)) != line {
		slot = (slot + 1) & last
	}
	return slot
}

// internLine returns the number of a line, and adds it if it is new.
func (t *historyTexts) internLine(line string) uint32 {
	slot := t.findSlot(line)
	if n := t.table[slot]; n > 0 {
		return n - 1
	}
	mask := textMask(line)
	t.masks = append(t.masks, mask)
	t.all = append(t.all, line...)
	if hasLowerCopy(mask) {
		t.all = append(t.all, strings.ToLower(line)...)
	}
	t.ends = append(t.ends, uint32(len(t.all)))
	n := uint32(len(t.ends))
	t.table[slot] = n
	// Open addressing needs free entries to stay fast.
	if 4*t.count() > 3*len(t.table) {
		t.table = make([]uint32, 2*len(t.table))
		for old := range n {
			t.table[t.findSlot(t.line(old))] = old + 1
		}
	}
	return n - 1
}
