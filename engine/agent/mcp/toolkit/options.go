package toolkit

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// Options configures a server.
type Options struct {
	// Connect connects to the engine, starting one if necessary, as the given client. Usually
	// client.Activate with its Name, Owner and Bounds.
	Connect func(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error)
	// Far connects to the engine of another machine as the same client. Usually
	// client.ConnectMachine. nil: no other machines.
	Far     func(ctx context.Context, machine, name, owner string, bounds *api.Bounds) (*client.Client, error)
	Name    string // the user's name for the agent, matched by policy rules; may be ""
	Version string // sent to clients

	Profiles   []Profile // sets of tools to offer; default Native
	ReadOnly   bool      // omit tools changing anything
	ToolPrefix string    // put before each tool's name
	Unbounded  bool      // read returns whole files
	NoMachines bool      // omit machine_list and the argument for another machine

	CWD     string       // base of relative paths and working folder of commands, absolute
	Home    string       // the home folder, absolute
	Roots   []string     // folders open to file tools; default: CWD and the profiles' own
	Sandbox *api.Sandbox // for everything done for agents, combined with a call's own; nil: none
	Secrets []string     // absolute paths of files hidden by the sandbox if they exist at startup

	NoElicit bool         // never ask the user through the agent's own program
	Log      *slog.Logger // internal errors; nil: discarded
}

// WithDefaults returns the options with defaults filled in.
func (o Options) WithDefaults() Options {
	if len(o.Profiles) == 0 {
		o.Profiles = []Profile{Native}
	}
	if len(o.Roots) > 0 {
		if !slices.ContainsFunc(o.Roots, func(root string) bool { return isWithin(root, o.CWD) }) {
			o.CWD = o.Roots[0]
		}
		return o
	}
	o.Roots = defaultRoots(o)
	return o
}

// HideSecrets returns the options with a sandbox hiding the secrets. Missing files are left out,
// because hiding one would make its folder impossible to list.
func (o Options) HideSecrets() Options {
	if o.Sandbox == nil {
		return o
	}
	s := *o.Sandbox
	// The caller's sandbox must not change.
	s.Filesystem.DenyRead = slices.Clone(s.Filesystem.DenyRead)
	for _, path := range o.Secrets {
		if _, err := os.Stat(path); err == nil && !slices.Contains(s.Filesystem.DenyRead, path) {
			s.Filesystem.DenyRead = append(s.Filesystem.DenyRead, path)
		}
	}
	o.Sandbox = &s
	return o
}

// Bounds returns the bounds of the server's agents in the engine.
func (o Options) Bounds() *api.Bounds {
	return &api.Bounds{Name: o.Name, Sandbox: o.Sandbox, Roots: o.Roots, Base: o.CWD, ReadOnly: o.ReadOnly, ToolsOnly: true, Elicits: !o.NoElicit}
}

// isWithin reports whether a cleaned absolute path is root or below it.
func isWithin(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// A Profile is a named set of tools, fixed when the server starts.
type Profile string

const (
	Native   Profile = "native"
	Core     Profile = "core"
	Android  Profile = "android"
	OS       Profile = "os"
	Terminal Profile = "terminal"
	Plugin   Profile = "plugin"
	All      Profile = "all" // all tools of the others, each once

	TerminalTools Profile = "terminal-tools" // Native without file tools
)

// Profiles returns all profiles.
func Profiles() []Profile {
	return []Profile{Native, TerminalTools, Core, Android, OS, Terminal, Plugin, All}
}

// Offers reports whether the chosen profiles offer the tool called name, which belongs to the
// profiles in the list in.
func (o *Options) Offers(name string, in ...Profile) bool {
	return slices.ContainsFunc(o.Profiles, func(p Profile) bool { return p.Offers(Tool{Name: name, Profiles: in}) })
}

// Offers reports whether a profile offers a tool.
func (p Profile) Offers(t Tool) bool {
	switch p {
	case All:
		return true
	case TerminalTools:
		return slices.Contains(t.Profiles, Native) && !t.Files
	}
	return slices.Contains(t.Profiles, p)
}

// ParseProfiles parses profile names; each string may hold several, separated by commas.
func ParseProfiles(names []string) ([]Profile, error) {
	var chosen []Profile
	for _, name := range strings.Split(strings.Join(names, ","), ",") {
		p := Profile(strings.TrimSpace(name))
		if p == "" {
			continue
		}
		if !slices.Contains(Profiles(), p) {
			return nil, fmt.Errorf("profile %q: must be native, terminal-tools, core, android, os, terminal, plugin or all", name)
		}
		if !slices.Contains(chosen, p) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		chosen = []Profile{Native}
	}
	return chosen, nil
}

// defaultRoots returns the default folders for file tools: the working folder and the folder for
// reports, or the whole home folder for profiles made for the user's files.
func defaultRoots(o Options) []string {
	home := filepath.Join(o.Home, "outputs")
	if slices.ContainsFunc(o.Profiles, func(p Profile) bool { return p == Core || p == Android || p == Plugin || p == All }) {
		home = o.Home
	}
	if o.Home == "" {
		return []string{o.CWD}
	}
	return []string{o.CWD, home}
}

// WithoutSessions is the first protocol version without sessions: every request stands alone.
const WithoutSessions = "2026-07-28"
