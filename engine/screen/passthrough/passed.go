package passthrough

// Passed records what a filter has passed. A repaint does not reset it.
type Passed struct {
	Extended bool // keys may be reported as escape codes: kitty, modifyOtherKeys

	Kitty, Sixel bool // programs have drawn kitty or sixel pictures
	Payload      bool // a picture or clipboard contents have passed, which no repaint replaces; reset by the caller

	Colored  bool // the terminal's palette may have been changed
	Progress bool // the terminal shows a progress indicator
}
