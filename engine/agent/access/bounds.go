// Package access decides whether a caller may make a call. It applies the Access of each operation,
// limits agents to their bounds, distinguishes the user from programs started by agents, and checks
// whether a program runs in an agent's sandbox. The user's policy for tools is judged in
// engine/agent/approval.
package access

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// A Guard checks every call. All exported fields are required.
type Guard struct {
	DataDir   string
	BootID    string
	KeeperPID func() int // 0 without a keeper

	// Visit calls f with every known record, and its session if there is one.
	Visit func(ctx context.Context, f func(store.Record, *terminal.Session)) error
	// SandboxPath returns the file with the sandbox of a process.
	SandboxPath func(id string) string

	processes *processTable // nil for the system's
	cache     ancestryCache
	lastPeer  atomic.Int64 // pid of the last process AgentAt found not to be an agent's
}

// Check rejects a call its caller may not make, and narrows its input to the caller's bounds. Every
// call passes through it. The parameter in points to the input.
func (g *Guard) Check(ctx context.Context, name string, effect api.Effect, in any) error {
	caller, how := api.CallerOf(ctx), accessOf(name)
	// Roles come first: they also limit users, who have no bounds.
	if err := checkRole(caller, name, how, effect); err != nil {
		return err
	}
	if how == api.UserOnly || how == api.Filtered && !caller.Agent() {
		return g.checkUserOnly(ctx, name)
	}
	switch in := in.(type) {
	case *api.AttachOptions:
		if in.Direct || in.Master {
			may := g.canHandOver(caller, api.PeerProcessOf(ctx))
			in.Direct, in.Master = in.Direct && may, in.Master && may
		}
	case *api.FleetListInput: // callers not allowed to see the rows must ask the machines
		in.Rows = in.Rows && checkRole(caller, name, api.UserOnly, effect) == nil && g.checkUserOnly(ctx, name) == nil
	}
	if !caller.Agent() {
		if in, ok := in.(*api.EngineStopInput); ok && !in.Restart {
			return g.checkUserOnly(ctx, name)
		}
		return nil
	}
	switch {
	case how == "":
		return api.Errorf(api.CodeForbidden, "call %s: agents may not call it", name)
	case caller.Bounds.ReadOnly && effect != api.Read && how != api.Bookkeeping:
		return api.Errorf(api.CodeForbidden, "call %s: this agent may only read", name)
	}
	if s, ok := in.(scopeProvider); ok {
		if err := narrowScope(s.Scope(), caller.Bounds); err != nil {
			return err
		}
	}
	switch in := in.(type) {
	case *api.EnvSetInput:
		// The variable applies to this agent only, whatever the input says.
		in.Client = true
		return checkVariable(caller, in.Name)
	case *api.EnvInput:
		in.Client = in.Client || effect != api.Read
		in.Reveal = in.Reveal && !caller.Bounds.ReadOnly
	case *api.EnvListInput:
		in.Reveal = in.Reveal && !caller.Bounds.ReadOnly
	case *api.HistoryAddInput:
		in.Actor = caller.Actor()
	case *api.EngineStopInput:
		return checkRestartOnly(in)
	case *api.OpenOptions:
		return bindToBounds(caller, in)
	case *api.ProcessWaitInput:
		return checkPortWait(caller, in.Port)
	case *api.SessionWaitInput:
		return checkPortWait(caller, in.Port)
	}
	return nil
}

// accessOf returns how an operation limits agents, or "" for an unknown operation. Agents may not
// call an operation with access "".
func accessOf(name string) api.Access {
	e, _ := api.Find(name)
	return e.Access
}

// checkRestartOnly allows an agent to restart the same engine, and nothing else.
func checkRestartOnly(in *api.EngineStopInput) error {
	if in.Restart && !in.All && in.Replace == "" {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "stop engine: only the user can; agents may restart it")
}

// bindToBounds adds the agent's bounds to a connection that an agent opens to another machine. They
// then apply there too. It rejects a connection without an identity.
func bindToBounds(c api.Caller, to *api.OpenOptions) error {
	if to.Machine == "" {
		return api.Errorf(api.CodeForbidden, "open engine: agents may not speak for another machine")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return api.Errorf(api.CodeForbidden, "open machine %s: %v", to.Machine, err)
	}
	to.By = &api.FarAgent{Name: c.Name, Owner: c.Owner, Bounds: c.Bounds.AbbreviateHome(home)}
	to.By.Bounds.Elicits = false // the user of that machine is asked there
	to.AuthSock = ""             // a remote agent socket could log in for any caller
	return nil
}

// checkPortWait returns an error if an agent's sandbox would not let it connect to the port:
// waiting for it would reveal whether anything listens.
func checkPortWait(c api.Caller, port int) error {
	if port == 0 || len(c.Sandboxes()) == 0 {
		return nil
	}
	_, layers, err := Encode(c.Sandboxes())
	if err == nil {
		err = MayProbe(layers)
	}
	if err != nil {
		return api.Errorf(api.CodeForbidden, "wait for port %d: %v", port, err)
	}
	return nil
}

// A scopeProvider is the input of an operation on files.
type scopeProvider interface{ Scope() *api.FileScope }

// narrowScope limits a call on files to the roots of its caller.
func narrowScope(scope *api.FileScope, b api.Bounds) error {
	if scope.Base == "" {
		scope.Base = b.Base
	}
	switch {
	case len(b.Roots) == 0:
		return nil
	case len(scope.Roots) == 0:
		scope.Roots = b.Roots
		return nil
	}
	// Keep the smaller of two folders if one contains the other.
	var common []string
	for _, asked := range scope.Roots {
		for _, root := range b.Roots {
			switch {
			case isWithin(asked, root):
				common = append(common, asked)
			case isWithin(root, asked):
				common = append(common, root)
			}
		}
	}
	if len(common) == 0 {
		return api.Errorf(api.CodeForbidden, "use folders %s: they are outside the allowed folders", strings.Join(scope.Roots, ", ")).
			WithHint("allowed: " + strings.Join(b.Roots, ", "))
	}
	slices.Sort(common)
	scope.Roots = slices.Compact(common)
	return nil
}

// isWithin reports whether a path is a folder or below it, after resolving links.
func isWithin(path, folder string) bool {
	path, folder = resolveLinks(path), resolveLinks(folder)
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func resolveLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Layers returns the sandboxes for a program started by a caller: those the user has set for the
// caller, and asked, the one the caller requests, which may be nil. All of them apply.
func Layers(ctx context.Context, asked *api.Sandbox) []*api.Sandbox {
	return append(api.CallerOf(ctx).Sandboxes(), asked)
}

// checkVariable rejects a variable that changes which programs run later. Neither the user nor the
// policy would see that it was set. In a sandbox such a variable gives access to nothing new.
func checkVariable(c api.Caller, name string) error {
	if !api.AltersExecution(name) || len(c.Sandboxes()) > 0 {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "set %s: it decides which programs run, so agents may set it only inside a sandbox", name).
		WithHint("put it before the command that needs it: " + name + "=… command")
}
