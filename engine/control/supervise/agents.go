package supervise

import (
	"time"

	"tandem/persist/store"
)

// SetAgent records which coding agent runs in a session; nil means none. Clients are told once the
// change is on disk.
func (c *Control) SetAgent(id string, a *store.Agent) {
	c.reg.box.Post(func() {
		// The session may have exited since the report was sent.
		if p := c.reg.procs[id]; p != nil && !c.reg.frozen && !p.state().Ended() {
			if was := p.rec.Agent; a == nil && was != nil && was.Conversation != "" {
				// Keep the conversation, so that a later agent can resume it.
				p.rec.LeftAgent = &store.LeftAgent{Name: was.Name, Conversation: was.Conversation, CWD: was.CWD, At: time.Now()}
			}
			p.rec.Agent = a
			c.reg.saveChange(p)
		}
	})
}
