package vt

import (
	"slices"

	"tandem/engine/styled"
)

// maxSavedStyles is how many styles XTPUSHSGR keeps, as in xterm.
const maxSavedStyles = 10

// A savedStyle is what XTPUSHSGR kept and what of it XTPOPSGR brings back.
type savedStyle struct {
	pen   pen
	parts []int32 // numbers of SGR, 30 and 31 for the colours; none for all
}

// pushStyle does XTPUSHSGR.
func (t *host) pushStyle() {
	if len(t.savedStyles) < maxSavedStyles {
		s := savedStyle{pen: t.cur.pen}
		if t.ps.set != 0 {
			s.parts = slices.Clone(t.ps.params[:t.ps.n])
		}
		t.savedStyles = append(t.savedStyles, s)
	}
}

// popStyle does XTPOPSGR. The hyperlink and the protection are no part of it.
func (t *host) popStyle() {
	n := len(t.savedStyles) - 1
	if n < 0 {
		return
	}
	s := t.savedStyles[n]
	t.savedStyles = t.savedStyles[:n]
	p := t.cur.pen
	if s.parts == nil {
		p = s.pen
	}
	for _, part := range s.parts {
		p.take(part, s.pen)
	}
	p.link = t.cur.pen.link
	p.attrs = p.attrs&^attrProtected | t.cur.pen.attrs&attrProtected
	t.cur.pen, t.penChanged = p, true
}

// take takes over what a parameter of XTPUSHSGR names.
func (p *pen) take(part int32, from pen) {
	switch part {
	case 4, 21:
		p.under, p.ul = from.under, from.ul
	case 10, 30:
		p.fg = from.fg
	case 11, 31:
		p.bg = from.bg
	default:
		on, _ := styled.SGRAttrs(part)
		p.attrs = p.attrs&^on | from.attrs&on
	}
}
