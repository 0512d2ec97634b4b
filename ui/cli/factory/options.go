// Package factory holds what every command is built from: the connection to the engine of the chosen
// machine, the printer, the checks and completions of arguments and flags. A command is a function
// NewX(*Factory) that returns its cobra.Command; commands are not in this package.
package factory

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/keys"
	"tandem/persist/config/settings"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/output"
)

// Options configures the command line. Zero values mean the process's own streams and environment,
// and the engine of the data folder.
type Options struct {
	Version string
	Source

	// Connect connects to the engine and starts it if necessary.
	Connect func(ctx context.Context) (*client.Client, error)
	// Reach connects to a running engine; it never starts one.
	Reach func(ctx context.Context) (*client.Client, error)
	DataFolder
	// Dashboard opens the dashboard, for `tandem` without a command and `tandem files`.
	Dashboard func(ctx context.Context, o DashboardOptions) error
	// Serve implements `tandem --serve`; Profiles are the names for its --profile.
	Serve    func(ctx context.Context, o ServeOptions) error
	Profiles []string
	// Prefix returns the prefix keys of attach; default ctrl+b.
	Prefix func() ([]keys.Key, error)
	// Settings reads the settings that commands share with the dashboard; default those of an empty
	// file.
	Settings func() settings.Dashboard
	// Sandbox reports how well agents can be confined here; default nothing.
	Sandbox func() doctor.Sandbox
	// ConnectMachine connects to the engine of another machine; Machines is the machines' part of config.toml.
	ConnectMachine func(ctx context.Context, machine string) (*client.Client, error)
	Machines       Machines
	// Fleet is the fleet's part of config.toml.
	Fleet Fleet
	// Config gives `tandem config` and the doctor access to config.toml.
	Config ConfigFiles

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "NAME=value"

	OnHost string         // machine of this run, if the command runs on several
	Gather *output.Gather // collects the tables of such a run
	Args   []string       // after the program's name
}

// A Source is the commit that the program was built from; default what the go command recorded.
type Source struct{ Commit, Date string } // the date as in RFC 3339

// DashboardOptions configures the start of the dashboard. The zero value shows the sessions.
type DashboardOptions struct {
	Folder string // to open in the files view; a folder of another machine as api.PathOn writes it
	Name   string // entry of Folder to put the cursor on
	// OnLeave, if not nil, receives the folder of the files view when the user leaves it. The
	// dashboard then draws on the terminal itself and prints nothing at its end, because standard
	// output is for the answer.
	OnLeave func(folder string)
}

// ServeOptions configures `tandem --serve`.
type ServeOptions struct {
	HTTP          string   // address to listen on; "" for standard input and output
	Profiles      []string // names of the tool sets
	As            string   // name of this agent in the rules of policy.toml; "" for the client's own
	ReadOnly      bool     // leave out tools that change anything
	ToolPrefix    string   // put before each tool's name
	ReadUnbounded bool     // let the tool read return whole files
	Roots         []string // absolute folders to confine file tools to; none for the default
	TokenFile     string   // absolute path of the file with the bearer tokens; "" for the default
	AllowHosts    []string // host names accepted in requests, besides those of the loopback interface
	AllowOrigins  []string // origins of web pages allowed to send requests
	Insecure      bool     // allow agents over a network without TLS
}

// Machines gives access to the machines of config.toml.
type Machines struct {
	DataDir func() (string, error)
	Load    func() ([]transport.Machine, error)
	Keep    func(transport.Machine) (path string, err error)
	Forget  func(name string) (path string, err error)
	Named   func(name string) bool // reports whether a name is valid
}

// Fleet gives access to the table fleet of config.toml.
type Fleet struct {
	Load func() (fleet.Config, error)
	Keep func(fleet.Config) (path string, err error)
}

