package supervise

import (
	"time"

	"tandem/persist/store"
)

// SetAgent notes which coding agent runs in a session, and what it is doing; nil: none.
// It is announced when it is on disk.
func SetAgent(c *Control, id string, a *store.Agent) {
	c.box.Post(func() {
		if p := c.procs[id]; p != nil && !c.frozen && !p.state().Ended() {
			if was := p.rec.Agent; a == nil && was != nil && was.Conversation != "" {
				p.rec.LeftAgent = &store.LeftAgent{Name: was.Name, Conversation: was.Conversation, CWD: was.CWD, At: time.Now()}
			}
			p.rec.Agent = a
			c.save(p)
		}
	})
}
