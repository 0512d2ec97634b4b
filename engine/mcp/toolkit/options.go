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

// Options configure a server.
type Options struct {
	// Connect reaches the engine, and starts one if need be, as the given
	// client: client.Activate with its Name, Owner and Bounds.
	Connect func(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error)
	// Far reaches the engine of another machine as the same client:
	// client.ConnectMachine. nil: there are none.
	Far     func(ctx context.Context, machine, name, owner string, bounds *api.Bounds) (*client.Client, error)
	Name    string // what the person calls the agent, for rules of the policy; "" if they did not say
	Version string // told to clients

	Profiles   []Profile // which tools are offered; default Native
	ReadOnly   bool      // leave out the tools that change anything
	ToolPrefix string    // put before each tool's name
	Unbounded  bool      // read gives whole files

	CWD     string       // where relative paths begin and commands run, absolute
	Home    string       // the home folder, absolute
	Roots   []string     // folders that file tools are confined to; default CWD and what the profile adds
	Sandbox *api.Sandbox // of all that is done for agents; what asks for one of its own is held to both. nil: none
	Secrets []string     // absolute paths of files that the sandbox hides, if they are there when the server starts

	NoElicit bool         // never ask the person through the agent's own program
	Log      *slog.Logger // mistakes of our own; default nowhere
}

// Complete fills in what has a default.
func (o Options) Complete() Options {
	if len(o.Profiles) == 0 {
		o.Profiles = []Profile{Native}
	}
	if len(o.Roots) > 0 {
		if !slices.ContainsFunc(o.Roots, func(root string) bool { return within(root, o.CWD) }) {
			o.CWD = o.Roots[0]
		}
		return o
	}
	o.Roots = defaultRoots(o)
	return o
}

// Hiding is the options with a sandbox that hides the secrets. One that is not
// there would keep its folder from being listed.
func (o Options) Hiding() Options {
	if o.Sandbox == nil {
		return o
	}
	s := *o.Sandbox
	s.Filesystem.DenyRead = slices.Clone(s.Filesystem.DenyRead)
	for _, path := range o.Secrets {
		if _, err := os.Stat(path); err == nil && !slices.Contains(s.Filesystem.DenyRead, path) {
			s.Filesystem.DenyRead = append(s.Filesystem.DenyRead, path)
		}
	}
	o.Sandbox = &s
	return o
}

// Bounds are what the engine holds the server's agents to.
func (o Options) Bounds() *api.Bounds {
	return &api.Bounds{Name: o.Name, Sandbox: o.Sandbox, Roots: o.Roots, Base: o.CWD, ReadOnly: o.ReadOnly}
}

// within reports whether a cleaned absolute path is root or below it.
func within(root, path string) bool {
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
	All      Profile = "all" // every tool of the others, each once

	TerminalTools Profile = "terminal-tools" // Native without the tools for files
)

// Profiles lists all profiles.
func Profiles() []Profile {
	return []Profile{Native, TerminalTools, Core, Android, OS, Terminal, Plugin, All}
}

// Offers reports whether the chosen profiles have a tool that some other ones have.
func (o *Options) Offers(name string, in ...Profile) bool {
	return slices.ContainsFunc(o.Profiles, func(p Profile) bool { return p.Offers(Tool{Name: name, Profiles: in}) })
}

// Offers reports whether a profile has a tool.
func (p Profile) Offers(t Tool) bool {
	switch p {
	case All:
		return true
	case TerminalTools:
		return slices.Contains(t.Profiles, Native) && !t.Files
	}
	return slices.Contains(t.Profiles, p)
}

// ParseProfiles reads names, each of which may be a list with commas.
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

// defaultRoots are the folders that file tools are confined to if nothing else
// was said: the working folder, and where write_output writes; for profiles whose
// tools are for the files of a person, the home folder.
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

// WithoutSessions is the first version of the protocol in which every request
// stands alone.
const WithoutSessions = "2026-07-28"