// ConfigFiles provides access to the configuration and the user's rules for agents.
type ConfigFiles struct {
	Path    func() (string, error)  // path of config.toml
	Default func() string           // a file with every default as a comment
	Check   func(text []byte) error // returns all mistakes, each with its line and a caret
	// Notes returns a line for each default key that a key of the user replaces; called if Check
	// finds nothing.
	Notes func(text []byte) []string
	// Effective returns the settings in effect with a file, as TOML and by key; null means no
	// value.
	Effective func(text []byte) (string, map[string]any, error)

	Policy      string                  // path of policy.toml
	CheckPolicy func(text []byte) error // returns the first mistake, with its line and a caret; nil text means no file
	WarnPolicy  func(text []byte) error // returns a possible mistake; called if CheckPolicy finds none

	// Sandbox returns the path of the agents' sandbox profile, "" for none, and why it cannot be
	// enforced.
	Sandbox func() (path string, err error)
	// CheckProfile returns why the sandbox profile at path cannot be enforced.
	CheckProfile func(path string) error
	// WorkProfile returns a sandbox profile for agents working in dir.
	WorkProfile func(dir string) ([]byte, error)
}

// A DataFolder answers questions about the data folder without an engine.
type DataFolder struct {
	// HasProcesses reports whether a process of the data folder runs, or may run, without an engine to
	// look after it; default no.
	HasProcesses func() bool
	// FindLost finds keepers of the data folder that are out of reach for clients; default none.
	FindLost func() []doctor.LostKeeper
	// StartsAtBoot returns the names of the sessions and processes started by a reboot; default none.
	StartsAtBoot func() []string
}

func (o Options) complete() Options {
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Connect == nil {
		o.Connect = func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: o.Version, Name: "cli"})
		}
	}
	if o.Reach == nil {
		o.Reach = func(ctx context.Context) (*client.Client, error) {
			return client.Connect(ctx, client.Options{Version: o.Version, Name: "cli"})
		}
	}
	if o.ConnectMachine == nil {
		o.ConnectMachine = func(ctx context.Context, machine string) (*client.Client, error) {
			return client.ConnectMachine(ctx, client.Options{Version: o.Version, Name: "cli"}, machine)
		}
	}
	if o.Machines.Load == nil {
		o.Machines = noMachines()
	}
	if o.Fleet.Load == nil {
		o.Fleet = noFleet()
	}
	if o.FindLost == nil {
		o.FindLost = func() []doctor.LostKeeper { return nil }
	}
	if o.HasProcesses == nil {
		o.HasProcesses = func() bool { return false }
	}
	if o.StartsAtBoot == nil {
		o.StartsAtBoot = func() []string { return nil }
	}
	if o.Prefix == nil {
		o.Prefix = func() ([]keys.Key, error) { return nil, nil }
	}
	if o.Settings == nil {
		o.Settings = func() settings.Dashboard { return settings.Defaults().Dashboard }
	}
	return o
}

func noMachines() Machines {
	return Machines{
		DataDir: api.DataDir,
		Load:    func() ([]transport.Machine, error) { return nil, nil },
		Keep:    func(transport.Machine) (string, error) { return "", errors.New("there is no configuration") },
		Forget:  func(string) (string, error) { return "", errors.New("there is no configuration") },
		Named:   func(string) bool { return false },
	}
}

func noFleet() Fleet {
	return Fleet{
		Load: func() (fleet.Config, error) { return fleet.Config{}, nil },
		Keep: func(fleet.Config) (string, error) { return "", errors.New("there is no configuration") },
	}
}

// Printer returns a printer to the streams of o.
func (o Options) Printer() output.Printer {
	t := o.Env("TERM")
	return output.Printer{Stdout: o.Stdout, Stderr: o.Stderr, Colour: o.Env("NO_COLOR") == "" && t != "dumb" && t != "", Host: o.OnHost, Gather: o.Gather}
}

// Env returns an environment variable, or "".
func (o Options) Env(name string) string {
	value, _ := o.LookupEnv(name)
	return value
}

// LookupEnv returns an environment variable and whether it is set.
func (o Options) LookupEnv(name string) (value string, ok bool) {
	// The last setting of a variable wins, as in os/exec.
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
