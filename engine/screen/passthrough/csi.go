package passthrough

import (
	"strconv"
	"strings"
)

// clearedScreen replaces a switch between screens: each screen starts empty, with its own keyboard
// flags.
const clearedScreen = "\x1b[<99u\x1b[=0u\x1b[2J"

// restoreCursor replaces mode 1049's reset on the main screen: there it only restores the cursor
// (xterm's ctlseqs).
const restoreCursor = "\x1b8"

// ordinary lists the final bytes of control sequences that are harmless if they have only
// parameters.
const ordinary = "@ABCDEFGHIJKLMPSXZ^`abdefgmrsu"

// finalsToPass returns the final bytes of the control sequences that change only the display, or
// the reporting of keys and mouse, for a prefix and an intermediate. Others query the terminal,
// affect the window (XTWINOPS, printing), or are unknown to the emulator.
func finalsToPass(prefix, inter byte) string {
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

// A controlSequence is a parsed control sequence.
type controlSequence struct {
	prefix, inter, final byte // the first two are 0 if absent
	params               string
}

// findFinal returns the index of the final byte of the control sequence or device control head at
// the start of p, or of the byte that aborts it; len(p) if incomplete. plain reports that there are
// no control characters in it, as terminals execute these at once.
func findFinal(p []byte) (end int, plain bool) {
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

// splitControls separates the control characters of p that pass from the other bytes.
func splitControls(p []byte) (executed, rest []byte) {
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

// parseControl parses the bytes between CSI and the final byte; ok is false if they violate
// ECMA-48.
func parseControl(p []byte, final byte) (s controlSequence, ok bool) {
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

// isPlain reports whether parameters have no prefix and no intermediate.
func isPlain(p []byte) bool {
	for _, c := range p {
		if c < '0' || c > ';' {
			return false
		}
	}
	return true
}

// filterControl filters a sequence that starts with CSI.
func (f *Filter) filterControl(p []byte) (n int, v verdict) {
	end, plain := findFinal(p)
	switch {
	case end >= maxSequence:
		f.inside = insideOverlong
		return 2, verdict{}
	case end == len(p):
		return 0, verdict{}
	}
	final := p[end]
	// Fast path: most sequences are ordinary.
	if plain && p[0] == esc && isPlain(p[2:end]) && !exceedsMax(p[2:end]) && strings.IndexByte(ordinary, final) >= 0 {
		return end + 1, verdict{keep: true}
	}
	var executed []byte
	inner := p[2:end]
	if !plain {
		executed, inner = splitControls(inner)
	}
	if final < 0x40 || final >= 0x7f {
		n = end
		if final == can || final == sub {
			n++
		}
		return n, verdict{text: string(executed)}
	}
	if s, ok := parseControl(inner, final); ok {
		v = f.judgeControl(s)
	}
	if v.keep && (!plain || p[0] != esc || exceedsMax(inner)) {
		v = verdict{text: "\x1b[" + clampParameters(inner) + string(final)}
	}
	if !v.keep {
		v.text = string(executed) + v.text
	}
	return end + 1, v
}

// judgeControl returns the verdict on a control sequence.
func (f *Filter) judgeControl(s controlSequence) verdict {
	first, rest, several := strings.Cut(s.params, ";")
	switch kind := [3]byte{s.prefix, s.inter, s.final}; kind {
	case [3]byte{'?', 0, 'h'}, [3]byte{'?', 0, 'l'}:
		return f.filterModes(s)
	case [3]byte{'?', 0, 's'}, [3]byte{'?', 0, 'r'}: // XTSAVE, XTRESTORE
		return keepModes(s, func(mode int) bool { return f.passesMode(mode) && !isKept(mode) })
	case [3]byte{0, 0, 'h'}, [3]byte{0, 0, 'l'}:
		return keepModes(s, func(mode int) bool { return mode == 4 || mode == 20 })
	case [3]byte{0, 0, 'T'}: // with more parameters, it starts mouse tracking
		return verdict{keep: !several}
	case [3]byte{0, 0, 't'}: // titles are kept; the rest affects the window
		return verdict{keep: first == "22" || first == "23"}
	case [3]byte{'>', 0, 'm'}, [3]byte{'>', 0, 'n'}: // modifyOtherKeys only
		if f.played {
			return verdict{}
		}
		f.Extended = f.Extended || s.final == 'm' && parseNumber(rest) > 0
		return verdict{keep: first == "4" || s.params == ""}
	case [3]byte{0, '"', 'p'}: // DECSCL resets; the form of replies does not concern the user's terminal
		return verdict{text: "\x1b[!p"}
	}
	// The kitty keyboard protocol.
	if s.final == 'u' && s.prefix != 0 && s.prefix != '?' {
		if f.played {
			return verdict{}
		}
		f.Extended = f.Extended || s.prefix != '<' && parseNumber(first) > 0
	}
	return verdict{keep: strings.IndexByte(finalsToPass(s.prefix, s.inter), s.final) >= 0}
}

// filterModes drops from a sequence the private modes that must not pass.
func (f *Filter) filterModes(s controlSequence) verdict {
	set := s.final == 'h'
	f.clustered = f.clustered || set && strings.Contains(s.params, "2027")
	for mode := range strings.SplitSeq(s.params, ";") {
		switch n := parseNumber(mode); n {
		case 1005, 1006, 1015, 1016:
			f.Pixels = set && n == 1016
		}
	}
	passed := s
	if f.NoPixels {
		passed = useCellMouse(s)
	}
	v := keepModes(passed, func(mode int) bool { return f.passesMode(mode) || f.played && switchesScreen(mode) })
	if v.keep && passed != s {
		v = verdict{text: "\x1b[?" + passed.params + string(s.final)}
	}
	if !hasMode(s.params, switchesScreen) {
		return v
	}
	v.left = (f.redrawn || f.Alt && !set && !f.played) && !f.repaint
	if !f.Alt && !set && !f.played && !f.repaint && !v.left && hasMode(s.params, func(mode int) bool { return mode == 1049 }) {
		v.text += restoreCursor
	}
	f.Alt = set
	if !f.played && (set || f.repaint) {
		v.text += clearedScreen
	}
	return v
}

// useCellMouse replaces the pixel mouse mode (1016) by the cell mode (1006).
func useCellMouse(s controlSequence) controlSequence {
	modes := strings.Split(s.params, ";")
	for i := range modes {
		if parseNumber(modes[i]) == 1016 {
			modes[i] = "1006"
		}
	}
	s.params = strings.Join(modes, ";")
	return s
}

// keepModes keeps the parameters of a sequence that pass.
func keepModes(s controlSequence, passes func(mode int) bool) verdict {
	passed, all := "", true
	for mode := range strings.SplitSeq(s.params, ";") {
		switch {
		case !passes(parseNumber(mode)):
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

// parseNumber returns -1 if text is not a number.
func parseNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// hasMode reports whether matches returns true for any of the modes.
func hasMode(params string, matches func(mode int) bool) bool {
	for mode := range strings.SplitSeq(params, ";") {
		if matches(parseNumber(mode)) {
			return true
		}
	}
	return false
}

func switchesScreen(mode int) bool { return mode == 47 || mode == 1047 || mode == 1049 }

// passesMode reports whether a private mode passes: the emulator knows it or it concerns pictures,
// and RestModes or KeptModes resets it. Reports of focus (1004), colour scheme (2031) and size
// (2048) are the engine's. Modes that change the whole keyboard or the window's width (3, allowed
// by 40) never pass.
func (f *Filter) passesMode(mode int) bool {
	switch mode {
	case 5, 6, 7, 25, 41, 45, 69, 1045, 1048, 2026, 2027:
		return true
	case 1, 9, 66, 67, 1000, 1002, 1003, 1005, 1006, 1015, 1016, 2004:
		// Input during playback is meant for the player.
		return !f.played
	}
	// Playback resets none of them.
	return isKept(mode) && !f.played
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
