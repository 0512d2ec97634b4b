package passthrough

import "fmt"

// isPointing reports whether a private mode concerns mouse reports.
func isPointing(mode int) bool {
	switch mode {
	case 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016:
		return true
	}
	return false
}

// noteMouseMode records a mouse mode set or reset by the program.
func (f *Filter) noteMouseMode(mode int, set bool) {
	switch mode {
	case 9, 1000, 1002, 1003:
		f.Tracks = 0
		if set {
			f.Tracks = mode
		}
	case 1005, 1006, 1015, 1016:
		f.Pixels = set && mode == 1016
	}
}

// noPointer is the value of told while the terminal's tracking mode is unknown.
const noPointer = -1

// Pointer returns the sequence that makes the terminal report the mouse as the program wants, and
// always its buttons; nil if it does already, or while the output ends inside a control string.
func (f *Filter) Pointer() []byte {
	if !f.Points || f.told == f.Tracks || f.Within() {
		return nil
	}
	f.told = f.Tracks
	return fmt.Appendf(nil, "\x1b[?1003l\x1b[?1002l\x1b[?%dh\x1b[?1006h\x1b[?1004h", max(f.Tracks, 1000))
}
