package role

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"tandem/engine/agent/access"
	"tandem/engine/agent/mcp"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/config"
	"tandem/ui/cli/factory"
)

// runServer serves agents until their input ends or a signal arrives. Standard output carries only
// the protocol; messages go to standard error.
func runServer(ctx context.Context, version string, o factory.ServeOptions) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Writing to a disconnected client must fail with an error, not kill the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	web := mcp.HTTPOptions{
		Addr: o.HTTP, DataDir: dataDir, TokenFile: o.TokenFile, Insecure: o.Insecure,
		AllowHosts: o.AllowHosts, AllowOrigins: o.AllowOrigins, Notices: os.Stderr,
	}
	options, err := serverOptions(dataDir, version, o)
	options.Secrets = web.TokenFiles()
	switch {
	case err != nil:
		return err
	case o.HTTP == "":
		// The server only relays one call at a time. Waking other threads would cost more than they
		// save.
		runtime.GOMAXPROCS(1)
		return mcp.Serve(ctx, options, os.Stdin, os.Stdout)
	}
	return mcp.ServeHTTP(ctx, options, web)
}

func serverOptions(dataDir, version string, o factory.ServeOptions) (mcp.Options, error) {
	profiles, err := mcp.ParseProfiles(o.Profiles)
	if err != nil {
		return mcp.Options{}, err
	}
	conf, err := config.LoadAgents(dataDir)
	if err != nil { // the sandbox is unknown
		return mcp.Options{}, fmt.Errorf("agents are not served until this is fixed: %w", err)
	}
	sandbox, err := access.ReadSandbox(conf.Agents.Sandbox)
	if err != nil {
		return mcp.Options{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return mcp.Options{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	return mcp.Options{
		Connect: func(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: name, Owner: owner, Bounds: bounds})
		},
		Far: func(ctx context.Context, machine, name, owner string, bounds *api.Bounds) (*client.Client, error) {
			return client.ConnectMachine(ctx, client.Options{Version: version, Name: name, Owner: owner, Bounds: bounds}, machine)
		},
		Name:       o.As,
		Version:    version,
		Profiles:   profiles,
		ReadOnly:   o.ReadOnly,
		ToolPrefix: o.ToolPrefix,
		Unbounded:  o.ReadUnbounded,
		NoMachines: len(conf.Machines) == 0,
		CWD:        cwd,
		Home:       home,
		Roots:      o.Roots,
		Sandbox:    sandbox,
		NoElicit:   !conf.Agents.Elicit,
		Log:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, nil
}
