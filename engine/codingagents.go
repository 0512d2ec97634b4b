package engine

import (
	"cmp"
	"os"

	"tandem/engine/agents"
	"tandem/engine/proctree"
	"tandem/engine/prompt"
	"tandem/engine/shell"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// watchAgents makes what finds coding agents in sessions; rules is the folder of the
// person's own.
func (h *host) watchAgents(rules string) *agents.Registry {
	home, _ := os.UserHomeDir() // without one, no agent keeps files
	return &agents.Registry{
		Library: agents.NewLibrary(rules, func(wrong error) { h.control.PublishNotice(wrong.Error()) }),
		BootID:  h.bootID,
		Home:    home,
		OnEnd:   proctree.OnEnd,
		Log:     h.log,
		Changed: func(session string, now *store.Agent) { supervise.SetAgent(h.control, session, now) },
	}
}

// A resumption is what is done for an agent's conversation when a session starts.
type resumption struct {
	agents.Resumption
	instead bool   // its command is run in the place of the session's own
	typed   string // at the shell's prompt
}

// resumption is what becomes of the conversation that a session had when the machine was
// started anew. former is the session's child before. An agent's session is its own affair:
// nothing is typed for it.
func (h *host) resumption(r store.Record, former store.Identity) (out resumption) {
	how := cmp.Or(h.settings().Resume, ResumeOffer)
	if former.BootID == "" || former.BootID == h.bootID || how == ResumeOff || supervise.IsFromAgent(r) {
		return out
	}
	found, ok := h.agents.Library.Resumption(r, proctree.BornAt(store.Identity{}))
	if !ok {
		return out
	}
	out.Resumption = found
	switch prompt.KindOf(r.Argv) {
	case prompt.Bash, prompt.Zsh, prompt.Fish, prompt.POSIX:
		out.typed = shell.Quote(found.Argv...)
		if found.CWD != "" && found.CWD != r.CWD {
			out.typed = shell.Quote("cd", found.CWD) + " && " + out.typed
		}
		if how == ResumeRun {
			out.typed += "\r"
		}
	default:
		out.instead = how == ResumeRun && h.agents.Library.Is(r.Argv)
	}
	return out
}
