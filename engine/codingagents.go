package engine

import (
	"os"

	"tandem/engine/agents"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// watchAgents makes what finds coding agents in sessions; rules is the folder of the
// person's own.
func (h *host) watchAgents(rules string) *agents.Registry {
	home, _ := os.UserHomeDir() // without one, no agent keeps files
	return &agents.Registry{
		Library: agents.NewLibrary(rules, func(wrong error) { h.control.TellNotice(wrong.Error()) }),
		BootID:  h.bootID,
		Home:    home,
		Changed: func(session string, now *store.Agent) { supervise.SetAgent(h.control, session, now) },
	}
}
