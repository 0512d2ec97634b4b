package history

import (
	"hash/maphash"
	"math/bits"
)

// historyTexts holds the command lines of a history, each once, without a
// pointer: searched are those in small letters, behind each other, and a bit for
// each byte tells what was a capital.
type historyTexts struct {
	small    []byte
	capitals []uint64
	ends     []uint32 // where in small each of them ends
	masks    []uint64 // which characters each of them has, see textMask

	table []uint32 // hash → number of a command line and one, open addressing; its length is a power of 2
	seed  maphash.Seed
}

const leastTable = 1 << 10

// expect makes room for a number of lines with so many bytes.
func (t *historyTexts) expect(lines, size int) {
	t.small = make([]byte, 0, size)
	t.capitals = make([]uint64, 0, size/64+1)
	t.ends = make([]uint32, 0, lines)
	t.masks = make([]uint64, 0, lines)
	t.seed = maphash.MakeSeed()
	t.table = make([]uint32, max(leastTable, 1<<bits.Len(uint(lines+lines/3))))
}

func (t *historyTexts) count() int { return len(t.ends) }

// span is where in small a line is.
func (t *historyTexts) span(n uint32) (begin, end uint32) {
	if n > 0 {
		begin = t.ends[n-1]
	}
	return begin, t.ends[n]
}

// smallLine is a line with small letters for capitals; it must not be changed.
func (t *historyTexts) smallLine(n uint32) []byte {
	begin, end := t.span(n)
	return t.small[begin:end:end]
}

// appendLine adds a line to b.
func (t *historyTexts) appendLine(b []byte, n uint32) []byte {
	begin, end := t.span(n)
	from := len(b)
	b = append(b, t.small[begin:end]...)
	for at := begin; at < end; {
		word := t.capitals[at/64] >> (at % 64)
		if word == 0 {
			at += 64 - at%64
			continue
		}
		if at += uint32(bits.TrailingZeros64(word)); at < end {
			b[from+int(at-begin)] -= 'a' - 'A'
		}
		at++
	}
	return b
}

func (t *historyTexts) line(n uint32) string { return string(t.appendLine(nil, n)) }

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

// is reports whether a line is the given one.
func (t *historyTexts) is(n uint32, line string) bool {
	begin, end := t.span(n)
	if int(end-begin) != len(line) {
		return false
	}
	for i := range len(line) {
		c, at := line[i], begin+uint32(i)
		capital := isCapital(c)
		if capital {
			c += 'a' - 'A'
		}
		if c != t.small[at] || capital != (t.capitals[at/64]>>(at%64)&1 != 0) {
			return false
		}
	}
	return true
}

// find gives the number of a line, or the place in table to note it at.
func (t *historyTexts) find(line string) (n uint32, place int, ok bool) {
	last := len(t.table) - 1
	for place = int(maphash.String(t.seed, line)) & last; t.table[place] != 0; place = (place + 1) & last {
		if n = t.table[place] - 1; t.is(n, line) {
			return n, place, true
		}
	}
	return 0, place, false
}

// number gives the number of a line, which is added if it is new.
func (t *historyTexts) number(line string) (n uint32, added bool) {
	n, place, ok := t.find(line)
	if ok {
		return n, false
	}
	n = uint32(len(t.ends))
	t.masks = append(t.masks, textMask(line))
	for i := range len(line) {
		c, at := line[i], len(t.small)
		if at%64 == 0 {
			t.capitals = append(t.capitals, 0)
		}
		if isCapital(c) {
			c += 'a' - 'A'
			t.capitals[at/64] |= 1 << (at % 64)
		}
		t.small = append(t.small, c)
	}
	t.ends = append(t.ends, uint32(len(t.small)))
	t.table[place] = n + 1
	if 4*len(t.ends) > 3*len(t.table) {
		t.spread()
	}
	return n, true
}

// spread makes the table twice as large.
func (t *historyTexts) spread() {
	t.table = make([]uint32, 2*len(t.table))
	last := len(t.table) - 1
	var line []byte
	for n := range uint32(len(t.ends)) {
		line = t.appendLine(line[:0], n)
		place := int(maphash.Bytes(t.seed, line)) & last
		for t.table[place] != 0 {
			place = (place + 1) & last
		}
		t.table[place] = n + 1
	}
}
