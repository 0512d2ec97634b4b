package mcp

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/engine/control/launch"
	"tandem/engine/system/keeper"
	"tandem/engine/system/sandbox"
	"tandem/persist/config/settings"
	"tandem/tests/leaks"
	"tandem/ui/cli"
	"tandem/ui/cli/factory"
)

// policyName is the policy file in the data directory of a test's engine.
const policyName = "policy.toml"

// The test binary also serves as keeper, engine and command shell for tests with real ones.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		fmt.Fprintln(os.Stderr, sandbox.Launch(os.Args[2:]))
		os.Exit(126)
	}
	if len(os.Args) > 1 && os.Args[1] == "shell" {
		os.Exit(cli.Main(context.Background(), factory.Options{Version: "1.2.3"}, os.Args[1:]))
	}
	if len(os.Args) == 2 {
		switch role := os.Args[1]; role {
		case "keeper", "engine":
			os.Exit(runRole(role))
		}
	}
	if addr := os.Getenv("TANDEM_CONFORMANCE"); addr != "" {
		os.Exit(runConformance(addr))
	}
	leaks.Main(homeless{m})
}

// homeless runs tests with an empty home, so that shells do not read the user's start-up files.
type homeless struct{ *testing.M }

func (m homeless) Run() int {
	home, err := os.MkdirTemp("", "tdhome")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	defer stopIdle()
	os.Setenv("HOME", home)
	return m.M.Run()
}

// runConformance serves the protocol's conformance suite until interrupted.
func runConformance(addr string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serveConformance(ctx, addr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runRole(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	dir, err := api.DataDir()
	if err == nil {
		_, socket := sockets.Paths(dir)
		switch role {
		case "keeper":
			err = keeper.Main(ctx, keeper.Options{
				DataDir: dir, Socket: socket, Engine: []string{"engine"}, EnginePID: launch.KeeperEnginePID(),
			}, os.Stdout)
		case "engine":
			o := engine.Options{DataDir: dir, Version: "1.2.3", Policy: filepath.Join(dir, policyName)}
			o.Settings.Engine = settings.Defaults().Engine
			o.Shell = []string{"/bin/sh"}
			err = engine.Run(ctx, o)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	return 0
}
