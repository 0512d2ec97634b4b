// Package role chooses which role of Tandem a process plays and wires it: one of
// the clients (dashboard, commands, agents' server), the engine, the keeper or
// the launch stage. Beside main, it is the only package that may import both ui
// and engine. See ARCHITECTURE.md.
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

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/engine/sandbox"
	"tandem/ui/cli"
)

// Run plays the role that argv (a program's name and arguments) asks for and
// returns the exit status. version is the running program's.
func Run(argv []string, version string) int {
	args, err := cli.UseHome(cli.Arguments(argv))
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
		return 2
	}
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

// runLaunch becomes a confined program. It returns only if that could not be
// started, with the exit status that shells, env(1) and timeout(1) use then.
func runLaunch(args []string) int {
	err := sandbox.Launch(args)
	fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// background runs a role without a terminal until SIGTERM.
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

// runKeeper holds terminals and children. Its standard output is a pipe on
// which the client that started it waits for one line.
func runKeeper(ctx context.Context, dataDir string) error {
	_, socket := api.Sockets(dataDir)
	proctree.LeaveChildCgroup()
	return keeper.Main(ctx, keeper.Options{
		DataDir:   dataDir,
		Socket:    socket,
		Engine:    []string{"engine"},
		EnginePID: engine.KeeperEnginePID(),
	}, os.Stdout)
}
