package role

import (
	"context"
	"errors"
	"fmt"
	"os"

	"tandem/engine"
	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/persist/config"
	"tandem/persist/config/settings"
	"tandem/persist/inotify"
)

// runEngine serves the data directory. An error in the configuration must not end any session, so
// it is reported and the defaults are used.
func runEngine(ctx context.Context, dataDir, version string) error {
	watches := new(inotify.Pool)
	file := config.File{Watches: watches}
	conf, err := file.Load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem engine: using the defaults: %v\n", err)
	}
	_, _ = config.LoadAgents(dataDir) // records whether a sandbox is set; errors are reported when an agent is confined
	var machines machineReader
	return engine.Run(ctx, engine.Options{
		DataDir:  dataDir,
		Version:  version,
		Watches:  watches,
		Settings: engineSettings(conf),
		Policy:   config.PolicyPath(), AgentRules: config.AgentRules(),
		Sandbox:      func() (*api.Sandbox, error) { return ownSandbox(dataDir) },
		ReadMachines: machines.readMachines,
		Follow: func(ctx context.Context, tell func(engine.Settings, error)) {
			file.Follow(ctx, func(c settings.Config, err error) {
				if err != nil {
					err = fmt.Errorf("%w; the previous settings stay in effect", config.Brief(err))
				} else if _, withdrawn := config.LoadAgents(dataDir); errors.Is(withdrawn, config.ErrWithdrawn) {
					err = withdrawn
				}
				tell(engineSettings(c), err)
			})
		},
	})
}

// A machineReader reads the machines in config.toml after a change. It is not safe for concurrent
// use.
type machineReader struct {
	file config.File
}

func (r *machineReader) readMachines() ([]transport.Machine, bool, error) {
	c, changed, err := r.file.Changed()
	if err != nil {
		return nil, false, config.Brief(err)
	}
	return machinesOf(c), changed, nil
}

// engineSettings returns the settings for the engine.
func engineSettings(c settings.Config) engine.Settings {
	return engine.Settings{
		Engine: c.Engine, History: c.History, Agents: c.Agents,
		Machines: machinesOf(c), Fleet: fleet.Config(c.Fleet),
	}
}

func machinesOf(c settings.Config) (machines []transport.Machine) {
	for name, m := range c.Machines {
		machines = append(machines, transport.Machine{Name: name, SSH: m.SSH, Transport: m.Transport, Env: m.Env})
	}
	return machines
}

// ownSandbox returns the sandbox for agents on this machine, or nil.
func ownSandbox(dataDir string) (*api.Sandbox, error) {
	conf, err := config.LoadAgents(dataDir)
	if err != nil {
		return nil, err
	}
	return access.ReadSandbox(conf.Agents.Sandbox)
}
