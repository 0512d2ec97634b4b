package engine

import (
	"cmp"
	"context"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/engine/session/prompt"
	"tandem/persist/config/settings"
	"tandem/persist/datadir"
)

// ownName returns the name of this engine for other machines.
func ownName() string {
	name, host := "?", "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// ownEnviron returns the environment of commands connecting to other machines. They run outside any
// session.
func ownEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TANDEM_SESSION_ID=") })
}

// Settings may be changed by the user while the engine runs. They apply to later starts.
type Settings struct {
	settings.Engine
	History settings.History
	Agents  settings.Agents // except the sandbox, which Options.Sandbox reads for each start

	Machines []transport.Machine // machines this engine keeps links to
	Fleet    fleet.Config        // the fleet this engine belongs to, if any
}

// What to do with a coding agent's conversation when its session is restarted after a reboot.
const (
	ResumeOffer = "offer" // type the resuming command at the prompt, without Enter
	ResumeRun   = "run"
	ResumeOff   = "off"
)

// currentSettings are the settings in effect and values derived from them. A value is never
// changed.
type currentSettings struct {
	Settings
	shells prompt.Keys // only the key if shell integration is off
}

// liveSettings hold the settings in effect.
type liveSettings struct {
	dataDir string
	current atomic.Pointer[currentSettings]
}

// now returns the settings for later starts.
func (s *liveSettings) now() currentSettings {
	if c := s.current.Load(); c != nil {
		return *c
	}
	return currentSettings{}
}

// apply puts settings into effect, and returns an error about any it could not apply.
func (s *liveSettings) apply(changed Settings) error {
	next := currentSettings{Settings: changed}
	var err error
	// Earlier sessions need the key even if integration is turned off now.
	dir := filepath.Join(s.dataDir, datadir.Shell)
	if next.shells = prompt.ReadKeys(dir); changed.ShellIntegration {
		next.shells, err = prompt.OpenKeys(dir)
	}
	// Even after an error: the other settings still apply.
	s.current.Store(&next)
	return err
}

// shell returns the program for an empty command. With a nil environ, the engine's own is used.
func (s *liveSettings) shell(environ map[string]string) []string {
	if words := s.now().Shell; len(words) > 0 {
		return words
	}
	shell := environ["SHELL"]
	if environ == nil {
		shell = os.Getenv("SHELL")
	}
	return []string{cmp.Or(shell, "/bin/sh")}
}

// setMachines links to the machines of the settings, or of a newer configuration.
func (e *engine) setMachines(s Settings) {
	if e.hosts.Read == nil {
		e.hosts.Set(s.Machines)
		return
	}
	if err := e.hosts.Refresh(); err != nil {
		e.log.Warn("read machines", "error", err) // Follow reports it too
	}
}

// followSettings applies changes until ctx ends. Unreadable settings change nothing.
func (e *engine) followSettings(ctx context.Context) {
	if e.o.Follow == nil {
		return
	}
	e.o.Follow(ctx, func(s Settings, err error) {
		if err == nil {
			err = e.host.settings.apply(s)
			e.host.history.Ignore(s.History.Ignore)
			e.host.control.ReapAfter(s.Agents.ReapAfter.Value())
			e.setMachines(s)
			e.fleet.Set(s.Fleet)
			e.log.Info("new settings")
		}
		if err != nil {
			e.host.control.PublishNotice(err.Error())
		}
	})
}
