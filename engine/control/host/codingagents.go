package host

import (
	"os"

	"tandem/engine/agent/coding"
	"tandem/engine/base/shell"
	"tandem/engine/control/supervise"
	"tandem/engine/session/prompt"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// newRegistry returns the registry of coding agents in sessions. rules is the directory of the
// user's own rules.
func (h *Host) newRegistry(rules string) *coding.Registry {
	home, _ := os.UserHomeDir() // without it, agents have no files
	return &coding.Registry{
		Library: coding.NewLibrary(rules, func(wrong error) { h.Control.PublishNotice(wrong.Error()) }),
		BootID:  h.bootID,
		Home:    home,
		OnEnd:   proctree.OnEnd,
		Log:     h.log,
		Changed: func(session string, now *store.Agent) { h.Control.SetAgent(session, now) },
	}
}

// A resumption says how to continue a coding agent's conversation when its session starts.
type resumption struct {
	coding.Resumption
	instead bool   // run its command in place of the session's own
	typed   string // typed at the shell's prompt
	enter   bool   // run it; otherwise the user decides
}

// typing returns how the command is to be typed.
func (r resumption) typing() string {
	switch {
	case r.typed == "":
		return ""
	case r.enter:
		return store.TypingRun
	}
	return store.TypingInsert
}

// planResumption decides whether and how a session continues its agent's conversation when it is
// restored, or restarted after a reboot. former is the session's previous child. Nothing is typed
// into sessions started by an agent.
func (h *Host) planResumption(r store.Record, former store.Identity) (out resumption) {
	how := h.settings.now().resume
	rebooted := former.BootID != "" && former.BootID != h.bootID
	if !rebooted && r.Interrupted == nil || supervise.IsFromAgent(r) {
		return out
	}
	lost := proctree.BornAt(store.Identity{})
	lastSign := lost
	if r.Interrupted != nil {
		out.typed, lastSign, lost = r.Interrupted.Program, r.Interrupted.LastSign, r.Interrupted.At
	}
	if how == ResumeOff {
		return out
	}
	found, ok := h.Agents.Library.Resumption(r, lastSign, lost)
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
		out.enter = how == ResumeRun
	default:
		out.instead = how == ResumeRun && h.Agents.Library.IsPlainStart(r.Argv)
	}
	return out
}
