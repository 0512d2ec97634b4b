package mcp

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/mcp/profiles/android"
	"tandem/engine/mcp/profiles/core"
	"tandem/engine/mcp/profiles/native"
	"tandem/engine/mcp/profiles/osenv"
	"tandem/engine/mcp/profiles/plugin"
	"tandem/engine/mcp/profiles/terminal"
	"tandem/engine/mcp/toolkit"
)

// toolset is the tools of the chosen profiles, in a fixed order. Of two with a
// name the native one stands back.
func toolset(o toolkit.Options) []toolkit.Tool {
	var chosen []toolkit.Tool
	for _, t := range slices.Concat(plugin.Tools(), native.Tools(), core.Tools(), osenv.Tools(), terminal.Tools(), android.Tools()) {
		t.Hosted = slices.Contains(t.Profiles, toolkit.Native) && offersOwn(o) && !unhosted(t.Name)
		if offers(o, t) && !slices.ContainsFunc(chosen, func(c toolkit.Tool) bool { return c.Name == t.Name }) {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// PolicyNames returns the names that a policy rule's tool may match: those of all tools
// and, for calls over HTTP, of all operations.
func PolicyNames() (all []string) {
	for _, t := range toolset(toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}}) {
		all = append(all, t.Name)
	}
	for _, e := range api.Operations() {
		all = append(all, e.Name)
	}
	return append(all, "events.watch", "session.attach", "engine.open")
}

// offersOwn reports whether Tandem's own tools are offered, which work on other machines.
func offersOwn(o toolkit.Options) bool {
	return slices.ContainsFunc(o.Profiles, func(p toolkit.Profile) bool {
		return p == toolkit.Native || p == toolkit.TerminalTools || p == toolkit.All
	})
}

// unhosted are tools for this machine alone.
func unhosted(name string) bool {
	return slices.Contains([]string{"machine_list", "write_output", "env_get"}, name)
}

func offers(o toolkit.Options, t toolkit.Tool) bool {
	if o.ReadOnly && t.Effect != api.Read {
		return false
	}
	return slices.ContainsFunc(o.Profiles, func(p toolkit.Profile) bool { return p.Offers(t) })
}
