package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A modifierName is the name of a modifier. String writes modifiers in the order of modifierNames.
type modifierName struct {
	mod  Mod
	name string
}

var modifierNames = [...]modifierName{
	{Ctrl, "ctrl"}, {Alt, "alt"}, {Shift, "shift"},
	{Super, "super"}, {Hyper, "hyper"}, {Meta, "meta"},
}

// modifierAliases are other names, of which a single letter is followed by a "-".
var modifierAliases = [...]modifierName{
	{Ctrl, "c"}, {Alt, "m"}, {Alt, "a"}, {Shift, "s"},
	{Ctrl, "control"}, {Alt, "option"}, {Alt, "opt"}, {Super, "cmd"}, {Super, "win"},
}

// keyNames lists the names of the keys without a character, from Up on.
var keyNames = [...]string{
	"up", "down", "right", "left", "home", "end", "pgup", "pgdown", "insert", "delete",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
	"f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24",
	"kp0", "kp1", "kp2", "kp3", "kp4", "kp5", "kp6", "kp7", "kp8", "kp9",
	"kpdecimal", "kpdivide", "kpmultiply", "kpminus", "kpplus", "kpenter", "kpequal", "kpseparator",
	"menu", "printscreen", "pause", "scrolllock",
}

// otherNames lists the names of the other keys, the usual one first, and aliases.
var otherNames = [...]struct {
	name string
	code Code
	mods Mod
}{
	{"enter", Enter, 0}, {"return", Enter, 0}, {"cr", Enter, 0},
	{"tab", Tab, 0}, {"backtab", Tab, Shift}, {"btab", Tab, Shift},
	{"esc", Escape, 0}, {"escape", Escape, 0}, {"space", Space, 0}, {"spc", Space, 0},
	{"backspace", Backspace, 0}, {"bspace", Backspace, 0}, {"bs", Backspace, 0},
	{"+", '+', 0}, {"plus", '+', 0}, {"-", '-', 0}, {"minus", '-', 0},
	{"pageup", PageUp, 0}, {"ppage", PageUp, 0}, {"pgdn", PageDown, 0}, {"pagedown", PageDown, 0}, {"npage", PageDown, 0},
	{"ins", Insert, 0}, {"ic", Insert, 0}, {"del", Delete, 0}, {"dc", Delete, 0},
}

// Parse parses a key's name: "a", "A", "ctrl+c", "alt+shift+left", "f5", "enter", "space", "esc",
// "pgup". The names of keys and modifiers are not case-sensitive; tmux's and Emacs' "C-c", "M-x",
// "S-up" and "^c" are accepted too. With ctrl, a capital letter is the same as the small one:
// "ctrl+C" is "ctrl+c".
func Parse(name string) (Key, error) {
	rest, mods, err := parseModifiers(name)
	if err != nil {
		return Key{}, err
	}
	if r, n := utf8.DecodeRuneInString(rest); n == len(rest) && n > 0 {
		return parseCharacter(name, r, mods)
	}
	if caret, ok := strings.CutPrefix(rest, "^"); ok && len(caret) == 1 {
		return parseCharacter(name, rune(caret[0]), mods|Ctrl)
	}
	code, shift, ok := parseNamed(strings.ToLower(rest))
	if !ok {
		return Key{}, fmt.Errorf("parse key %q: no key has this name", name)
	}
	k := Key{Code: code, Mods: mods | shift}
	k.Text = k.knownText()
	return k, nil
}

func parseModifiers(name string) (rest string, mods Mod, err error) {
	rest = name
	for {
		i := strings.IndexAny(rest, "+-")
		// A + or - at the end is the key itself.
		if i <= 0 || i == len(rest)-1 || strings.EqualFold(rest[:i+1], "u+") {
			return rest, mods, nil
		}
		mod, ok := parseModifier(rest[:i], rest[i])
		if !ok {
			return "", 0, fmt.Errorf("parse key %q: %q is not a modifier", name, rest[:i])
		}
		mods |= mod
		rest = rest[i+1:]
	}
}

func parseModifier(name string, separator byte) (Mod, bool) {
	lower := strings.ToLower(name)
	for _, m := range slices.Concat(modifierNames[:], modifierAliases[:]) {
		if m.name == lower && (len(lower) > 1 || separator == '-') {
			return m.mod, true
		}
	}
	return 0, false
}

func parseCharacter(name string, r rune, mods Mod) (Key, error) {
	if !isPrintable(Code(r)) {
		return Key{}, fmt.Errorf("parse key %q: not a printable character", name)
	}
	if mods&Ctrl != 0 && isCapital(r) {
		r = unicode.ToLower(r)
	}
	k := Key{Code: Code(r), Mods: mods}.normalize()
	k.Text = k.knownText()
	return k, nil
}

func parseNamed(name string) (code Code, mods Mod, ok bool) {
	for _, k := range otherNames {
		if k.name == name {
			return k.code, k.mods, true
		}
	}
	if i := slices.Index(keyNames[:], name); i >= 0 {
		return Up + Code(i), 0, true
	}
	return parseCodePoint(name)
}

// parseCodePoint parses "u+e061", the name of a key without another one: kitty's functional keys in
// the private use area.
func parseCodePoint(name string) (Code, Mod, bool) {
	hex, ok := strings.CutPrefix(name, "u+")
	if !ok {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, 0, false
	}
	return Code(n), 0, true
}

// String returns the name accepted by Parse, without the phase, lock keys and layout.
func (k Key) String() string {
	c := k.Chord()
	if c.mods == Shift && isLowercase(rune(c.code)) {
		return string(unicode.ToUpper(rune(c.code)))
	}
	var b strings.Builder
	for _, m := range modifierNames {
		if c.mods&m.mod != 0 {
			b.WriteString(m.name + "+")
		}
	}
	return b.String() + c.code.keyName()
}

func (c Code) keyName() string {
	if i := int(c - Up); i >= 0 && i < len(keyNames) {
		return keyNames[i]
	}
	for _, k := range otherNames {
		if k.code == c {
			return k.name
		}
	}
	if isPrintable(c) {
		return string(rune(c))
	}
	return fmt.Sprintf("u+%04x", uint32(c))
}

// Show returns the key's name for help: like String, with arrows.
func (k Key) Show() string {
	name := k.String()
	for _, a := range [...][2]string{{"up", "↑"}, {"down", "↓"}, {"left", "←"}, {"right", "→"}} {
		if rest, ok := strings.CutSuffix(name, a[0]); ok && (rest == "" || strings.HasSuffix(rest, "+")) {
			return rest + a[1]
		}
	}
	return name
}
