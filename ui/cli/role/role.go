// Package role selects the role of a process from its arguments and wires it: a client (dashboard,
// commands, agents' server), the engine, the keeper, or the launch stage. Besides main, it is the
// only package that may import both ui and engine. See ARCHITECTURE.md.
package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/engine/base/scope"
	"tandem/engine/control/launch"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/engine/system/sandbox"
	"tandem/ui/cli"
)

// A Build identifies the running program. Commit and Date are those of its source, the date as in
// RFC 3339; "" if unknown.
type Build struct{ Version, Commit, Date string }

// Run runs the role selected by argv (a program's name and arguments) and returns the exit status.
func Run(argv []string, b Build) int {
	args, err := cli.UseHome(cli.Arguments(argv))
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
		return 2
	}
	switch {
	case len(args) == 1 && args[0] == "keeper":
		return runBackground(args[0], runKeeper)
	case len(args) == 1 && args[0] == "engine":
		return runBackground(args[0], func(ctx context.Context, dataDir string) error {
			return runEngine(ctx, dataDir, b.Version)
		})
	case len(args) > 0 && args[0] == "launch":
		return runLaunch(args[1:])
	}
	return runClient(args, b)
}

// runLaunch replaces this process with a confined program. It returns only if that fails, with the
// exit status used by shells, env(1) and timeout(1).
func runLaunch(args []string) int {
	err := sandbox.Launch(args)
	fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// runBackground runs a role without a terminal until SIGTERM.
func runBackground(role string, run func(ctx context.Context, dataDir string) error) int {
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

// runKeeper runs the keeper of terminals and children. Its standard output is a pipe on which the
// client that started it waits for one line.
func runKeeper(ctx context.Context, dataDir string) error {
	_, socket := sockets.Paths(dataDir)
	scope.Await(os.Stdin)
	proctree.LeaveChildCgroup()
	return keeper.Main(ctx, keeper.Options{
		DataDir:   dataDir,
		Socket:    socket,
		Engine:    []string{"engine"},
		EnginePID: launch.KeeperEnginePID(),
	}, os.Stdout)
}
