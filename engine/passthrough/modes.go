package passthrough

const (
	// LeaveAlt goes back to the terminal's main screen.
	LeaveAlt = "\x1b[?1049l"
	// Home clears the screen.
	Home = "\x1b[H\x1b[2J"
)

// RestModes brings a terminal to the modes in which a shell expects it,
// whatever a program has set: xterm's ctlseqs, the kitty keyboard protocol.
// It keeps the screen that is shown. A control string that was cut off is
// ended first.
func RestModes() string {
	return "\x1b\\" +
		"\x1b[?2026l" + // output is shown at once
		"\x1b[0m\x1b]8;;\x1b\\\x1b[0\"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f" + // plain text
		"\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[20l\x1b[*x\x1b[?7h\x1b[?5;40;41;45;1045;2027l\x1b[?5W" + // whole screen, wrapped
		"\x1b[?1;67l\x1b>" + // cursor and keypad keys
		"\x1b[>4m\x1b[<99u\x1b[=0u" + // modifyOtherKeys, kitty keys
		"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" + // mouse
		"\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l" + // reports and paste
		"\x1b[?25h\x1b[0 q" // cursor
}

// Tells has a terminal tell of what is the viewer's business: the focus, and changes of the
// colour scheme. RestModes takes it back.
const Tells = "\x1b[?1004;2031h"

// AskColors asks a terminal for its colours: the sixteen with numbers, and those of text,
// ground and cursor. Every terminal answers what stands last, its attributes (DA1), so that
// it is known when the answers have come.
const AskColors = "\x1b]4;0;?\x1b\\\x1b]4;1;?\x1b\\\x1b]4;2;?\x1b\\\x1b]4;3;?\x1b\\\x1b]4;4;?\x1b\\\x1b]4;5;?\x1b\\\x1b]4;6;?\x1b\\\x1b]4;7;?\x1b\\" +
	"\x1b]4;8;?\x1b\\\x1b]4;9;?\x1b\\\x1b]4;10;?\x1b\\\x1b]4;11;?\x1b\\\x1b]4;12;?\x1b\\\x1b]4;13;?\x1b\\\x1b]4;14;?\x1b\\\x1b]4;15;?\x1b\\" +
	"\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\\x1b[c"

// RestColors takes back the colours that programs have changed.
const RestColors = "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"

// Terminals begin with these modes set or not, as each sees fit: they are kept
// (XTSAVE) and brought back (XTRESTORE). What a terminal that knows neither may
// take that for is mended by RestModes, and by the margins set again.
const (
	KeepModes = "\x1b[?12;80;1007;1036;1039;1070;2027;8452s"
	KeptModes = "\x1b[?12;80;1007;1036;1039;1070;2027;8452r\x1b[r"
)

// isKept says whether a private mode is one of KeepModes.
func isKept(mode int) bool {
	switch mode {
	case 12, 80, 1007, 1036, 1039, 1070, 2027, 8452:
		return true
	}
	return false
}
