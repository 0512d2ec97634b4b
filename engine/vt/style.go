package vt

import (
	"tandem/engine/styled"
	"tandem/engine/vt/grid"
)

// attrProtected marks cells that selective erase leaves alone (DECSCA). It
// lives in interned styles only and never leaves the package.
const attrProtected styled.Attr = 1 << 15

// A pen is a style as cells refer to it: comparable without reading strings.
type pen struct {
	fg, bg, ul styled.Color
	link       uint32 // number in the link table, 0 for none
	attrs      styled.Attr
	under      styled.Underline
}

// look is the part of a pen that SGR sets.
func (p pen) look() styled.Style {
	return styled.Style{FG: p.fg, BG: p.bg, UL: p.ul, Attrs: p.attrs &^ attrProtected, Underline: p.under}
}

// setLook does SGR: it changes everything but the hyperlink and the protection.
func (p *pen) setLook(params []int32, sub uint32) {
	s := p.look()
	s.SGR(params, sub)
	*p = pen{s.FG, s.BG, s.UL, p.link, s.Attrs | p.attrs&attrProtected, s.Underline}
}

func (p *pen) hash() uint32 {
	h := uint32(p.fg)*0x9E3779B1 ^ uint32(p.bg)*0x85EBCA6B ^ uint32(p.ul)*0xC2B2AE35
	h ^= (uint32(p.attrs)<<8 | uint32(p.under)) * 0x27D4EB2F
	h ^= p.link * 0x165667B1
	return h ^ h>>15
}

// Bounds of what styles and links may cost. The scrollback gives up lines
// before they are passed for good.
const (
	minStyles    = 4096    // interned before unused ones are looked for
	maxStyles    = 1 << 17 // in use
	maxLinkBytes = 8 << 20 // of hyperlink targets in use
)

// A styleTable interns pens: a hash table chained through the styles' numbers.
// Numbers of styles that no cell uses any more are taken back by the
// terminal's collectUnused.
type styleTable struct {
	pens  []pen          // by StyleID; 0 is the zero pen
	next  []grid.StyleID // by StyleID: another one with the same head; 0 ends it
	heads []grid.StyleID // by hash; their number is a power of two
	free  []grid.StyleID
	n     int // interned
	limit int // interned styles that are worth a collection
}

// minHeads is the least number of chains.
const minHeads = 64

func newStyleTable() styleTable {
	return styleTable{
		pens: make([]pen, 1, 16), next: make([]grid.StyleID, 1, 16),
		heads: make([]grid.StyleID, minHeads), limit: minStyles,
	}
}

// id interns a pen.
func (s *styleTable) id(p pen) grid.StyleID {
	if p == (pen{}) {
		return 0
	}
	for id := *s.head(&p); id != 0; id = s.next[id] {
		if s.pens[id] == p {
			return id
		}
	}
	return s.add(p)
}

func (s *styleTable) head(p *pen) *grid.StyleID { return &s.heads[int(p.hash())&(len(s.heads)-1)] }

// add gives a pen that is not interned a number.
func (s *styleTable) add(p pen) grid.StyleID {
	if s.n == len(s.heads) {
		s.heads = make([]grid.StyleID, 2*len(s.heads))
		s.chain()
	}
	var id grid.StyleID
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
		s.pens[id] = p
	} else {
		id = grid.StyleID(len(s.pens))
		s.pens, s.next = append(s.pens, p), append(s.next, 0)
	}
	head := s.head(&p)
	s.next[id], *head = *head, id
	s.n++
	return id
}

// chain makes the chains anew; a zero pen has no number but 0.
func (s *styleTable) chain() {
	clear(s.heads)
	for i := range s.pens {
		if p := &s.pens[i]; *p != (pen{}) {
			head := s.head(p)
			s.next[i], *head = *head, grid.StyleID(i)
		}
	}
}

// full says that a collection is due.
func (s *styleTable) full() bool { return s.n > s.limit }

// sweep frees every style that is not marked as used.
func (s *styleTable) sweep(used []bool) {
	for i := range s.pens {
		if !used[i] && s.pens[i] != (pen{}) {
			s.pens[i] = pen{}
			s.free = append(s.free, grid.StyleID(i))
			s.n--
		}
	}
	s.chain()
	s.limit = nextLimit(s.n)
}

// nextLimit says at how many entries to look again when so many are in use.
func nextLimit(used int) int { return max(used+minStyles, min(2*used, maxStyles)) }

// A stringTable interns strings under numbers from 1 on.
type stringTable struct {
	text  []string // by number; 0 is ""
	ids   map[string]uint32
	free  []uint32
	bytes int // of all strings
	limit int
}

func newStringTable() stringTable {
	return stringTable{text: make([]string, 1), ids: map[string]uint32{}, limit: minStyles}
}

func (s *stringTable) id(b []byte) uint32 {
	if id, ok := s.ids[string(b)]; ok {
		return id
	}
	var id uint32
	text := string(b)
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
		s.text[id] = text
	} else {
		id = uint32(len(s.text))
		s.text = append(s.text, text)
	}
	s.ids[text] = id
	s.bytes += len(text)
	return id
}

func (s *stringTable) full() bool { return len(s.ids) > s.limit }

func (s *stringTable) sweep(used []bool) {
	for text, id := range s.ids {
		if !used[id] {
			delete(s.ids, text)
			s.bytes -= len(text)
			s.text[id] = ""
			s.free = append(s.free, id)
		}
	}
	s.limit = nextLimit(len(s.ids))
}
