package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/mcp"
	"tandem/ui/cli"
)

// profileNames are the sets of tools that agents can be offered.
func profileNames() []string {
	var names []string
	for _, p := range mcp.Profiles() {
		names = append(names, string(p))
	}
	return names
}

// runServer serves agents until their input ends or somebody ends it. Standard
// output is the protocol's alone; what there is to say goes to standard error.
func runServer(ctx context.Context, version string, o cli.ServeOptions) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Writing to a client that has left is an error, and no reason to die of.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	web := mcp.HTTPOptions{
		Addr: o.HTTP, DataDir: dataDir, TokenFile: o.TokenFile, Insecure: o.Insecure,
		AllowHosts: o.AllowHosts, AllowOrigins: o.AllowOrigins, Tell: os.Stderr,
	}
	options, err := serverOptions(version, o)
	options.Secrets = web.TokenFiles()
	switch {
	case err != nil:
		return err
	case o.HTTP == "":
		return mcp.Serve(ctx, options, os.Stdin, os.Stdout)
	}
	return mcp.ServeHTTP(ctx, options, web)
}

func serverOptions(version string, o cli.ServeOptions) (mcp.Options, error) {
	profiles, err := mcp.ParseProfiles(o.Profiles)
	if err != nil {
		return mcp.Options{}, err
	}
	config, err := loadConfig()
	if err != nil {
		return mcp.Options{}, err
	}
	sandbox, err := config.Agents.sandbox()
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
		Name:        o.As,
		Version:     version,
		Profiles:    profiles,
		ReadOnly:    o.ReadOnly,
		ToolPrefix:  o.ToolPrefix,
		Unbounded:   o.ReadUnbounded,
		CWD:         cwd,
		Home:        home,
		Roots:       o.Roots,
		Sandbox:     sandbox,
		NoElicit:    !config.Agents.elicits(),
		Log:         slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Conformance: o.Conformance,
	}, nil
}
