package passthrough

const (
	// LeaveAlt returns to the terminal's main screen.
	LeaveAlt = "\x1b[?1049l"
	// Home clears the screen.
	Home = "\x1b[H\x1b[2J"
	// saveCursor saves the cursor, its style and character sets (DECSC).
	saveCursor = "\x1b7"
)

// RestModes returns the sequence that sets a terminal to the modes a shell expects, regardless of
// what a program has set (xterm's ctlseqs, the kitty keyboard protocol). It keeps the screen's
// contents. It first gives up a control string that was cut off.
func RestModes() string {
	return stringAbort + stringEnd +
		// Output is shown at once.
		"\x1b[?2026l" +
		"\x1b[0m\x1b]8;;\x1b\\\x1b[0\"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f" + // plain text
		"\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[20l\x1b[*x\x1b[?7h\x1b[?5;40;41;45;1045;2027l\x1b[?5W" + // whole screen, wrapped
		// Cursor and keypad keys.
		"\x1b[?1;67l\x1b>" +
		// ModifyOtherKeys, kitty keys.
		"\x1b[>4m\x1b[<99u\x1b[=0u" +
		"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" + // mouse
		"\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l" + // reports and paste
		"\x1b[?25h\x1b[0 q" // cursor
}

// Tells enables the reports used by the viewer: focus and changes of the colour scheme. RestModes
// disables them.
const Tells = "\x1b[?1004;2031h"

// AskColors queries a terminal for its sixteen palette colours and those of text, background and
// cursor. The query of its attributes (DA1) at the end is answered by every terminal, and marks the
// end of the replies.
const AskColors = "\x1b]4;0;?\x1b\\\x1b]4;1;?\x1b\\\x1b]4;2;?\x1b\\\x1b]4;3;?\x1b\\\x1b]4;4;?\x1b\\\x1b]4;5;?\x1b\\\x1b]4;6;?\x1b\\\x1b]4;7;?\x1b\\" +
	"\x1b]4;8;?\x1b\\\x1b]4;9;?\x1b\\\x1b]4;10;?\x1b\\\x1b]4;11;?\x1b\\\x1b]4;12;?\x1b\\\x1b]4;13;?\x1b\\\x1b]4;14;?\x1b\\\x1b]4;15;?\x1b\\" +
	"\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\\x1b[c"

// RestColors resets the colours that programs have changed.
const RestColors = "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"

// Terminals differ in the initial state of these modes, so they are saved (XTSAVE) and restored
// (XTRESTORE). A terminal without these sequences may misread them; RestModes and setting the
// margins again correct that.
const (
	KeepModes = "\x1b[?12;80;1007;1036;1039;1070;2027;8452s"
	KeptModes = "\x1b[?12;80;1007;1036;1039;1070;2027;8452r\x1b[r"
)

// isKept reports whether a private mode is one of KeepModes.
func isKept(mode int) bool {
	switch mode {
	case 12, 80, 1007, 1036, 1039, 1070, 2027, 8452:
		return true
	}
	return false
}
