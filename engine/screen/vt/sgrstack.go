package vt

import (
	"slices"

	"tandem/engine/screen/styled"
)

// maxSavedStyles is the depth of the XTPUSHSGR stack, as in xterm.
const maxSavedStyles = 10

// A savedStyle is a pen saved by XTPUSHSGR, and the parts of it for XTPOPSGR to restore.
type savedStyle struct {
	pen   pen
	parts []int32 // SGR numbers, with 30 and 31 for the colours; nil for all
}

// pushStyle implements XTPUSHSGR.
func (t *host) pushStyle() {
	if len(t.savedStyles) < maxSavedStyles {
		s := savedStyle{pen: t.page.cur.pen}
		if t.ps.set != 0 {
			s.parts = slices.Clone(t.ps.params[:t.ps.n])
		}
		t.savedStyles = append(t.savedStyles, s)
	}
}

// popStyle implements XTPOPSGR. It keeps the current hyperlink and protection.
func (t *host) popStyle() {
	n := len(t.savedStyles) - 1
	if n < 0 {
		return
	}
	s := t.savedStyles[n]
	t.savedStyles = t.savedStyles[:n]
	p := t.page.cur.pen
	if s.parts == nil {
		p = s.pen
	}
	for _, part := range s.parts {
		p.restorePart(part, s.pen)
	}
	p.link = t.page.cur.pen.link
	p.Attrs = p.Attrs&^attrProtected | t.page.cur.pen.Attrs&attrProtected
	t.page.cur.pen, t.page.penChanged = p, true
}

// restorePart copies the attribute named by a parameter of XTPUSHSGR from the saved pen.
func (p *pen) restorePart(part int32, saved pen) {
	switch part {
	case 4, 21:
		p.Underline, p.UL = saved.Underline, saved.UL
	case 10, 30:
		p.FG = saved.FG
	case 11, 31:
		p.BG = saved.BG
	default:
		on, _ := styled.SGRAttrs(part)
		p.Attrs = p.Attrs&^on | saved.Attrs&on
	}
}
