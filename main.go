// Tandem is a terminal and process manager for a person and their agents.
//
// One executable has several roles. Most calls are clients: the dashboard and
// the command-line verbs. Two roles run in the background and are started by
// the first client: the keeper, which holds terminals and children, and the
// engine, which knows what to do with them. See ARCHITECTURE.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/keeper"
	"tandem/engine/sandbox"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/persist/store"
	"tandem/ui"
	"tandem/ui/cli"
)

// version is what --version prints and what decides whether a client replaces
// a running engine. Releases set it with -ldflags "-X main.version=…".
var version = "0.2.0"

func main() {
	os.Exit(run(os.Args[1:], version))
}

// run chooses the role and returns the exit status.
func run(args []string, version string) int {
	switch {
	case len(args) == 1 && args[0] == "keeper":
		return background(args[0], runKeeper)
	case len(args) == 1 && args[0] == "engine":
		return background(args[0], func(ctx context.Context, dataDir string) error {
			return runEngine(ctx, dataDir, version)
		})
	case len(args) > 0 && args[0] == "launch":
		return runLaunch(args[1:])
	}
	return runClient(args, version)
}

// runLaunch becomes a confined program. It returns only when that was not
// started, with the exit status that shells, env(1) and timeout(1) have then.
func runLaunch(args []string) int {
	err := sandbox.Launch(args)
	fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// background runs a role that nobody sits in front of, until SIGTERM.
func background(role string, run func(ctx context.Context, dataDir string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	dataDir, err := api.DataDir()
	if err == nil {
		err = run(ctx, dataDir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem %s: %v\n", role, err)
		return 1
	}
	return 0
}

// runKeeper holds terminals and children. Its standard output is the pipe on
// which the client that started it waits for one line.
func runKeeper(ctx context.Context, dataDir string) error {
	_, socket := api.Sockets(dataDir)
	return keeper.Main(ctx, keeper.Options{
		DataDir:   dataDir,
		Socket:    socket,
		Engine:    []string{"engine"},
		EnginePID: engine.KeeperEnginePID(),
	}, os.Stdout)
}

// runEngine serves the data folder. A mistake in the configuration must not
// cost anybody a session, so it is reported and the defaults are used.
func runEngine(ctx context.Context, dataDir, version string) error {
	var file configFile
	config, err := file.load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem engine: using the defaults: %v\n", err)
	}
	return engine.Run(ctx, engine.Options{
		DataDir:  dataDir,
		Version:  version,
		Settings: config.engine(),
		Policy:   policyPath(),
		Follow: func(ctx context.Context, tell func(engine.Settings, error)) {
			file.follow(ctx, func(c Config, err error) {
				if err != nil {
					err = fmt.Errorf("%w; what held before still does", brief(err))
				}
				tell(c.engine(), err)
			})
		},
	})
}

// engine is what the configuration says of what is started.
func (c Config) engine() engine.Settings {
	reapAfter, _ := c.Agents.reapAfter() // it was checked
	return engine.Settings{
		Shell: c.Shell, Emulator: c.Emulator, Scrollback: c.Scrollback,
		LogLimit: c.LogLimit, ProcessLogLimit: c.ProcessLogLimit,
		ShellIntegration: c.ShellIntegration, HistoryIgnore: c.History.Ignore,
		ReapAfter: reapAfter,
	}
}

// runClient is every role that somebody sits in front of.
func runClient(args []string, version string) int {
	return cli.Main(context.Background(), cli.Options{
		Version: version,
		Connect: func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: "cli"})
		},
		Reach: func(ctx context.Context) (*client.Client, error) {
			return client.Connect(ctx, client.Options{Version: version, Name: "cli"})
		},
		Alive: somethingLives,
		Dashboard: func(ctx context.Context) error {
			return runDashboard(ctx, version)
		},
		Serve: func(ctx context.Context, o cli.ServeOptions) error {
			return runServer(ctx, version, o)
		},
		Profiles: profileNames(),
		Prefix: func() ([]keys.Key, error) {
			bindings, err := loadBindings()
			return bindings.PrefixKeys(), err
		},
		NoClipboard: func() bool {
			config, err := loadConfig()
			return err != nil || config.noClipboard() // which it says may be what is mistaken
		},
		Sandbox: sandboxHere,
		Config:  configVerbs(),
	}, args)
}

// runDashboard shows the dashboard. A mistake in the configuration keeps nobody
// from their sessions: the dashboard says what it is, and goes on once it is
// mended.
func runDashboard(ctx context.Context, version string) error {
	var file configFile
	config, err := file.load()
	settings := config.dashboard()
	if err != nil {
		settings.Fault = brief(err).Error()
	}
	showTips, hideTips := tips(config)
	return ui.Run(ctx, ui.Options{
		Connect: func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: "dashboard"})
		},
		Settings: settings,
		Follow: func(ctx context.Context, tell func(ui.Settings)) {
			file.follow(ctx, func(c Config, err error) {
				settings := c.dashboard()
				if err != nil {
					settings.Fault = brief(err).Error()
				}
				tell(settings)
			})
		},
		KeepTheme: keepTheme,
		Tips:      showTips,
		HideTips:  hideTips,
		Version:   version,
	})
}

// dashboard is what the configuration says of the dashboard.
func (c Config) dashboard() ui.Settings {
	bindings, _ := c.bindings() // they were checked
	return ui.Settings{
		Bindings: bindings,
		Theme:    c.Theme, ThemeDark: c.ThemeDark, ThemeLight: c.ThemeLight,
		NoMouse:     c.Mouse != nil && !*c.Mouse,
		NoClipboard: c.noClipboard(),
		Pictures:    c.Pictures,
		FileIcons:   c.Icons != nil && *c.Icons,
		Attention:   c.Attention.options(),
	}
}

// noClipboard says whether programs are kept from the clipboard.
func (c Config) noClipboard() bool { return c.Clipboard != nil && !*c.Clipboard }

// loadBindings are the keys as configured.
func loadBindings() (keymap.Bindings, error) {
	config, err := loadConfig()
	if err != nil {
		return keymap.Bindings{}, err
	}
	return config.bindings()
}

// somethingLives reports whether a process of the data folder is alive, whoever
// looks after it. What cannot be found out counts as alive.
func somethingLives() bool {
	dir, err := api.DataDir()
	if err != nil {
		return false
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	data, err := store.Open(dir)
	if err != nil {
		return true
	}
	records, problems := data.Load()
	return len(problems) > 0 || slices.ContainsFunc(records, func(r store.Record) bool {
		if r.Identity == nil {
			return r.State == string(api.StateStarting)
		}
		return r.Identity.Alive()
	})
}
