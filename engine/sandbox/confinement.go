package sandbox

import "tandem/engine/keeper"

// A Confinement is what layers come to at one start. It must be closed.
type Confinement struct {
	keeper.Confinement
	unreadable []string // of all layers, resolved
}

// Close closes it. There is nothing to close in a nil one.
func (c *Confinement) Close() {
	if c != nil {
		c.Confinement.Close()
	}
}
