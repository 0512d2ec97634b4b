package passthrough

import (
	"strconv"
	"strings"
)

// clearedScreen takes the place of a switch: each screen begins empty, and with
// keyboard flags of its own.
const clearedScreen = "\x1b[<99u\x1b[=0u\x1b[2J"

// ordinary are the final bytes of what does neither ask nor need a look, if
// there are only parameters.
const ordinary = "@ABCDEFGHIJKLMPSXZ^`abdefgmrsu"

// passedFinals are, by what stands before the parameters and by the intermediate,
// the final bytes of the control sequences that only change what the terminal
// shows, or how it tells keys and the mouse. Others ask the terminal something, are
// the window's business (XTWINOPS, printing), or are not known to the emulator.
func passedFinals(prefix, inter byte) string {
	switch [2]byte{prefix, inter} {
	case [2]byte{0, 0}:
		return ordinary
	case [2]byte{'?', 0}:
		return "JKW"
	case [2]byte{'<', 0}, [2]byte{'=', 0}, [2]byte{'>', 0}:
		return "u"
	case [2]byte{0, ' '}:
		return "q@A"
	case [2]byte{0, '!'}:
		return "p"
	case [2]byte{0, '"'}:
		return "q"
	case [2]byte{0, '$'}:
		return "xz{vrt"
	case [2]byte{0, '\''}:
		return "}~"
	case [2]byte{0, '#'}:
		return "{}pq"
	case [2]byte{0, '*'}:
		return "x"
	}
	return ""
}

// A controlSequence is one taken apart.
type controlSequence struct {
	prefix, inter, final byte // the first two 0 where there is none
	params               string
}

// scan finds the end of the control sequence, or of the head of a device control
// string, that begins p: its final byte or what breaks it off, len(p) if
// neither has come. Plain says that it holds no controls, which terminals
// execute as they come.
func scan(p []byte) (end int, plain bool) {
	plain = true
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x20 && c < 0x40:
		case c >= 0x40 && c != del, c == esc, c == can, c == sub:
			return i, plain
		default:
			plain = false
		}
	}
	return len(p), plain
}

// controls are the control characters of p that pass, and the others.
func controls(p []byte) (executed, rest []byte) {
	for _, c := range p {
		switch {
		case c >= 0x20 && c != del:
			rest = append(rest, c)
		case c >= bel && c <= si:
			executed = append(executed, c)
		}
	}
	return executed, rest
}

// parse takes apart what stands between CSI and the final byte; ok is false if
// that is nothing that ECMA-48 allows.
func parse(p []byte, final byte) (s controlSequence, ok bool) {
	s.final = final
	if len(p) > 0 && p[0] >= '<' {
		s.prefix, p = p[0], p[1:]
	}
	if n := len(p); n > 0 && p[n-1] < '0' {
		s.inter, p = p[n-1], p[:n-1]
	}
	s.params = string(p)
	return s, isPlain(p)
}

// isPlain says that parameters have no prefix and no intermediate.
func isPlain(p []byte) bool {
	for _, c := range p {
		if c < '0' || c > ';' {
			return false
		}
	}
	return true
}

// controlSequence looks at CSI and what follows.
func (f *Filter) controlSequence(p []byte) (n int, v verdict) {
	end, plain := scan(p)
	switch {
	case end >= sequenceLimit:
		f.inside = insideOverlong
		return 2, verdict{}
	case end == len(p):
		return 0, verdict{}
	}
	final := p[end]
	if plain && p[0] == esc && isPlain(p[2:end]) && !exceedsMax(p[2:end]) && strings.IndexByte(ordinary, final) >= 0 {
		return end + 1, verdict{keep: true} // as most are
	}
	var executed []byte
	inner := p[2:end]
	if !plain {
		executed, inner = controls(inner)
	}
	if final < 0x40 || final >= 0x7f {
		n = end
		if final == can || final == sub {
			n++
		}
		return n, verdict{text: string(executed)}
	}
	if s, ok := parse(inner, final); ok {
		v = f.judge(s)
	}
	if v.keep && (!plain || p[0] != esc || exceedsMax(inner)) {
		v = verdict{text: "\x1b[" + clampParameters(inner) + string(final)}
	}
	if !v.keep {
		v.text = string(executed) + v.text
	}
	return end + 1, v
}

