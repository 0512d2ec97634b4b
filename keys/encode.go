package keys

// Modes are the modes of a terminal that decide how a key is encoded.
type Modes struct {
	AppCursor      bool
	AppKeypad      bool
	Newline        bool
	BracketedPaste bool
	ModifyOther    uint8 // xterm modifyOtherKeys, 0…2
	Kitty          uint8 // kitty keyboard flags
	Mouse          MouseMode
	MouseEncoding  MouseEncoding
}

// Flags of the kitty keyboard protocol, the bits of Modes.Kitty.
// https://sw.kovidgoyal.net/kitty/keyboard-protocol/#progressive-enhancement
const (
	KittyDisambiguate uint8 = 1 << iota
	KittyEventTypes
	KittyAlternateKeys
	KittyAllKeys
	KittyText
)

// Encode appends what a terminal in these modes sends for a key; nothing for a
// key that it would not report.
func Encode(dst []byte, k Key, m Modes) []byte {
	k = k.normal()
	if m.Kitty&(KittyDisambiguate|KittyEventTypes|KittyAllKeys) != 0 {
		return appendKitty(dst, k, m)
	}
	if k.Phase == Release {
		return dst
	}
	if m.ModifyOther > 0 && !k.Implied {
		if code, ok := otherKey(k, m.ModifyOther); ok {
			return appendOtherKey(dst, code, k.Mods)
		}
	}
	return appendLegacy(dst, k, m)
}
