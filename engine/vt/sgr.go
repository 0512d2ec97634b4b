package vt

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
			c, ok := Color(0), false
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
			p.under = UnderlineSingle
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

func underlineOf(n int32) Underline {
	if n > int32(UnderlineDashed) {
		return UnderlineSingle
	}
	return Underline(n)
}

func (p *pen) setColor(n int32, c Color) {
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
func colonColor(p []int32) (Color, bool) {
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
func legacyColor(p []int32) (c Color, used int, ok bool) {
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

func indexed(n int32) (Color, bool) { return ColorIndexed | Color(n), n <= 255 }

func trueColor(p []int32) (Color, bool) {
	r, g, b := p[0], p[1], p[2]
	if r > 255 || g > 255 || b > 255 {
		return 0, false
	}
	return ColorRGB | Color(r<<16|g<<8|b), true
}

// attribute does one SGR parameter that stands alone.
func (p *pen) attribute(n int32) {
	switch {
	case n >= 30 && n <= 37:
		p.fg = ColorIndexed | Color(n-30)
	case n >= 40 && n <= 47:
		p.bg = ColorIndexed | Color(n-40)
	case n >= 90 && n <= 97:
		p.fg = ColorIndexed | Color(n-90+8)
	case n >= 100 && n <= 107:
		p.bg = ColorIndexed | Color(n-100+8)
	case n == 0:
		p.resetLook()
	case n == 21:
		p.under = UnderlineDouble
	case n == 24:
		p.under = UnderlineNone
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
func attrOf(n int32) (on, off Attr) {
	switch n {
	case 1:
		on = Bold
	case 2:
		on = Faint
	case 3:
		on = Italic
	case 5, 6:
		on = Blink
	case 7:
		on = Reverse
	case 8:
		on = Conceal
	case 9:
		on = Strike
	case 53:
		on = Overline
	case 22:
		off = Bold | Faint
	case 23:
		off = Italic
	case 25:
		off = Blink
	case 27:
		off = Reverse
	case 28:
		off = Conceal
	case 29:
		off = Strike
	case 55:
		off = Overline
	}
	return on, off
}

// appendSGR appends the SGR sequence that makes p the pen from whatever was
// set; the link and the protection are not part of it.
func appendSGR(dst []byte, p pen) []byte {
	dst = append(dst, "\x1b["...)
	dst = appendSGRParams(dst, p)
	return append(dst, 'm')
}

// appendSGRParams appends the parameters alone; the first is 0.
func appendSGRParams(dst []byte, p pen) []byte {
	dst = append(dst, '0')
	for i, code := range [...]string{";1", ";2", ";3", ";5", ";7", ";8", ";9", ";53"} {
		if p.attrs&(1<<i) != 0 {
			dst = append(dst, code...)
		}
	}
	switch p.under {
	case UnderlineNone:
	case UnderlineSingle:
		dst = append(dst, ";4"...)
	default:
		dst = append(dst, ";4:"...)
		dst = append(dst, '0'+byte(p.under))
	}
	dst = appendColor(dst, p.fg, 30)
	dst = appendColor(dst, p.bg, 40)
	return appendColor(dst, p.ul, 50)
}

// appendColor appends a colour; base is 30, 40 or 50 (underline).
func appendColor(dst []byte, c Color, base int) []byte {
	n := int(c & 0xFFFFFF)
	switch kind := c &^ 0xFFFFFF; {
	case c == 0:
		return dst
	case kind == ColorIndexed && n < 8 && base < 50:
		return appendInts(append(dst, ';'), base+n)
	case kind == ColorIndexed && n < 16 && base < 50:
		return appendInts(append(dst, ';'), base+60+n-8)
	case kind == ColorIndexed && base < 50:
		return appendInts(append(dst, ';'), base+8, 5, n)
	case kind == ColorIndexed:
		dst = appendInts(append(dst, ";58:5:"...), n)
		return dst
	case base == 50:
		dst = append(dst, ";58:2::"...)
		dst = appendInts(dst, n>>16)
		dst = appendInts(append(dst, ':'), n>>8&255)
		return appendInts(append(dst, ':'), n&255)
	}
	return appendInts(append(dst, ';'), base+8, 2, n>>16, n>>8&255, n&255)
}
