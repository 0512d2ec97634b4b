package vt

import (
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
)

// attrProtected marks cells protected from selective erase (DECSCA). It exists only in interned
// styles and never leaves the package.
const attrProtected styled.Attr = 1 << 15

// A pen is a style as stored for cells: comparable without reading strings.
type pen struct {
	styled.Rendition
	link uint32 // number in the link table, 0 for none
}

// visibleStyle returns the part of a pen set by SGR.
func (p pen) visibleStyle() styled.Style {
	p.Attrs &^= attrProtected
	return styled.Style{Rendition: p.Rendition}
}

// applySGR implements SGR. It changes everything except the hyperlink and the protection.
func (p *pen) applySGR(params []int32, sub uint32) {
	protected := p.Attrs & attrProtected
	p.SGR(params, sub)
	p.Attrs |= protected
}

func (p *pen) hash() uint32 {
	h := uint32(p.FG)*0x9E3779B1 ^ uint32(p.BG)*0x85EBCA6B ^ uint32(p.UL)*0xC2B2AE35
	h ^= (uint32(p.Attrs)<<8 | uint32(p.Underline)) * 0x27D4EB2F
	h ^= p.link * 0x165667B1
	return h ^ h>>15
}

// Limits of styles and links. If those in use exceed them, the scrollback
// drops lines.
const (
	minStyles    = 4096    // interned styles before the first collection
	maxStyles    = 1 << 17 // in use
	maxLinkBytes = 8 << 20 // of hyperlink targets in use
)

// A styleTable interns pens in a hash table, chained through the styles' numbers.
// Terminal.collectUnused frees the numbers of styles no longer used by any cell.
type styleTable struct {
	pens  []pen          // by StyleID; 0 is the zero pen
	next  []grid.StyleID // by StyleID: the next in the same chain; 0 at its end
	heads []grid.StyleID // first of each chain, by hash; a power of two
	free  []grid.StyleID
	n     int // interned styles
	limit int // a collection is due above this many interned styles
}

// minHeads is the initial number of chains.
const minHeads = 64

func newStyleTable() styleTable {
	return styleTable{
		pens: make([]pen, 1, 16), next: make([]grid.StyleID, 1, 16),
		heads: make([]grid.StyleID, minHeads), limit: minStyles,
	}
}

// intern returns the number of a pen, and adds it if it is new.
func (s *styleTable) intern(p pen) grid.StyleID {
	if p == (pen{}) {
		return 0
	}
	for id := *s.chainHead(&p); id != 0; id = s.next[id] {
		if s.pens[id] == p {
			return id
		}
	}
	return s.addPen(p)
}

func (s *styleTable) chainHead(p *pen) *grid.StyleID { return &s.heads[int(p.hash())&(len(s.heads)-1)] }

// addPen assigns a number to a new pen.
func (s *styleTable) addPen(p pen) grid.StyleID {
	// Chains stay short with at most one style per chain on average.
	if s.n == len(s.heads) {
		s.heads = make([]grid.StyleID, 2*len(s.heads))
		s.rebuildChains()
	}
	var id grid.StyleID
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
		s.pens[id] = p
	} else {
		id = grid.StyleID(len(s.pens))
		s.pens, s.next = append(s.pens, p), append(s.next, 0)
	}
	head := s.chainHead(&p)
	s.next[id], *head = *head, id
	s.n++
	return id
}

// rebuildChains refills all chains. The zero pen is skipped: it always has number 0.
func (s *styleTable) rebuildChains() {
	clear(s.heads)
	for i := range s.pens {
		if p := &s.pens[i]; *p != (pen{}) {
			head := s.chainHead(p)
			s.next[i], *head = *head, grid.StyleID(i)
		}
	}
}

func (s *styleTable) full() bool { return s.n > s.limit }

// sweep frees every style not marked as used.
func (s *styleTable) sweep(used []bool) {
	for i := range s.pens {
		if !used[i] && s.pens[i] != (pen{}) {
			s.pens[i] = pen{}
			s.free = append(s.free, grid.StyleID(i))
			s.n--
		}
	}
	s.rebuildChains()
	s.limit = nextLimit(s.n)
}

// nextLimit returns the number of entries for the next collection, given how many are in use. It
// grows with use, so that collections stay rare.
func nextLimit(used int) int { return max(used+minStyles, min(2*used, maxStyles)) }

// A stringTable interns strings under numbers starting at 1.
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

func (s *stringTable) intern(b []byte) uint32 {
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
