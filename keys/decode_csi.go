package keys

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A sequence is a parsed control sequence. A missing parameter is 0. The kitty protocol divides
// parameters by colons, so each has parts; the first three parameters with up to eight parts are
// kept.
type sequence struct {
	private      byte // '<', '?', '=' or '>' before the parameters, or 0
	intermediate byte // an intermediate byte, or 0
	final        byte
	count        int // number of parameters
	part         int // index of the current part
	params       [3][8]int
	length       int
}

func (s *sequence) param(i int) int { return s.params[i][0] }

// decodeCSI decodes a sequence that starts with ESC [.
func (d *Decoder) decodeCSI(p []byte) (Event, int) {
	if len(p) == 2 {
		return Event{}, 0
	}
	switch p[2] {
	case 'M':
		return d.decodeX10Mouse(p)
	case '[':
		return decodeLinuxConsole(p)
	}
	s, ok := parseSequence(p)
	// The byte after ESC [ cannot continue a sequence: alt+[ was typed.
	if s.length == 2 {
		return keyEvent(altKey('[')), 2
	}
	if s.length == 0 || !ok {
		return Event{}, s.length
	}
	if s.private == '<' && (s.final == 'M' || s.final == 'm') && s.intermediate == 0 {
		return sgrMouse(&s), s.length
	}
	if s.private != 0 || s.intermediate != 0 {
		return Event{}, s.length
	}
	return d.decodeSequence(&s), s.length
}

// parseSequence parses parameters, intermediates and the final byte. length is 0 if the sequence is
// incomplete; ok is false if it is cut off or invalid.
func parseSequence(p []byte) (s sequence, ok bool) {
	for i := 2; i < len(p); i++ {
		c := p[i]
		switch {
		case i > maxSequence || c < 0x20 || c > 0x7e:
			return sequence{length: i}, false
		case c >= 0x40:
			s.final, s.length = c, i+1
			return s, true
		case c < 0x30:
			s.intermediate = c
		case i == 2 && c >= '<':
			s.private = c
		default:
			s.addParameterByte(c)
		}
	}
	return sequence{}, false
}

func (s *sequence) addParameterByte(c byte) {
	if s.count == 0 {
		s.count = 1
	}
	switch {
	case c == ';':
		s.count++
		s.part = 0
	case c == ':':
		s.part++
	case c <= '9' && s.count <= len(s.params) && s.part < len(s.params[0]):
		n := &s.params[s.count-1][s.part]
		*n = min(*n*10+int(c-'0'), utf8.MaxRune+1)
	}
}

// decodeSequence returns the event reported by a control sequence without a private marker.
func (d *Decoder) decodeSequence(s *sequence) Event {
	switch s.final {
	case 'I', 'O':
		if s.count == 0 {
			return focusEvent(s.final)
		}
	case 'u':
		if k, ok := kittyKey(s); ok {
			return keyEvent(k)
		}
	case '~':
		return d.decodeTilde(s)
	case 'M':
		if s.count == 3 {
			return urxvtMouse(s)
		}
	case 'Z':
		return keyEvent(Key{Code: Tab, Mods: Shift | s.modifiers()})
	default:
		if k, ok := letterKey(s); ok {
			return keyEvent(k)
		}
	}
	return Event{}
}

func focusEvent(final byte) Event {
	if final == 'I' {
		return Event{Kind: EventFocusIn}
	}
	return Event{Kind: EventFocusOut}
}

func (s *sequence) modifiers() Mod {
	if m := s.param(1); m > 0 && m <= 256 {
		return Mod(m - 1)
	}
	return 0
}

func (s *sequence) eventPhase() Phase {
	switch s.params[1][1] {
	case 2:
		return Repeat
	case 3:
		return Release
	}
	return Press
}

// letterKey decodes CSI 1 ; modifiers letter. CSI row ; column R is a cursor report unless it can
// be a modified F3.
func letterKey(s *sequence) (Key, bool) {
	if s.count > 2 || s.param(0) > 1 || s.count == 2 && s.param(1) == 0 {
		return Key{}, false
	}
	k := Key{Mods: s.modifiers(), Phase: s.eventPhase()}
	switch s.final {
	case 'E':
		k.Code = KP5
		return k, true
	case 'R':
		k.Code = F3
		return k, s.count == 2 && s.param(0) == 1 && s.param(1) <= 16
	case 'a', 'b', 'c', 'd': // rxvt
		k.Code, k.Mods = Up+Code(s.final-'a'), Shift
		return k, s.count == 0
	}
	var known bool
	k.Code, known = functionCode(function{1, s.final})
	return k, known
}

