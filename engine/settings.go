package engine

import (
	"context"
	"os"
	"os/user"
	"slices"
	"strings"

	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/persist/config/settings"
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
			err = e.host.Apply(s.Engine, s.Agents.Resume)
			e.host.History.Ignore(s.History.Ignore)
			e.host.Control.ReapAfter(s.Agents.ReapAfter.Value())
			e.setMachines(s)
			e.fleet.Set(s.Fleet)
			e.log.Info("new settings")
		}
		if err != nil {
			e.host.Control.PublishNotice(err.Error())
		}
	})
}
