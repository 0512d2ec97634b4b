package keys

// Modes are the terminal modes that affect the encoding of keys and mouse events.
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

// Flags of the kitty keyboard protocol, for Modes.Kitty.
// https://sw.kovidgoyal.net/kitty/keyboard-protocol/#progressive-enhancement
const (
	KittyDisambiguate uint8 = 1 << iota
	KittyEventTypes
	KittyAlternateKeys
	KittyAllKeys
	KittyText
)

// Encode appends the bytes sent by a terminal in these modes for a key. Nothing is appended for a
// key that it does not report.
func Encode(dst []byte, k Key, m Modes) []byte {
	k = k.normalize()
	if m.Kitty&(KittyDisambiguate|KittyEventTypes|KittyAllKeys) != 0 {
		return appendKitty(dst, k, m)
	}
	// Only the kitty protocol reports releases.
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
