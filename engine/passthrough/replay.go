package passthrough

// A Replay passes what a program has printed once to a terminal that shows it now:
// text, and what changes how text is shown. The program is gone, and may have been
// anybody's: besides what would make the terminal answer or act, nothing passes
// that changes what the keyboard and the mouse send, puts text on the clipboard, or
// uses kitty's graphics protocol, whose pictures stay in the terminal. Switches
// between the screens pass. The zero value is ready.
type Replay struct{ filter Filter }

// Pass returns what of p is to be written. It is valid until the next call, and
// may be p itself. A sequence that p ends in is held back until it is complete.
func (r *Replay) Pass(p []byte) []byte {
	r.filter.played = true
	out, _ := r.filter.Pass(p)
	return out
}

// Filter is what Pass passes through, for who paints what a repaint shows among it.
func (r *Replay) Filter() *Filter {
	r.filter.played = true
	return &r.filter
}

// Reset is what brings the terminal back, after what was passed, to the modes in
// which a shell expects it. It keeps the screen that is shown.
func (r *Replay) Reset() string { return r.filter.rest() }

// InAltScreen says that the alternate screen is shown.
func (r *Replay) InAltScreen() bool { return r.filter.Alt }
