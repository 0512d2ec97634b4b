package search

import (
	"cmp"
	"encoding/binary"
	"maps"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Bounds of an automaton. What is larger is left to package regexp.
const (
	maxPositions = 4096
	maxJumpWords = 1 << 20 // of all jumps
)

// An automaton tells whether a line matches a regular expression. It is the
// position automaton of Glushkov: a position is a place in the expression that
// takes a character, and a set of them, a bit each, is all that there is to know
// about what was read of a line. So a step costs the same few operations on
// words however many ways there are to go on.
//
// Package regexp, with the same literals looked for first, takes this many times as long on a large
// log in which nothing matches: (?i)panic: runtime 10, [0-9]{4}ms$ 27, [A-Z]$ 50,
// (?i)(error|warn(ing)?|fatal|panic)\b.*$ 50, [0-9].{0,90}[zq]$ 890. Only a pattern with a literal that
// few lines have is as fast there.
type automaton struct {
	back bool // it reads lines from their ends on
	size int  // words of a set

	anchored bool       // each match begins where the line does
	words    bool       // \b or \B is in the expression
	moves    [2]moves   // by whether a word begins or ends at the place
	masks    [][]uint64 // by class: the positions that take its characters
	word     []bool     // by class: its characters are of words

	from  []rune   // where intervals of characters begin
	class []uint16 // of each interval
	ascii [utf8.RuneSelf]uint16
}

// moves says where reading goes on from a set at a place in a line.
type moves struct {
	words []moveWord
	jumps []jump // where those of words do not lead

	opening []uint64 // where a match begins at the beginning of the line
	doneEnd []uint64 // those behind which a match ends at the end of the line

	// Whether there is a match of nothing: inside of a line, at its beginning, at
	// its end, and in an empty one.
	empty, emptyOpening, emptyEnd, emptyLine bool
}

// A moveWord is a word of some sets.
type moveWord struct {
	loop  uint64 // those which lead to themselves
	next  uint64 // those which lead to the position behind them
	first uint64 // where a match begins
	done  uint64 // those behind which a match ends
}

// A jump leads from any position of one set to all of another one.
type jump struct{ from, to []uint64 }

// A preceding is what is before a place in a line.
type preceding uint8

const (
	atStart preceding = iota
	afterOther
	afterWord
)

// automatonOf makes the automaton of an expression, nil if it is too large. What
// ends with $ is looked for from the end of a line on: there, little has to be
// read of most.
func automatonOf(re *syntax.Regexp) *automaton {
	a := newAutomaton(re)
	if a == nil || !a.onlyEnds() {
		return a
	}
	if back := newAutomaton(reversed(re)); back != nil {
		back.back = true
		return back
	}
	return a
}

func newAutomaton(re *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil
	}
	b := builder{prog: prog, number: make([]int, len(prog.Inst)), seen: make([]int, len(prog.Inst))}
	for pc := range prog.Inst {
		switch i := &prog.Inst[pc]; i.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			b.number[pc] = len(b.takes)
			b.takes = append(b.takes, i)
		case syntax.InstEmptyWidth:
			b.words = b.words || syntax.EmptyOp(i.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	if len(b.takes) > maxPositions {
		return nil
	}
	a := &automaton{size: (len(b.takes) + 63) / 64, words: b.words}
	b.size = a.size
	for border := range a.moves {
		if a.moves[border] = b.moves(border == 1); b.jumpWords > maxJumpWords {
			return nil
		}
	}
	b.classes(a)
	a.anchored = a.onlyBegins()
	return a
}

// A builder makes an automaton of a program of package syntax.
type builder struct {
	prog   *syntax.Prog
	takes  []*syntax.Inst // the instruction of each position
	number []int          // the position of each instruction
	words  bool
	size   int // words of a set

	seen      []int // by instruction: the reach that came by last
	reaches   int
	jumpWords int
}

// reach gives the positions from which reading can go on at an instruction, and
// whether a match ends there.
func (b *builder) reach(pc uint32, holds syntax.EmptyOp) (set []uint64, match bool) {
	b.reaches++
	set = make([]uint64, b.size)
	for todo := []uint32{pc}; len(todo) > 0; {
		pc, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if b.seen[pc] == b.reaches {
			continue
		}
		b.seen[pc] = b.reaches
		switch i := &b.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				todo = append(todo, i.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstFail:
		default:
			setBit(set, b.number[pc])
		}
	}
	return set, match
}

// moves makes the moves at places where a word begins or ends, or at others.
// ^ and $ are the ends of the line: there is no line break in one.
func (b *builder) moves(border bool) moves {
	const opening, ending = syntax.EmptyBeginText | syntax.EmptyBeginLine, syntax.EmptyEndText | syntax.EmptyEndLine
	holds := syntax.EmptyNoWordBoundary
	if border {
		holds = syntax.EmptyWordBoundary
	}
	m := moves{words: make([]moveWord, b.size), doneEnd: make([]uint64, b.size)}
	if border && !b.words {
		return m // there are no such places
	}
	start := uint32(b.prog.Start)
	first, empty := b.reach(start, holds)
	for w, bits := range first {
		m.words[w].first = bits
	}
	m.empty = empty
	m.opening, m.emptyOpening = b.reach(start, holds|opening)
	_, m.emptyEnd = b.reach(start, holds|ending)
	_, m.emptyLine = b.reach(start, holds|opening|ending)
	jumps := make(map[string]jump)
	for p, i := range b.takes {
		w, bit := &m.words[p/64], uint64(1)<<(p%64)
		to, done := b.reach(i.Out, holds)
		if done {
			w.done |= bit
		}
		if _, done := b.reach(i.Out, holds|ending); done {
			setBit(m.doneEnd, p)
		}
		if takeBit(to, p) {
			w.loop |= bit
		}
		if p+1 < len(b.takes) && takeBit(to, p+1) {
			w.next |= bit
		}
		b.jump(jumps, p, to)
	}
	m.jumps = slices.Collect(maps.Values(jumps))
	return m
}

// jump notes that a position leads to a set; those that lead to the same one are
// noted together.
func (b *builder) jump(jumps map[string]jump, p int, to []uint64) {
	if isEmpty(to) || b.jumpWords > maxJumpWords {
		return
	}
	key := keyOf(nil, to)
	j, ok := jumps[string(key)]
	if !ok {
		j = jump{make([]uint64, b.size), to}
		jumps[string(key)] = j
		b.jumpWords += 2 * b.size
	}
	setBit(j.from, p)
}

// classes divides all characters into classes of those that make no difference,
// for reading goes on in the same way after each of one.
func (b *builder) classes(a *automaton) {
	kinds, positions := b.kinds()
	a.from = b.borders(kinds)
	known := make(map[string]uint16)
	for _, r := range a.from {
		word := a.words && syntax.IsWordChar(r)
		key := []byte{0}
		if word {
			key[0] = 1
		}
		mask := make([]uint64, a.size)
		for k, i := range kinds {
			if !i.MatchRune(r) {
				continue
			}
			key = binary.AppendUvarint(key, uint64(k))
			for w, bits := range positions[k] {
				mask[w] |= bits
			}
		}
		class, ok := known[string(key)]
		if !ok {
			class = uint16(len(a.masks))
			known[string(key)] = class
			a.masks, a.word = append(a.masks, mask), append(a.word, word)
		}
		a.class = append(a.class, class)
	}
	for c := range a.ascii {
		a.ascii[c] = uint16(a.search(rune(c)))
	}
}

// kinds are instructions of which each takes other characters, with the
// positions that take the same.
func (b *builder) kinds() (kinds []*syntax.Inst, positions [][]uint64) {
	known := make(map[string]int)
	for p, i := range b.takes {
		key := []byte{byte(i.Arg)} // whether case counts
		for _, r := range i.Rune {
			key = binary.AppendUvarint(key, uint64(r))
		}
		k, ok := known[string(key)]
		if !ok {
			k = len(kinds)
			known[string(key)] = k
			kinds, positions = append(kinds, i), append(positions, make([]uint64, b.size))
		}
		setBit(positions[k], p)
	}
	return kinds, positions
}

// borders are the characters at which a kind begins or ends to take them.
func (b *builder) borders(kinds []*syntax.Inst) []rune {
	all := []rune{0}
	if b.words {
		all = append(all, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	for _, i := range kinds {
		if len(i.Rune) == 1 {
			r := i.Rune[0]
			for f := unicode.SimpleFold(r); ; f = unicode.SimpleFold(f) {
				all = append(all, f, f+1)
				if f == r {
					break
				}
			}
			continue
		}
		for n := 0; n+1 < len(i.Rune); n += 2 {
			all = append(all, i.Rune[n], i.Rune[n+1]+1)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// classOf gives the class of a character.
func (a *automaton) classOf(r rune) int {
	if r < utf8.RuneSelf {
		return int(a.ascii[r])
	}
	return a.search(r)
}

func (a *automaton) search(r rune) int {
	n, found := slices.BinarySearchFunc(a.from, r, cmp.Compare)
	if !found {
		n--
	}
	return int(a.class[n])
}

// step reads a character of a class: src is what was known before it, dst what
// is behind it. It reports whether a match ends before the character.
func (a *automaton) step(dst, src []uint64, before preceding, class int) (match bool) {
	m := a.movesAt(before, a.word[class])
	mask := a.masks[class][:len(dst)]
	if before == atStart {
		for w := range dst {
			dst[w] = m.opening[w] & mask[w]
		}
		return m.emptyOpening
	}
	carry, done := uint64(0), uint64(0)
	words := m.words[:len(dst)]
	for w, bits := range src[:len(dst)] {
		move := &words[w]
		next := bits & move.next
		dst[w] = (move.first | bits&move.loop | next<<1 | carry) & mask[w]
		carry = next >> 63
		done |= bits & move.done
	}
	for i := range m.jumps {
		j := &m.jumps[i]
		if intersect(src, j.from) {
			for w, bits := range j.to {
				dst[w] |= bits & mask[w]
			}
		}
	}
	return m.empty || done != 0
}

// end reports whether a match ends where the line does.
func (a *automaton) end(src []uint64, before preceding) bool {
	m := a.movesAt(before, false)
	if before == atStart {
		return m.emptyLine
	}
	return m.emptyEnd || intersect(src, m.doneEnd)
}

// movesAt are the moves between what is before a place and a character behind it
// that is of a word or not.
func (a *automaton) movesAt(before preceding, word bool) *moves {
	if a.words && word != (before == afterWord) {
		return &a.moves[1]
	}
	return &a.moves[0]
}

// after is what precedes the place behind a character of a class.
func (a *automaton) after(class int) preceding {
	if a.word[class] {
		return afterWord
	}
	return afterOther
}

// onlyBegins reports whether each match begins where the line does.
func (a *automaton) onlyBegins() bool {
	for i := range a.moves {
		m := &a.moves[i]
		if m.empty || m.emptyEnd || slices.ContainsFunc(m.words, func(w moveWord) bool { return w.first != 0 }) {
			return false
		}
	}
	return true
}

// onlyEnds reports whether each match ends where the line does.
func (a *automaton) onlyEnds() bool {
	for i := range a.moves {
		m := &a.moves[i]
		if m.empty || m.emptyOpening || slices.ContainsFunc(m.words, func(w moveWord) bool { return w.done != 0 }) {
			return false
		}
	}
	return true
}

// reversed is the expression that matches a text read from its end on as re
// does from its beginning.
func reversed(re *syntax.Regexp) *syntax.Regexp {
	r := &syntax.Regexp{Op: re.Op, Flags: re.Flags, Min: re.Min, Max: re.Max, Rune: slices.Clone(re.Rune)}
	for _, sub := range re.Sub {
		r.Sub = append(r.Sub, reversed(sub))
	}
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText:
		r.Op = syntax.OpEndText
	case syntax.OpEndLine, syntax.OpEndText:
		r.Op = syntax.OpBeginText
	case syntax.OpLiteral:
		slices.Reverse(r.Rune)
	case syntax.OpConcat:
		slices.Reverse(r.Sub)
	}
	return r
}

// stuck reports whether nothing that follows a set in a line can make it match.
func (a *automaton) stuck(set []uint64) bool { return a.anchored && isEmpty(set) }

func setBit(set []uint64, n int) { set[n/64] |= 1 << (n % 64) }

// takeBit takes a bit out of a set, and reports whether it was there.
func takeBit(set []uint64, n int) bool {
	was := set[n/64]
	set[n/64] &^= 1 << (n % 64)
	return was != set[n/64]
}

func isEmpty(set []uint64) bool {
	return !slices.ContainsFunc(set, func(bits uint64) bool { return bits != 0 })
}

func intersect(a, b []uint64) bool {
	for w, bits := range a {
		if bits&b[w] != 0 {
			return true
		}
	}
	return false
}

// keyOf adds a set to bytes that stand for it.
func keyOf(key []byte, set []uint64) []byte {
	for _, bits := range set {
		key = binary.LittleEndian.AppendUint64(key, bits)
	}
	return key
}
