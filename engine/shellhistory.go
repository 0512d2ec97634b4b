package engine

// commandEnded takes a command that a session's shell has run. It is called from
// the session's own goroutine and must not block.
func (h *host) commandEnded(shellCommand) {}
