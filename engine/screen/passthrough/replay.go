package passthrough

// A Replay filters the recorded output of a program for a terminal: it passes text and sequences
// that change the display. The program has exited and is not trusted. So in addition to queries and
// actions, Replay drops changes of keyboard and mouse reports, clipboard writes and the kitty
// graphics protocol, whose pictures would stay in the terminal. Switches between the screens pass.
// The zero value is ready to use.
type Replay struct{ filter Filter }

// Pass filters p. The result is valid until the next call and may be p itself. An incomplete
// sequence at the end is held back.
func (r *Replay) Pass(p []byte) []byte {
	r.filter.played = true
	out, _ := r.filter.Pass(p)
	return out
}

// Filter returns the filter used by Pass, for callers that insert a repaint.
func (r *Replay) Filter() *Filter {
	r.filter.played = true
	return &r.filter
}

// Reset returns the sequence that sets the terminal to the modes a shell expects. It keeps the
// screen's contents.
func (r *Replay) Reset() string { return r.filter.restText() }

// InAltScreen reports whether the alternate screen is shown.
func (r *Replay) InAltScreen() bool { return r.filter.Alt }
