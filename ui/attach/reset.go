package attach

// Reset brings a terminal that a program has written to back to the modes in
// which a shell expects it. It keeps the screen that is shown.
func Reset() string { return restModes() }
