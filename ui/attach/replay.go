package attach

// A Replay takes out of what a program has printed once what would make a
// terminal answer, or switch on reports that nobody reads. The answers would be
// taken for what the person types. Switches between the screens pass. The zero
// value is ready.
type Replay struct{ filter filter }

// Pass returns what of p is to be written. It is valid until the next call, and
// may be p itself. A sequence that p ends in is held back until it is complete.
func (r *Replay) Pass(p []byte) []byte {
	r.filter.screens = true
	out, _ := r.filter.pass(p)
	return out
}

// Reset is what brings the terminal back, after what was passed, to the modes in
// which a shell expects it. It keeps the screen that is shown.
func (r *Replay) Reset() string { return r.filter.rest() }
