package styled

// maxSGR is how many parameters a sequence may have.
const maxSGR = 32

// ParseSGR applies the parameters of an SGR sequence in their textual form, such as "1;38:5:208".
// It ignores text with other characters than digits, semicolons and colons, or with too many
// parameters.
func (r *Rendition) ParseSGR(text string) {
	// The capacity keeps the slice on the stack.
	params, sub := make([]int32, 1, maxSGR), uint32(0)
	for _, c := range []byte(text) {
		last := &params[len(params)-1]
		switch {
		case c >= '0' && c <= '9':
			*last = min(*last*10+int32(c-'0'), 1<<16)
		case (c == ';' || c == ':') && len(params) < maxSGR:
			if c == ':' {
				sub |= 1 << len(params)
			}
			params = append(params, 0)
		default:
			return
		}
	}
	r.SGR(params, sub)
}

// SGR applies the parameters of an SGR sequence (ECMA-48 8.3.117; xterm ctlseqs; colours in colon
// form per ITU T.416; underline styles and colour like kitty and VTE). No parameters reset the
// rendition. A bit of sub is set for each parameter that follows a colon.
func (r *Rendition) SGR(params []int32, sub uint32) {
	if len(params) == 0 {
		*r = Rendition{}
	}
	for i := 0; i < len(params); {
		end := i + 1
		for end < len(params) && sub&(1<<end) != 0 {
			end++
		}
		switch n := params[i]; n {
		case 38, 48, 58:
			c, ok := Color(0), false
			if end > i+1 {
				c, ok = colonColor(params[i+1 : end])
			} else {
				var used int
				c, used, ok = legacyColor(params[i+1:])
				end += used
			}
			if ok {
				r.setColor(n, c)
			}
		case 4:
			r.Underline = UnderlineSingle
			if end > i+1 {
				r.Underline = underlineOf(params[i+1])
			}
		default:
			// Other parameters have no subparameters, so a colon makes them unknown.
			if end == i+1 {
				r.applyParameter(n)
			}
		}
		i = end
	}
}

func underlineOf(n int32) Underline {
	if n > int32(UnderlineDashed) {
		return UnderlineSingle
	}
	return Underline(n)
}

func (r *Rendition) setColor(n int32, c Color) {
	switch n {
	case 38:
		r.FG = c
	case 48:
		r.BG = c
	default:
		r.UL = c
	}
}

// colonColor parses the parameters after 38:, 48: or 58:. A true colour may have a colour space
// before its components and tolerances after them.
func colonColor(p []int32) (Color, bool) {
	switch {
	case p[0] == 5 && len(p) >= 2:
		return paletteColor(p[1])
	case p[0] == 2 && len(p) >= 5:
		return trueColor(p[2:5])
	case p[0] == 2 && len(p) == 4:
		return trueColor(p[1:4])
	}
	return 0, false
}

// legacyColor parses the parameters after 38;, 48; or 58; and returns how many it used.
func legacyColor(p []int32) (c Color, used int, ok bool) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		c, ok = paletteColor(p[1])
		return c, 2, ok
	case len(p) >= 4 && p[0] == 2:
		c, ok = trueColor(p[1:4])
		return c, 4, ok
	}
	return 0, len(p), false
}

func paletteColor(n int32) (Color, bool) { return ColorIndexed | Color(n), n <= 255 }

func trueColor(p []int32) (Color, bool) {
	// Out-of-range components make the colour void.
	r, g, b := p[0], p[1], p[2]
	if r > 255 || g > 255 || b > 255 {
		return 0, false
	}
	return ColorRGB | Color(r<<16|g<<8|b), true
}

// applyParameter applies an SGR parameter without subparameters.
func (r *Rendition) applyParameter(n int32) {
	switch {
	case n >= 30 && n <= 37:
		r.FG = ColorIndexed | Color(n-30)
	case n >= 40 && n <= 47:
		r.BG = ColorIndexed | Color(n-40)
	case n >= 90 && n <= 97:
		r.FG = ColorIndexed | Color(n-90+8)
	case n >= 100 && n <= 107:
		r.BG = ColorIndexed | Color(n-100+8)
	case n == 0:
		*r = Rendition{}
	case n == 21:
		r.Underline = UnderlineDouble
	case n == 24:
		r.Underline = UnderlineNone
	case n == 39:
		r.FG = 0
	case n == 49:
		r.BG = 0
	case n == 59:
		r.UL = 0
	default:
		on, off := SGRAttrs(n)
		r.Attrs = r.Attrs&^off | on
	}
}

// SGRAttrs returns the attributes set and cleared by an SGR parameter.
func SGRAttrs(n int32) (on, off Attr) {
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