// judge says what becomes of a control sequence.
func (f *Filter) judge(s controlSequence) verdict {
	first, rest, several := strings.Cut(s.params, ";")
	switch kind := [3]byte{s.prefix, s.inter, s.final}; kind {
	case [3]byte{'?', 0, 'h'}, [3]byte{'?', 0, 'l'}:
		return f.modes(s)
	case [3]byte{'?', 0, 's'}, [3]byte{'?', 0, 'r'}: // XTSAVE, XTRESTORE
		return listed(s, func(mode int) bool { return f.passesMode(mode) && !isKept(mode) })
	case [3]byte{0, 0, 'h'}, [3]byte{0, 0, 'l'}:
		return listed(s, func(mode int) bool { return mode == 4 || mode == 20 })
	case [3]byte{0, 0, 'T'}: // with more, it makes the terminal track the mouse
		return verdict{keep: !several}
	case [3]byte{0, 0, 't'}: // titles are kept; the rest is about the window
		return verdict{keep: first == "22" || first == "23"}
	case [3]byte{'>', 0, 'm'}, [3]byte{'>', 0, 'n'}: // modifyOtherKeys alone
		if f.played {
			return verdict{}
		}
		f.Extended = f.Extended || s.final == 'm' && number(rest) > 0
		return verdict{keep: first == "4" || s.params == ""}
	case [3]byte{0, '"', 'p'}: // DECSCL resets; what answers look like is not the terminal's business
		return verdict{text: "\x1b[!p"}
	}
	if s.final == 'u' && s.prefix != 0 && s.prefix != '?' { // kitty's keys
		if f.played {
			return verdict{}
		}
		f.Extended = f.Extended || s.prefix != '<' && number(first) > 0
	}
	return verdict{keep: strings.IndexByte(passedFinals(s.prefix, s.inter), s.final) >= 0}
}

// modes takes the modes that are not the terminal's to set out of a list of
// private ones.
func (f *Filter) modes(s controlSequence) verdict {
	set := s.final == 'h'
	f.clustered = f.clustered || set && strings.Contains(s.params, "2027")
	for mode := range strings.SplitSeq(s.params, ";") {
		f.point(number(mode), set)
	}
	passed := s
	if f.NoPixels {
		passed = inCells(s)
	}
	v := listed(passed, func(mode int) bool { return f.passesMode(mode) || f.played && switchesScreen(mode) })
	if v.keep && passed != s {
		v = verdict{text: "\x1b[?" + passed.params + string(s.final)}
	}
	if !anySwitch(s.params) {
		return v
	}
	v.left = (f.redrawn || f.Alt && !set && !f.played) && !f.repaint
	f.Alt = set
	if !f.played && (set || f.repaint) {
		v.text += clearedScreen
	}
	return v
}

// inCells is a sequence of modes with the mouse told in cells (1006) and not in pixels (1016).
func inCells(s controlSequence) controlSequence {
	modes := strings.Split(s.params, ";")
	for i := range modes {
		if number(modes[i]) == 1016 {
			modes[i] = "1006"
		}
	}
	s.params = strings.Join(modes, ";")
	return s
}

// listed keeps of a sequence's parameters those that pass.
func listed(s controlSequence, passes func(mode int) bool) verdict {
	passed, all := "", true
	for mode := range strings.SplitSeq(s.params, ";") {
		switch {
		case !passes(number(mode)):
			all = false
		case passed == "":
			passed = mode
		default:
			passed += ";" + mode
		}
	}
	if all || passed == "" {
		return verdict{keep: all}
	}
	prefix := ""
	if s.prefix != 0 {
		prefix = string(s.prefix)
	}
	return verdict{text: "\x1b[" + prefix + passed + string(s.final)}
}

// number is -1 for what is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// anySwitch says whether one of a list of modes switches between the screens.
func anySwitch(params string) bool {
	for mode := range strings.SplitSeq(params, ";") {
		if switchesScreen(number(mode)) {
			return true
		}
	}
	return false
}

func switchesScreen(mode int) bool { return mode == 47 || mode == 1047 || mode == 1049 }

// passesMode says whether a private mode passes: it is known to the emulator, or
// about pictures, and RestModes or KeptModes brings it back. Reports of the focus (1004), of
// changes of the colour scheme (2031) and of the size (2048) are the engine's, a change of
// the terminal's keyboard as a whole is nobody's, and neither is one of the
// window's width (3, which 40 allows).
func (f *Filter) passesMode(mode int) bool {
	if f.Points && isPointing(mode) {
		return false
	}
	switch mode {
	case 5, 6, 7, 25, 41, 45, 69, 1045, 1048, 2026, 2027:
		return true
	case 1, 9, 66, 67, 1000, 1002, 1003, 1005, 1006, 1015, 1016, 2004:
		return !f.played // what is typed while something is played is meant for the player
	}
	return isKept(mode) && !f.played // which brings none of them back
}

// maxParameter exceeds the columns and rows of any screen. Some terminals hang on a huge repeat
// count (REP).
const maxParameter = 9999

// exceedsMax reports whether any of params exceeds maxParameter.
func exceedsMax(params []byte) bool {
	if len(params) < 5 {
		return false
	}
	n := 0
	for _, c := range params {
		switch {
		case c < '0' || c > '9':
			n = 0
		case n > maxParameter/10:
			return true
		default:
			n = 10*n + int(c-'0')
		}
	}
	return false
}

// clampParameters returns params with each number limited to maxParameter.
func clampParameters(params []byte) string {
	var b strings.Builder
	for from := 0; from < len(params); {
		to := from + 1
		if isDigit(params[from]) {
			for to < len(params) && isDigit(params[to]) {
				to++
			}
		}
		if exceedsMax(params[from:to]) {
			b.WriteString(strconv.Itoa(maxParameter))
		} else {
			b.Write(params[from:to])
		}
		from = to
	}
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
