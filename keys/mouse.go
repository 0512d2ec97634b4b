package keys

import (
	"fmt"
	"unicode/utf8"
)

// A Mouse is a mouse event; coordinates are cells from 0.
type Mouse struct {
	X, Y   int
	Button Button
	Kind   MouseKind
	Mods   Mod

	// PixelX and PixelY are the position in pixels from 0, if known. Otherwise a program that
	// requested pixels receives cells.
	PixelX, PixelY int `json:",omitempty"`
}

// IsLeftDown reports whether the event is a press of the left button.
func (e Mouse) IsLeftDown() bool { return e.Kind == MouseDown && e.Button == ButtonLeft }

// IsWheel reports whether the event is a vertical turn of the wheel.
func (e Mouse) IsWheel() bool { return e.Button == WheelUp || e.Button == WheelDown }

// A Button is a button of a mouse, or a direction of its wheel.
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

// MouseKind is the kind of a mouse event. A turn of the wheel is a press.
type MouseKind uint8

const (
	MouseDown MouseKind = iota
	MouseUp
	MouseMove // with Button held, or ButtonNone
)

// MouseMode is the kind of events requested by a program.
type MouseMode uint8

const (
	MouseOff    MouseMode = iota
	MousePress            // presses (X10, mode 9)
	MouseClick            // presses and releases (mode 1000)
	MouseDrag             // and motion with a button down (1002)
	MouseMotion           // and all motion (1003)
)

// MouseEncoding is the encoding requested by a program.
type MouseEncoding uint8

const (
	MouseX10       MouseEncoding = iota
	MouseUTF8                    // 1005
	MouseSGR                     // 1006
	MouseURXVT                   // 1015
	MouseSGRPixels               // 1016
)

// EncodeMouse appends the bytes sent by a terminal in these modes for a mouse event. Nothing is
// appended if the program did not request the event or its encoding cannot express the coordinates.
// Source: xterm's ctlseqs, "Mouse Tracking".
func EncodeMouse(dst []byte, e Mouse, m Modes) []byte {
	if !e.isRequested(m.Mouse) || e.X < 0 || e.Y < 0 {
		return dst
	}
	code := e.buttonCode(m)
	x, y := e.X+1, e.Y+1
	switch m.MouseEncoding {
	case MouseSGR, MouseSGRPixels:
		if m.MouseEncoding == MouseSGRPixels && (e.PixelX > 0 || e.PixelY > 0) {
			x, y = e.PixelX+1, e.PixelY+1
		}
		final := 'M'
		if e.Kind == MouseUp {
			final = 'm'
		}
		return fmt.Appendf(dst, "\x1b[<%d;%d;%d%c", code, x, y, final)
	case MouseURXVT:
		return fmt.Appendf(dst, "\x1b[%d;%d;%dM", code+32, x, y)
	case MouseUTF8:
		// Two bytes of UTF-8 express values up to 2047, including the offset of 32.
		if x > 2015 || y > 2015 {
			return dst
		}
		dst = utf8.AppendRune(append(dst, esc, '[', 'M'), rune(code+32))
		return utf8.AppendRune(utf8.AppendRune(dst, rune(x+32)), rune(y+32))
	}
	// One byte, including the offset of 32.
	if x > 223 || y > 223 {
		return dst
	}
	return append(dst, esc, '[', 'M', byte(code+32), byte(x+32), byte(y+32))
}

func (e Mouse) isRequested(mode MouseMode) bool {
	switch {
	case mode == MouseOff, e.Kind != MouseMove && e.Button == ButtonNone && e.Kind == MouseDown:
		return false
	case mode == MousePress:
		return e.Kind == MouseDown && e.Button <= ButtonRight
	case e.Kind == MouseUp:
		return !e.Button.isWheel() // a wheel has no release
	case e.Kind == MouseDown:
		return true
	}
	return mode == MouseMotion || mode == MouseDrag && e.Button != ButtonNone
}

func (b Button) isWheel() bool { return b >= WheelUp && b <= WheelRight }

const (
	mouseMotion  = 32
	mouseWheel   = 64
	mouseExtra   = 128
	mouseNone    = 3
	mouseShift   = 4
	mouseAlt     = 8
	mouseControl = 16
)

// buttonCode returns Cb of ctlseqs, without the 32 added by the older encodings.
func (e Mouse) buttonCode(m Modes) int {
	code := e.Button.buttonNumber()
	sgr := m.MouseEncoding == MouseSGR || m.MouseEncoding == MouseSGRPixels
	if e.Kind == MouseUp && !sgr {
		// The older encodings do not say which button was released.
		code = mouseNone
	}
	if e.Kind == MouseMove {
		code += mouseMotion
	}
	if m.Mouse == MousePress {
		return code
	}
	if e.Mods&Shift != 0 {
		code += mouseShift
	}
	if e.Mods&(Alt|Meta) != 0 {
		code += mouseAlt
	}
	if e.Mods&Ctrl != 0 {
		code += mouseControl
	}
	return code
}

func (b Button) buttonNumber() int {
	switch {
	case b >= ButtonLeft && b <= ButtonRight:
		return int(b - ButtonLeft)
	case b.isWheel():
		return mouseWheel + int(b-WheelUp)
	case b == ButtonBack || b == ButtonForward:
		return mouseExtra + int(b-ButtonBack)
	}
	return mouseNone
}

// buttonOf is the inverse of number, for Cb without modifiers and motion.
func buttonOf(code int) Button {
	low := code & 3
	switch {
	case code&mouseExtra != 0:
		if low < 2 {
			return ButtonBack + Button(low)
		}
		return ButtonNone
	case code&mouseWheel != 0:
		return WheelUp + Button(low)
	case low == mouseNone:
		return ButtonNone
	}
	return ButtonLeft + Button(low)
}
