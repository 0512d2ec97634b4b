package vt

import "tandem/engine/styled"

// graphicRendition does SGR (ECMA-48 8.3.117; xterm ctlseqs; colour in colon
// form per ITU T.416; underline styles and colour as kitty and VTE have them).
func (t *host) graphicRendition() {
	ps := &t.ps
	p := &t.cur.pen
	t.penChanged = true
	if ps.n == 0 {
		p.resetLook()
		return
	}
	for i := 0; i < ps.n; {
		end := i + 1
		for end < ps.n && ps.sub&(1<<end) != 0 {
			end++
		}
		switch n := ps.params[i]; n {
		case 38, 48, 58:
			c, ok := styled.Color(0), false
			if end > i+1 {
				c, ok = colonColor(ps.params[i+1 : end])
			} else {
				var used int
				c, used, ok = legacyColor(ps.params[i+1 : ps.n])
				end += used
			}
			if ok {
				p.setColor(n, c)
			}
		case 4:
			p.under = styled.UnderlineSingle
			if end > i+1 {
				p.under = underlineOf(ps.params[i+1])
			}
		default:
			if end == i+1 {
				p.attribute(n)
			}
		}
		i = end
	}
}

// resetLook does SGR 0: everything but the hyperlink and the protection.
func (p *pen) resetLook() { *p = pen{link: p.link, attrs: p.attrs & attrProtected} }

func underlineOf(n int32) styled.Underline {
	if n > int32(styled.UnderlineDashed) {
		return styled.UnderlineSingle
	}
	return styled.Underline(n)
}

func (p *pen) setColor(n int32, c styled.Color) {
	switch n {
	case 38:
		p.fg = c
	case 48:
		p.bg = c
	default:
		p.ul = c
	}
}

// colonColor reads what follows 38:, 48: or 58:. With true colour there may be
// a colour space before the components, and tolerances behind them.
func colonColor(p []int32) (styled.Color, bool) {
	switch {
	case p[0] == 5 && len(p) >= 2:
		return indexed(p[1])
	case p[0] == 2 && len(p) >= 5:
		return trueColor(p[2:5])
	case p[0] == 2 && len(p) == 4:
		return trueColor(p[1:4])
	}
	return 0, false
}

// legacyColor reads what follows 38;, 48; or 58; and says how many parameters
// it used.
func legacyColor(p []int32) (c styled.Color, used int, ok bool) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		c, ok = indexed(p[1])
		return c, 2, ok
	case len(p) >= 4 && p[0] == 2:
		c, ok = trueColor(p[1:4])
		return c, 4, ok
	}
	return 0, len(p), false
}

func indexed(n int32) (styled.Color, bool) { return styled.ColorIndexed | styled.Color(n), n <= 255 }

func trueColor(p []int32) (styled.Color, bool) {
	r, g, b := p[0], p[1], p[2]
	if r > 255 || g > 255 || b > 255 {
		return 0, false
	}
	return styled.ColorRGB | styled.Color(r<<16|g<<8|b), true
}

// attribute does one SGR parameter that stands alone.
func (p *pen) attribute(n int32) {
	switch {
	case n >= 30 && n <= 37:
		p.fg = styled.ColorIndexed | styled.Color(n-30)
	case n >= 40 && n <= 47:
		p.bg = styled.ColorIndexed | styled.Color(n-40)
	case n >= 90 && n <= 97:
		p.fg = styled.ColorIndexed | styled.Color(n-90+8)
	case n >= 100 && n <= 107:
		p.bg = styled.ColorIndexed | styled.Color(n-100+8)
	case n == 0:
		p.resetLook()
	case n == 21:
		p.under = styled.UnderlineDouble
	case n == 24:
		p.under = styled.UnderlineNone
	case n == 39:
		p.fg = 0
	case n == 49:
		p.bg = 0
	case n == 59:
		p.ul = 0
	default:
		on, off := attrOf(n)
		p.attrs = p.attrs&^off | on
	}
}

// attrOf gives the attributes that an SGR parameter sets and clears.
func attrOf(n int32) (on, off styled.Attr) {
	switch n {
	case 1:
		on = styled.Bold
	case 2:
		on = styled.Faint
	case 3:
		on = styled.Italic
	case 5, 6:
		on = styled.Blink
	case 7:
		on = styled.Reverse
	case 8:
		on = styled.Conceal
	case 9:
		on = styled.Strike
	case 53:
		on = styled.Overline
	case 22:
		off = styled.Bold | styled.Faint
	case 23:
		off = styled.Italic
	case 25:
		off = styled.Blink
	case 27:
		off = styled.Reverse
	case 28:
		off = styled.Conceal
	case 29:
		off = styled.Strike
	case 55:
		off = styled.Overline
	}
	return on, off
}
