package keys

// A Mod is a set of modifiers; the bits are those of the kitty keyboard
// protocol and of xterm's modifier parameter less one.
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

// A Code is the key itself: the character of an unshifted printable key, or
// one of the constants for a key that has none.
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

// A Phase is what happened to a key.
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
	Text    string `json:"text,omitempty"`    // what it types, "" for none
	Shifted rune   `json:"shifted,omitempty"` // the code with shift, where known
	Base    rune   `json:"base,omitempty"`    // the code on a US layout, where known
}

// Parse reads a key's name: "a", "A", "ctrl+c", "alt+shift+left", "f5",
// "enter", "space", "esc", "pgup".
func Parse(name string) (Key, error) { panic("not written") }

// String is the name that Parse reads.
func (k Key) String() string { panic("not written") }

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

// Encode appends what a terminal in these modes sends for a key; nothing for a
// key that it would not report.
func Encode(dst []byte, k Key, m Modes) []byte { panic("not written") }

// EncodePaste appends text as a paste. When bracketed, end marks inside text
// are removed, so that a paste cannot leave its brackets.
func EncodePaste(dst []byte, text string, m Modes) []byte { panic("not written") }

// Mouse is one mouse event; coordinates are cells from 0.
type Mouse struct {
	X, Y   int
	Button Button
	Kind   MouseKind
	Mods   Mod
}

type Button uint8

const (
	ButtonNone Button = iota
	ButtonLeft
	ButtonMiddle
	ButtonRight
	WheelUp
	WheelDown
	WheelLeft
	WheelRight
	ButtonBack
	ButtonForward
)

type MouseKind uint8

const (
	MouseDown MouseKind = iota
	MouseUp
	MouseMove // with Button held, or ButtonNone
)

// MouseMode and MouseEncoding have the values of their namesakes in engine/vt.
type MouseMode uint8
type MouseEncoding uint8

const (
	MouseOff MouseMode = iota
	MousePress
	MouseClick
	MouseDrag
	MouseMotion
)

const (
	MouseX10 MouseEncoding = iota
	MouseUTF8
	MouseSGR
	MouseURXVT
	MouseSGRPixels
)

// EncodeMouse appends what a terminal in these modes sends for a mouse event;
// nothing when the program did not ask for it.
func EncodeMouse(dst []byte, e Mouse, m Modes) []byte { panic("not written") }
