package supervise

import "tandem/persist/store"

// SetAgent notes which coding agent runs in a session, and what it is doing; nil: none.
// It is announced when it is on disk.
func SetAgent(c *Control, id string, a *store.Agent) {
	c.box.Post(func() {
		if p := c.procs[id]; p != nil && !c.frozen && !p.state().Ended() {
			p.rec.Agent = a
			c.save(p)
		}
	})
}
