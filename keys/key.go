package keys

// A Mod is a set of modifiers. The bits are those of the kitty keyboard protocol, and of xterm's
// modifier parameter minus one.
type Mod uint8

const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
	CapsLock
	NumLock
)

// A Code identifies a key: the unshifted character of a printable key, or one of the constants.
type Code rune

const (
	Enter     Code = '\r'
	Tab       Code = '\t'
	Escape    Code = 0x1b
	Space     Code = ' '
	Backspace Code = 0x7f
)

const (
	Up Code = 0x110000 + iota // beyond Unicode
	Down
	Right
	Left
	Home
	End
	PageUp
	PageDown
	Insert
	Delete
	F1
	F2
	F3
	F4
	F5
	F6
	F7
	F8
	F9
	F10
	F11
	F12
	F13
	F14
	F15
	F16
	F17
	F18
	F19
	F20
	F21
	F22
	F23
	F24
	KP0
	KP1
	KP2
	KP3
	KP4
	KP5
	KP6
	KP7
	KP8
	KP9
	KPDecimal
	KPDivide
	KPMultiply
	KPMinus
	KPPlus
	KPEnter
	KPEqual
	KPSeparator
	Menu
	PrintScreen
	Pause
	ScrollLock
)

// A Phase tells a press from a repeat and a release.
type Phase uint8

const (
	Press Phase = iota
	Repeat
	Release
)

// A Key is one key event.
type Key struct {
	Code    Code   `json:"code"`
	Mods    Mod    `json:"mods,omitempty"`
	Phase   Phase  `json:"phase,omitempty"`
	Text    string `json:"text,omitempty"`    // text it types; "" for none
	Shifted rune   `json:"shifted,omitempty"` // code with shift, if known
	Base    rune   `json:"base,omitempty"`    // code on a US layout, if known

	// Implied is set if Alt was reported by an escape before the key. The escape may just as well
	// have been the escape key, so a program with another encoding for alt receives both bytes
	// unchanged.
	Implied bool `json:"implied,omitempty"`
}
