package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/engine/agent/mcp"
	"tandem/engine/agent/policy"
	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/engine/system/proctree"
	"tandem/keys"
	"tandem/persist/config"
	"tandem/persist/config/settings"
	"tandem/persist/datadir"
	"tandem/persist/store"
	"tandem/ui/cli"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
)

// runClient runs the roles with a user: the dashboard, the commands and the agents' server.
func runClient(args []string, b Build) int {
	return cli.Main(context.Background(), factory.Options{
		Version:    b.Version,
		Source:     factory.Source{Commit: b.Commit, Date: b.Date},
		DataFolder: factory.DataFolder{HasProcesses: hasLiveProcesses, FindLost: lostKeepers, StartsAtBoot: startsAtBoot},
		Dashboard: func(ctx context.Context, o factory.DashboardOptions) error {
			return runDashboard(ctx, b.Version, o)
		},
		Serve: func(ctx context.Context, o factory.ServeOptions) error {
			return runServer(ctx, b.Version, o)
		},
		Machines: factory.Machines{
			DataDir: api.DataDir,
			Load:    func() ([]transport.Machine, error) { c, err := config.Load(); return machinesOf(c), err },
			Keep: func(m transport.Machine) (string, error) {
				return config.KeepMachine(m.Name, settings.Machine{SSH: m.SSH, Transport: m.Transport, Env: m.Env})
			},
			Forget: config.ForgetMachine,
			Named:  settings.MachineName,
		},
		Fleet: factory.Fleet{
			Load: func() (fleet.Config, error) { c, err := config.Load(); return fleet.Config(c.Fleet), err },
			Keep: func(c fleet.Config) (string, error) { return config.KeepFleet(settings.Fleet(c)) },
		},
		Profiles: profileNames(),
		Prefix: func() ([]keys.Key, error) {
			bindings, err := loadBindings()
			return bindings.PrefixKeys(), err
		},
		Settings: func() settings.Dashboard {
			conf, err := config.Load()
			if err != nil {
				conf.Clipboard = false // a file with mistakes may be wrong about this
			}
			return conf.Dashboard
		},
		Sandbox: sandboxHere,
		Config:  configFiles(),
	}, args)
}

// loadRecords reads the records of the data directory, if there is one.
func loadRecords() (records []store.Record, unread bool) {
	dir, err := api.DataDir()
	if err != nil {
		return nil, false
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	data, err := store.Open(dir)
	if err != nil {
		return nil, true
	}
	records, problems := data.Load()
	return records, len(problems) > 0
}

// startsAtBoot returns the names of the sessions and processes started by a reboot.
func startsAtBoot() (names []string) {
	records, _ := loadRecords()
	for _, r := range records {
		if supervise.WillStartAtBoot(r) {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// hasLiveProcesses reports whether a process of the data directory is alive, with or without an
// engine. Unreadable records count as alive.
func hasLiveProcesses() bool {
	records, unread := loadRecords()
	return unread || slices.ContainsFunc(records, func(r store.Record) bool {
		// Without an identity the program is not running yet, but may be about to.
		if r.Identity == nil {
			return r.State == string(api.StateStarting) || r.State == string(api.StateWaiting)
		}
		return r.Identity.Alive()
	})
}

// lostKeepers returns the keepers whose data directory was deleted. If the search fails it returns
// none, so that the doctor can report everything else.
func lostKeepers() []doctor.LostKeeper {
	dir, err := api.DataDir()
	if err != nil {
		return nil
	}
	found, err := proctree.FindLost(dir)
	if err != nil {
		return nil
	}
	var lost []doctor.LostKeeper
	for _, l := range found {
		var programs []string
		for _, p := range l.Programs {
			programs = append(programs, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
		}
		lost = append(lost, doctor.LostKeeper{Keeper: l.Keeper, Programs: programs, End: l.End})
	}
	return lost
}

// profileNames returns the names of the tool sets for agents.
func profileNames() []string {
	var names []string
	for _, p := range mcp.Profiles() {
		names = append(names, string(p))
	}
	return names
}

// configFiles returns the functions used by `tandem config`.
func configFiles() factory.ConfigFiles {
	return factory.ConfigFiles{
		Path:    config.Path,
		Default: config.Default,
		Check: func(text []byte) error {
			_, err := config.Parse(text)
			return err
		},
		Notes:       config.ReplacedKeys,
		Effective:   config.Effective,
		Policy:      config.PolicyPath(),
		CheckPolicy: checkPolicy,
		WarnPolicy: func(text []byte) error {
			if err := policy.CheckLists(text); err != nil {
				return err
			}
			return policy.CheckAgents(text, mcp.TokenNames(filepath.Join(dataDirOrNone(), datadir.AgentTokens)))
		},
		Sandbox: func() (string, error) {
			here := sandboxHere()
			return here.Profile, here.Fault
		},
		CheckProfile: func(path string) error { return checkEnforceable(settings.Agents{Sandbox: path}) },
		WorkProfile:  workProfile,
	}
}

// checkPolicy returns the first mistake in policy.toml, or why it is not in effect.
func checkPolicy(text []byte) error {
	if err := policy.CheckTools(text, mcp.PolicyNames()); err != nil {
		return err
	}
	kept, err := store.LastPolicy(dataDirOrNone())
	if err != nil {
		return fmt.Errorf("the last valid policy cannot be read: %w", err)
	}
	_, _, err = policy.InEffect(text, nil, kept)
	return err
}

// dataDirOrNone returns the data directory; "" if it is unknown, a fault reported by the doctor.
func dataDirOrNone() string {
	dir, err := api.DataDir()
	if err != nil {
		return ""
	}
	return dir
}
