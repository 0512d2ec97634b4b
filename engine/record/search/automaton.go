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

// These are the limits of an automaton. Larger expressions are left to package regexp.
const (
	maxPositions = 4096
	maxJumpWords = 1 << 20 // of all jumps
)

// An automaton decides whether a line matches a regular expression. It is Glushkov's position
// automaton. A position is a place in the expression that consumes a character. A set of positions,
// one bit each, holds everything known about the part of the line already read. So a step costs the
// same few word operations, however many alternatives are open.
//
// Package regexp, after the same search for literals, takes many times as long on a large log
// without a match: (?i)panic: runtime 10, [0-9]{4}ms$ 27, [A-Z]$ 50,
// (?i)(error|warn(ing)?|fatal|panic)\\b.*$ 50, [0-9].{0,90}[zq]$ 890. It is as fast only for a
// pattern with a literal found in few lines.
type automaton struct {
	backward bool // it reads lines backwards
	size     int  // words per set

	anchored bool       // every match begins at the beginning of the line
	words    bool       // the expression contains \\b or \\B
	moves    [2]moves   // 1: at word boundaries; 0: elsewhere
	masks    [][]uint64 // by class: the positions that consume its characters
	word     []bool     // by class: word characters

	from  []rune   // first character of each interval
	class []uint16 // of each interval
	ascii [utf8.RuneSelf]uint16
}

// moves holds the transitions from a set of positions, in one kind of context.
type moves struct {
	words []moveWord
	jumps []jump // transitions not covered by words

	opening []uint64 // first positions of a match at the beginning of the line
	doneEnd []uint64 // positions at which a match ends at the end of the line

	// These say whether the empty string matches: inside a line, at its beginning, at its end, and
	// in an empty line.
	empty, emptyOpening, emptyEnd, emptyLine bool
}

// A moveWord holds the transitions of 64 positions.
type moveWord struct {
	loop  uint64 // positions that lead to themselves
	next  uint64 // positions that lead to the next one
	first uint64 // first positions of a match
	done  uint64 // positions at which a match ends
}

// A jump leads from any position in from to all positions in to.
type jump struct{ from, to []uint64 }

// A preceding is the kind of the character before a place in a line.
type preceding uint8

const (
	atStart preceding = iota
	afterOther
	afterWord
)

// automatonOf builds the automaton of an expression, or returns nil if it is too large. An
// expression that ends with $ is matched backwards from the end of the line. Most lines can then be
// rejected after a few characters.
func automatonOf(re *syntax.Regexp) *automaton {
	a := newAutomaton(re)
	if a == nil || !a.onlyEnds() {
		return a
	}
	if back := newAutomaton(reverseExpr(re)); back != nil {
		back.backward = true
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
		if a.moves[border] = b.buildMoves(border == 1); b.jumpWords > maxJumpWords {
			return nil
		}
	}
	b.buildClasses(a)
	a.anchored = a.onlyBegins()
	return a
}

// A builder builds an automaton from a program of package syntax.
type builder struct {
	prog   *syntax.Prog
	takes  []*syntax.Inst // the instruction of each position
	number []int          // the position of each instruction
	words  bool
	size   int // words of a set

	seen      []int // by instruction: the last call of reach that visited it
	reaches   int
	jumpWords int
}

// reach returns the positions that can be reached from an instruction without consuming a
// character. match reports whether a match ends there. holds are the assertions that are true.
func (b *builder) reach(pc uint32, holds syntax.EmptyOp) (set []uint64, match bool) {
	// Numbering the calls avoids clearing b.seen each time.
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

// buildMoves builds the transitions at word boundaries if border is set, or else those at all other
// positions. ^ and $ match only at the ends, because a line contains no line break.
func (b *builder) buildMoves(border bool) moves {
	const opening, ending = syntax.EmptyBeginText | syntax.EmptyBeginLine, syntax.EmptyEndText | syntax.EmptyEndLine
	holds := syntax.EmptyNoWordBoundary
	if border {
		holds = syntax.EmptyWordBoundary
	}
	m := moves{words: make([]moveWord, b.size), doneEnd: make([]uint64, b.size)}
	if border && !b.words {
		return m // no assertion depends on it
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
		b.addJump(jumps, p, to)
	}
	m.jumps = slices.Collect(maps.Values(jumps))
	return m
}

// addJump records that position p leads to a set. Positions with the same target share a jump.
func (b *builder) addJump(jumps map[string]jump, p int, to []uint64) {
	if isEmpty(to) || b.jumpWords > maxJumpWords {
		return
	}
	key := appendKey(nil, to)
	j, ok := jumps[string(key)]
	if !ok {
		j = jump{make([]uint64, b.size), to}
		jumps[string(key)] = j
		b.jumpWords += 2 * b.size
	}
	setBit(j.from, p)
}

// buildClasses divides all characters into classes that the expression does not distinguish.
func (b *builder) buildClasses(a *automaton) {
	kinds, positions := b.distinctInsts()
	a.from = b.boundaries(kinds)
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
		a.ascii[c] = uint16(a.classAt(rune(c)))
	}
}