// decodeTilde decodes CSI number ; modifiers ~, the start of a paste, and modifyOtherKeys.
func (d *Decoder) decodeTilde(s *sequence) Event {
	switch n := s.param(0); n {
	case 200:
		d.state = inPaste
		return Event{Kind: EventPaste}
	case 27:
		if s.count != 3 {
			return Event{}
		}
		k, ok := codeKey(s.param(2))
		if !ok {
			return Event{}
		}
		k.Mods |= s.modifiers()
		k.Text = k.textIfPressed()
		return keyEvent(k)
	default:
		code, ok := tildeCode(n)
		if !ok {
			return Event{}
		}
		return keyEvent(Key{Code: code, Mods: s.modifiers(), Phase: s.eventPhase()})
	}
}

func tildeCode(n int) (Code, bool) {
	switch n {
	case 1, 7:
		return Home, true
	case 4, 8:
		return End, true
	case 11, 12, 13, 14:
		return F1 + Code(n-11), true
	case kittyKPBegin:
		return KP5, true
	}
	return functionCode(function{n, '~'})
}

// codeKey returns the key with a code in the kitty protocol or modifyOtherKeys.
func codeKey(n int) (Key, bool) {
	switch {
	case n >= kittyF13 && n < kittyF13+12:
		return Key{Code: F13 + Code(n-kittyF13)}, true
	case n >= kittyKP0 && n <= kittyKPSeparator:
		return Key{Code: KP0 + Code(n-kittyKP0)}, true
	case n >= kittyKPLeft && n <= kittyKPBegin:
		keypad := [...]Code{Left, Right, Up, Down, PageUp, PageDown, Home, End, Insert, Delete, KP5}
		return Key{Code: keypad[n-kittyKPLeft]}, true
	}
	if i := slices.Index(kittyOthers[:], n); i >= 0 {
		return Key{Code: Menu + Code(i)}, true
	}
	switch n {
	case 8:
		return Key{Code: Backspace}, true
	case '\r', '\t', esc, 0x7f:
		return Key{Code: Code(n)}, true
	}
	if n <= 0 || n > utf8.MaxRune || isControl(rune(n)) || !utf8.ValidRune(rune(n)) {
		return Key{}, false
	}
	return Key{Code: Code(n)}.normalize(), true
}

// kittyKey decodes CSI code:shifted:base ; modifiers:event ; text u.
func kittyKey(s *sequence) (Key, bool) {
	code := s.params[0]
	k, ok := codeKey(code[0])
	if !ok && (code[0] != 0 || s.count < 3) || s.count == 0 {
		return Key{}, false
	}
	k.Mods |= s.modifiers()
	k.Phase = s.eventPhase()
	if r := rune(code[1]); code[1] > 0 && !isControl(r) && utf8.ValidRune(r) {
		k.Shifted = r
	}
	if r := rune(code[2]); code[2] > 0 && !isControl(r) && utf8.ValidRune(r) {
		k.Base = r
	}
	if s.count >= 3 {
		k.Text = textFromCodes(s.params[2])
	}
	// Without associated text, work out the text, unless it depends on the layout.
	if k.Text == "" && k.Phase != Release && isPrintable(k.Code) {
		k.Text = k.knownText()
	}
	return k, ok || k.Text != ""
}

func textFromCodes(codes [8]int) string {
	var b []byte
	for _, c := range codes {
		if r := rune(c); !isControl(r) && utf8.ValidRune(r) {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// decodeSS3 decodes ESC O letter. Some terminals send a modifier before the letter.
func decodeSS3(p []byte) (Event, int) {
	i := 2
	var mods Mod
	if len(p) > 2 && p[2] >= '2' && p[2] <= '9' {
		mods = Mod(p[2] - '1')
		i++
	}
	if i >= len(p) {
		return Event{}, 0
	}
	if code, ok := ss3Code(p[i]); ok {
		return keyEvent(Key{Code: code, Mods: mods}), i + 1
	}
	if p[i] >= 'a' && p[i] <= 'd' { // rxvt
		return keyEvent(Key{Code: Up + Code(p[i]-'a'), Mods: Ctrl}), i + 1
	}
	return keyEvent(altKey('O')), 2
}

func ss3Code(c byte) (Code, bool) {
	if i := strings.IndexByte(keypadLetters, c); i >= 0 {
		return KP0 + Code(i), true
	}
	return functionCode(function{1, c})
}

// decodeLinuxConsole decodes ESC [ [ A … E, the console's F1 to F5.
func decodeLinuxConsole(p []byte) (Event, int) {
	if len(p) == 3 {
		return Event{}, 0
	}
	if c := p[3]; c >= 'A' && c <= 'E' {
		return keyEvent(Key{Code: F1 + Code(c-'A')}), 4
	}
	return Event{}, 3
}
