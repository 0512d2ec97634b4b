package passthrough

import "fmt"

// isPointing says whether a private mode is about that.
func isPointing(mode int) bool {
	switch mode {
	case 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016:
		return true
	}
	return false
}

// point notes a mode that the program sets or resets.
func (f *Filter) point(mode int, set bool) {
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

// noPointer is what the terminal is taken to track of the mouse while that is
// not known.
const noPointer = -1

// Pointer is what makes the terminal tell as much of the mouse as the program
// wants, and the buttons in any case; nothing if it does.
func (f *Filter) Pointer() []byte {
	if !f.Points || f.told == f.Tracks {
		return nil
	}
	f.told = f.Tracks
	return fmt.Appendf(nil, "\x1b[?1003l\x1b[?1002l\x1b[?%dh\x1b[?1006h\x1b[?1004h", max(f.Tracks, 1000))
}
