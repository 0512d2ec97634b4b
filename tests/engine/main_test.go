// Package engine tests an engine and a keeper with real children: crashes, stopped trees, sandboxes
// and terminals. The test binary itself plays both roles.
package engine

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/engine/control/host"
	"tandem/engine/control/launch"
	"tandem/engine/system/keeper"
	"tandem/engine/system/sandbox"
	"tandem/persist/config/settings"
	"tandem/tests/leaks"
)

// The test binary is also the keeper and the engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		fmt.Fprintln(os.Stderr, sandbox.Launch(os.Args[2:]))
		os.Exit(126)
	}
	if len(os.Args) == 4 && os.Args[1] == "call" {
		os.Exit(runCall(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 4 && (os.Args[1] == "hand-on" || os.Args[1] == "handed") {
		os.Exit(runHandOn(os.Args[1], os.Args[2], os.Args[3]))
	}
	if len(os.Args) > 1 && os.Args[1] == "flood" {
		os.Exit(runFlood(os.Args[2:]))
	}
	if len(os.Args) == 2 {
		switch role := os.Args[1]; role {
		case "repl":
			os.Exit(runREPL())
		case "listen":
			os.Exit(runListen())
		case "keeper", "engine":
			os.Exit(runRole(role))
		}
	}
	leaks.Main(suite{m})
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
				DataDir:   dir,
				Socket:    socket,
				Engine:    []string{"engine"},
				EnginePID: launch.KeeperEnginePID(),
			}, os.Stdout)
		case "engine":
			o := engine.Options{DataDir: dir, Version: "1.2.3", Settings: engine.Settings{Engine: settings.Defaults().Engine, History: settings.Defaults().History, Agents: settings.Agents{Resume: host.ResumeOffer}}}
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
