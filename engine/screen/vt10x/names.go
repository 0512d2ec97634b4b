package vt10x

import "tandem/engine/screen/vt/grid"

// vt10x stores one code point per cell. Any other glyph is represented by a code point of the
// private-use planes 15 and 16. If a program prints a code point of these planes, another one of
// them represents it.
const (
	tailRune  = 0xF0000
	firstName = tailRune + 1
	maxNames  = 0x10FFFF - firstName
)

// names assigns private code points to glyphs. Unused ones are recycled.
type names struct {
	runes  map[grid.Glyph]rune
	glyphs []grid.Glyph // by rune - firstName; 0 when free
	free   []rune
	limit  int
}

func newNames() names { return names{runes: map[grid.Glyph]rune{}, limit: 4096} }

// glyph returns the glyph represented by a code point read from vt10x.
func (n *names) glyph(r rune) grid.Glyph {
	switch {
	case r == ' ':
		return 0
	case r < tailRune:
		return grid.Glyph(r)
	case r == tailRune:
		return grid.Tail
	}
	return n.glyphs[r-firstName]
}

// rune returns the code point representing a glyph.
func (g *screen) rune(gl grid.Glyph) rune {
	switch {
	case gl == 0:
		return ' '
	case gl == grid.Tail:
		return tailRune
	case gl < tailRune:
		return rune(gl)
	}
	n := &g.names
	if r, ok := n.runes[gl]; ok {
		return r
	}
	if len(n.runes) >= n.limit {
		g.sweepNames()
	}
	r := n.next()
	if r == 0 {
		return '\uFFFD'
	}
	n.runes[gl], n.glyphs[r-firstName] = r, gl
	return r
}

// next returns a free code point; 0 if there is none.
func (n *names) next() rune {
	if k := len(n.free); k > 0 {
		r := n.free[k-1]
		n.free = n.free[:k-1]
		return r
	}
	if len(n.glyphs) >= maxNames {
		return 0
	}
	n.glyphs = append(n.glyphs, 0)
	return firstName + rune(len(n.glyphs)-1)
}

// sweepNames frees the code points no longer on screen.
func (g *screen) sweepNames() {
	g.flush()
	used := make([]bool, len(g.names.glyphs))
	for y := range g.rows {
		for x := range g.cols {
			if r := g.term.Cell(x, y).Char; r >= firstName {
				used[r-firstName] = true
			}
		}
	}
	n := &g.names
	for gl, r := range n.runes {
		if !used[r-firstName] {
			delete(n.runes, gl)
			n.glyphs[r-firstName] = 0
			n.free = append(n.free, r)
		}
	}
	n.limit = max(4096, 2*len(n.runes))
}
