package host

import (
	"cmp"
	"os"
	"path/filepath"
	"sync/atomic"

	"tandem/engine/session/prompt"
	config "tandem/persist/config/settings"
	"tandem/persist/datadir"
)

// These are the choices for a coding agent's conversation when its session is restarted after a
// reboot.
const (
	ResumeOffer = "offer" // type the resuming command at the prompt, without Enter
	ResumeRun   = "run"
	ResumeOff   = "off"
)

// currentSettings holds the settings in effect and values derived from them. It is replaced as a
// whole and never changed.
type currentSettings struct {
	config.Engine
	resume string
	shells prompt.Keys // only the key if shell integration is off
}

// settings hold the settings in effect.
type settings struct {
	current atomic.Pointer[currentSettings]
}

// now returns the settings for later starts.
func (s *settings) now() currentSettings {
	if c := s.current.Load(); c != nil {
		return *c
	}
	return currentSettings{}
}

// Apply puts settings into effect for later starts. It returns an error if some could not be
// applied; the others are in effect nevertheless. resume is the choice for conversations of coding
// agents.
func (h *Host) Apply(changed config.Engine, resume string) error {
	next := currentSettings{Engine: changed, resume: resume}
	var err error
	// Sessions started earlier need the key even if shell integration is turned off now.
	dir := filepath.Join(h.o.DataDir, datadir.Shell)
	if next.shells = prompt.ReadKeys(dir); changed.ShellIntegration {
		next.shells, err = prompt.OpenKeys(dir)
	}
	// Store the settings even after an error, because the others still apply.
	h.settings.current.Store(&next)
	return err
}

// Shell returns the program to start if no command is given: the shell. If environ is nil, it uses
// the engine's own environment.
func (h *Host) Shell(environ map[string]string) []string {
	if words := h.settings.now().Shell; len(words) > 0 {
		return words
	}
	shell := environ["SHELL"]
	if environ == nil {
		shell = os.Getenv("SHELL")
	}
	return []string{cmp.Or(shell, "/bin/sh")}
}
