package mcp

import (
	"slices"

	"tandem/engine/agent/mcp/profiles/android"
	"tandem/engine/agent/mcp/profiles/core"
	"tandem/engine/agent/mcp/profiles/native"
	"tandem/engine/agent/mcp/profiles/osenv"
	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/profiles/terminal"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// selectTools returns the tools of the chosen profiles in a fixed order. If two tools have the same
// name, a compatibility profile's takes precedence over the native one.
func selectTools(o toolkit.Options) []toolkit.Tool {
	var chosen []toolkit.Tool
	for _, t := range slices.Concat(plugin.Tools(), native.Tools(), core.Tools(), osenv.Tools(o.ReadOnly), terminal.Tools(), android.Tools()) {
		t.Hosted = slices.Contains(t.Profiles, toolkit.Native) && offersNativeTools(o) && !o.NoMachines && !isLocalOnly(t.Name)
		if offersTool(o, t) && !slices.ContainsFunc(chosen, func(c toolkit.Tool) bool { return c.Name == t.Name }) {
			chosen = append(chosen, t)
		}
	}
	return withUses(chosen)
}

// PolicyNames returns the names a policy rule's tool may match: all tools and, for calls over HTTP,
// all operations.
func PolicyNames() (all []string) {
	for _, t := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}}) {
		all = append(all, t.Name)
	}
	for _, e := range api.Operations() {
		all = append(all, e.Name)
	}
	return append(all, "events.watch", "session.attach", "engine.open")
}

// offersNativeTools reports whether the options include Tandem's own tools, which can work on other
// machines.
func offersNativeTools(o toolkit.Options) bool {
	return slices.ContainsFunc(o.Profiles, func(p toolkit.Profile) bool {
		return p == toolkit.Native || p == toolkit.TerminalTools || p == toolkit.All
	})
}

// isLocalOnly reports whether a tool cannot work on other machines.
func isLocalOnly(name string) bool {
	return slices.Contains([]string{"machine_list", "env_get"}, name)
}

func offersTool(o toolkit.Options, t toolkit.Tool) bool {
	if o.ReadOnly && t.Effect != api.Read || o.NoMachines && t.Name == "machine_list" {
		return false
	}
	return slices.ContainsFunc(o.Profiles, func(p toolkit.Profile) bool { return p.Offers(t) })
}
