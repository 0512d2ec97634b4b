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

// ownName returns the name under which other machines see this engine: user@hostname.
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

// ownEnviron returns the environment for commands that connect to other machines. They do not
// belong to a session, even if the engine was started in one.
func ownEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TANDEM_SESSION_ID=") })
}

// Settings are the user's settings for an engine. They may change while it runs, and then apply to
// later starts.
type Settings struct {
	settings.Engine
	History settings.History
	Agents  settings.Agents // except the sandbox, which Options.Sandbox reads for each start

	Machines []transport.Machine // machines this engine keeps links to
	Fleet    fleet.Config        // the fleet this engine belongs to, if any
}

// setMachines updates the connections to other machines. It uses the machines in s, or reads the
// configuration if it can, because that may be newer.
func (e *engine) setMachines(s Settings) {
	if e.hosts.Read == nil {
		e.hosts.Set(s.Machines)
		return
	}
	if err := e.hosts.Refresh(); err != nil {
		e.log.Warn("read machines", "error", err) // Follow reports it too
	}
}

// followSettings applies changes of the settings until ctx ends. If the new settings cannot be
// read, the old ones stay in effect.
func (e *engine) followSettings(ctx context.Context) {
	if e.o.Follow == nil {
		return
	}
	e.o.Follow(ctx, func(s Settings, err error) {
		if err == nil {
			err = e.host.Apply(s.Engine, s.Agents.Resume)
			e.host.History.Ignore(s.History.Ignore)
			e.privacy.SetFolders(s.History.Private)
			e.host.Kept.KeepFor(s.History.KeepOutput.Value())
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
