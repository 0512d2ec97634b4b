// Tandem is a terminal and process manager for a person and their agents.
//
// One executable has several roles. Most calls are clients: the dashboard and
// the command-line verbs. Two roles run in the background and are started by
// the first client: the keeper, which holds terminals and children, and the
// engine, which knows what to do with them. See ARCHITECTURE.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/sandbox"
	"tandem/keys"
	"tandem/ui"
	"tandem/ui/cli"
)

// version is what --version prints and what decides whether a client replaces
// a running engine. Releases set it with -ldflags "-X main.version=…".
var version = "0.1.0"

func main() {
	os.Exit(run(os.Args[1:], version))
}

// run chooses the role and returns the exit status.
func run(args []string, version string) int {
	if len(args) == 1 && args[0] == "keeper" {
		return background(args[0], runKeeper)
	}
	if len(args) == 1 && args[0] == "engine" {
		return background(args[0], func(ctx context.Context, dataDir string) error {
			return runEngine(ctx, dataDir, version)
		})
	}
	if len(args) > 0 && args[0] == "launch" {
		// It returns only when the program was not started.
		fmt.Fprintf(os.Stderr, "tandem: %v\n", sandbox.Launch(args[1:]))
		return 126
	}
	return runClient(args, version)
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
	config, err := loadConfig()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem engine: using the defaults: %v\n", err)
	}
	reapAfter, _ := config.Agents.reapAfter() // it was checked
	return engine.Run(ctx, engine.Options{
		DataDir:    dataDir,
		Version:    version,
		Shell:      config.Shell,
		Emulator:   config.Emulator,
		Scrollback: config.Scrollback,
		LogLimit:   config.LogLimit,

		ProcessLogLimit:  config.ProcessLogLimit,
		ShellIntegration: config.ShellIntegration,
		HistoryIgnore:    config.History.Ignore,
		Policy:           policyPath(),
		ReapAfter:        reapAfter,
	})
}

// runClient is every role that somebody sits in front of.
func runClient(args []string, version string) int {
	return cli.Main(context.Background(), cli.Options{
		Version: version,
		Connect: func(ctx context.Context) (*api.Client, error) {
			return api.Activate(ctx, api.ConnectOptions{Version: version, Name: "cli"})
		},
		Reach: func(ctx context.Context) (*api.Client, error) {
			return api.Connect(ctx, api.ConnectOptions{Version: version, Name: "cli"})
		},
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
	}, args)
}

func runDashboard(ctx context.Context, version string) error {
	config, err := loadConfig()
	if err != nil {
		return err
	}
	bindings, err := config.bindings()
	if err != nil {
		return err
	}
	return ui.Run(ctx, ui.Options{
		Connect: func(ctx context.Context) (*api.Client, error) {
			return api.Activate(ctx, api.ConnectOptions{Version: version, Name: "dashboard"})
		},
		Bindings: bindings,
		Theme:    config.Theme,

		ThemeDark: config.ThemeDark, ThemeLight: config.ThemeLight,
		Version: version,
	})
}

// loadBindings are the keys as configured.
func loadBindings() (keys.Bindings, error) {
	config, err := loadConfig()
	if err != nil {
		return keys.Bindings{}, err
	}
	return config.bindings()
}