// distinctInsts returns the instructions with distinct character sets, with their positions.
func (b *builder) distinctInsts() (kinds []*syntax.Inst, positions [][]uint64) {
	known := make(map[string]int)
	for p, i := range b.takes {
		key := []byte{byte(i.Arg)} // whether case matters
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

// boundaries returns the characters at which the set of some instruction begins or ends.
func (b *builder) boundaries(kinds []*syntax.Inst) []rune {
	all := []rune{0}
	if b.words {
		all = append(all, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	for _, i := range kinds {
		if len(i.Rune) == 1 {
			// A single rune may match its case variants too.
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

// classOf returns the class of a character.
func (a *automaton) classOf(r rune) int {
	if r < utf8.RuneSelf {
		return int(a.ascii[r])
	}
	return a.classAt(r)
}

func (a *automaton) classAt(r rune) int {
	n, found := slices.BinarySearchFunc(a.from, r, cmp.Compare)
	if !found {
		n--
	}
	return int(a.class[n])
}

// step reads a character of a class. src is the set of positions before the character, and dst
// receives the set after it. step reports whether a match ends before the character.
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
	// Because both slices have the same length, the compiler drops bounds checks in the loop.
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

// endsMatch reports whether a match ends at the end of the line.
func (a *automaton) endsMatch(src []uint64, before preceding) bool {
	m := a.movesAt(before, false)
	if before == atStart {
		return m.emptyLine
	}
	return m.emptyEnd || intersect(src, m.doneEnd)
}

// movesAt returns the transitions between two characters. before is the kind of the first, and word
// reports whether the second is a word character.
func (a *automaton) movesAt(before preceding, word bool) *moves {
	if a.words && word != (before == afterWord) {
		return &a.moves[1]
	}
	return &a.moves[0]
}

// precedingOf returns the preceding after a character of a class.
func (a *automaton) precedingOf(class int) preceding {
	if a.word[class] {
		return afterWord
	}
	return afterOther
}

// onlyBegins reports whether every match begins at the beginning of the line.
func (a *automaton) onlyBegins() bool {
	for i := range a.moves {
		m := &a.moves[i]
		if m.empty || m.emptyEnd || slices.ContainsFunc(m.words, func(w moveWord) bool { return w.first != 0 }) {
			return false
		}
	}
	return true
}

// onlyEnds reports whether every match ends at the end of the line.
func (a *automaton) onlyEnds() bool {
	for i := range a.moves {
		m := &a.moves[i]
		if m.empty || m.emptyOpening || slices.ContainsFunc(m.words, func(w moveWord) bool { return w.done != 0 }) {
			return false
		}
	}
	return true
}

// reverseExpr returns the expression that matches the reversed text.
func reverseExpr(re *syntax.Regexp) *syntax.Regexp {
	r := &syntax.Regexp{Op: re.Op, Flags: re.Flags, Min: re.Min, Max: re.Max, Rune: slices.Clone(re.Rune)}
	for _, sub := range re.Sub {
		r.Sub = append(r.Sub, reverseExpr(sub))
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

// isStuck reports whether no continuation of the line can match.
func (a *automaton) isStuck(set []uint64) bool { return a.anchored && isEmpty(set) }

func setBit(set []uint64, n int) { set[n/64] |= 1 << (n % 64) }

// takeBit clears a bit and reports whether it was set.
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

// appendKey appends the bytes of a set to key.
func appendKey(key []byte, set []uint64) []byte {
	for _, bits := range set {
		key = binary.LittleEndian.AppendUint64(key, bits)
	}
	return key
}
