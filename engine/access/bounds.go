// Package access decides what a caller may do: it says of every operation how an
// agent is kept within its bounds there, tells the person from what an agent has
// started, and knows whether something runs in the sandbox that an agent is held
// to. What the person's rules say about a tool is decided in engine/approval.
package access

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// A rule is how an agent is kept within its bounds by an operation.
type rule int

const (
	undecided   rule = iota // missing from the table: refused to agents
	open                    // it tells or changes nothing that an agent may not know or change
	personOnly              // agents may not, nor what runs in a session or process of theirs
	bookkeeping             // what the agents' server does for the person, for agents that only read too
	starting                // it starts a program: within the caller's sandbox, as the caller
	files                   // it works on files: roots, closed folders and the caller's sandbox hold
	typing                  // it types: not while the person has the keyboard, and not out of the caller's sandbox
	changing                // it changes or ends a session or process: not while the person has the keyboard
	variables               // it changes variables: those of the caller alone
)

// rules has every way into the engine. What is not in it is refused to agents.
var rules = map[string]rule{
	api.EngineInfo.Name: open, api.EngineOperations.Name: open, api.EngineStop.Name: open, // see mayStop
	api.EnginePeer.Name: personOnly,
	"engine.open":       open, api.MachineList.Name: open, api.MachineConnect.Name: personOnly,
	api.FleetStatus.Name: open, api.FleetList.Name: open, api.FleetProcesses.Name: personOnly, api.FleetHistory.Name: personOnly, api.FleetAny.Name: open,
	"events.watch": open, "session.attach": typing,

	api.SessionStart.Name: starting, api.SessionList.Name: open, api.SessionGet.Name: open,
	api.SessionWrite.Name: typing, api.SessionExec.Name: typing, api.SessionRead.Name: open,
	api.SessionScreen.Name: open, api.SessionFind.Name: open, api.SessionText.Name: open,
	api.SessionRecord.Name: open, api.SessionWait.Name: open, api.SessionForeground.Name: open, api.SessionKeyboard.Name: personOnly,
	api.SessionResize.Name: changing, api.SessionRename.Name: changing, api.SessionKill.Name: changing,

	api.AgentReport.Name: changing, api.AgentExplain.Name: open, api.AgentSeen.Name: personOnly, api.AgentWait.Name: open,

	api.ProcessStart.Name: starting, api.Exec.Name: starting, api.ProcessList.Name: open, api.ProcessGet.Name: open,
	api.ProcessLog.Name: open, api.ProcessWait.Name: open, api.ProcessWrite.Name: typing,
	api.ProcessStop.Name: changing, api.ProcessStopAll.Name: changing, api.ProcessRestart.Name: changing,
	api.ProcessSignal.Name: changing, api.ProcessUpdate.Name: changing, api.ProcessRemove.Name: changing,

	api.HistorySearch.Name: open, api.HistoryStats.Name: open, api.HistoryAdd.Name: starting,
	api.HistoryRemove.Name: personOnly, api.HistoryClear.Name: personOnly,
	api.HistorySave.Name: files, api.HistoryLoad.Name: files, api.HistoryLoading.Name: personOnly,
	api.CommandsList.Name: open, api.CommandsAdd.Name: open, api.CommandsReplace.Name: open,

	api.FilesRead.Name: files, api.FilesReadJSON.Name: files, api.FilesWrite.Name: files, api.FilesEdit.Name: files,
	api.FilesReport.Name: files, api.FilesList.Name: files, api.FilesStat.Name: files, api.FilesMkdir.Name: files, api.FilesSet.Name: files,
	api.FilesDelete.Name: files, api.FilesMove.Name: files, api.FilesCopy.Name: files, api.FilesFind.Name: files,
	api.FilesGrep.Name: files, api.FilesTransfer.Name: files, api.FilesRestore.Name: files, api.FilesWatch.Name: files,
	api.FilesTrashed.Name: personOnly, api.FilesGit.Name: files, api.FilesJob.Name: open, api.FilesCancel.Name: open,

	api.PolicyCheck.Name: bookkeeping, api.AuditAdd.Name: bookkeeping, api.AuditList.Name: personOnly,
	api.RequestList.Name: personOnly, api.RequestAnswer.Name: personOnly,

	api.EnvGet.Name: open, api.EnvList.Name: open, api.EnvSet.Name: variables, api.EnvUnset.Name: variables,

	api.LayoutGet.Name: open, api.LayoutPut.Name: personOnly, api.LayoutRemove.Name: personOnly,

	api.WorktreeAdd.Name: personOnly, api.WorktreeList.Name: personOnly, api.WorktreeRemove.Name: personOnly,
}

// A Guard checks every call. All its fields are needed.
type Guard struct {
	DataDir   string
	BootID    string
	KeeperPID func() int // 0 while there is none

	// Visit calls f with everything that was started and is still known, with its
	// session if that is there.
	Visit func(ctx context.Context, f func(store.Record, *terminal.Session)) error
	// SandboxPath is the file of what a process was confined by.
	SandboxPath func(id string) string

	processes *processTable // nil for this machine's
	followed  ancestries
	lastPeer  atomic.Int64 // pid of the last process that AgentAt found to be no agent's
}

// Check is the one place that every call passes. It refuses what the caller may
// not do, and narrows what it asks for to its bounds. in points to the input.
func (g *Guard) Check(ctx context.Context, name string, effect api.Effect, in any) error {
	caller, how := server.CallerOf(ctx), rules[name]
	if err := mayVisit(caller, name, how, effect); err != nil {
		return err
	}
	if how == personOnly {
		return g.mayActForPerson(ctx, name)
	}
	switch in := in.(type) {
	case *api.AttachOptions:
		in.Direct = in.Direct && g.mayHandOver(caller, server.PeerProcessOf(ctx))
	case *api.FleetListInput: // whoever may not have what runs there asks the machines
		in.Rows = in.Rows && mayVisit(caller, name, personOnly, effect) == nil && g.mayActForPerson(ctx, name) == nil
	}
	if !caller.Agent() {
		if in, ok := in.(*api.EngineStopInput); ok && !in.Restart {
			return g.mayActForPerson(ctx, name)
		}
		return nil
	}
	switch {
	case how == undecided:
		return api.Errorf(api.CodeForbidden, "call %s: agents may not call it", name)
	case caller.Bounds.ReadOnly && effect != api.Read && how != bookkeeping:
		return api.Errorf(api.CodeForbidden, "call %s: this agent may only read", name)
	}
	if s, ok := in.(scoped); ok {
		if err := narrow(s.Scope(), caller.Bounds); err != nil {
			return err
		}
	}
	switch in := in.(type) {
	case *api.EnvSetInput:
		in.Client = true
		return checkVariable(caller, in.Name)
	case *api.EnvInput:
		in.Client = in.Client || effect != api.Read
	case *api.HistoryAddInput:
		in.Actor = caller.Actor()
	case *api.EngineStopInput:
		return mayStop(in)
	case *api.OpenOptions:
		return mayLeave(caller, in)
	case *api.ProcessWaitInput:
		return mayWaitForPort(caller, in.Port)
	case *api.SessionWaitInput:
		return mayWaitForPort(caller, in.Port)
	}
	return nil
}

// mayStop lets an agent have the same engine started again, and nothing else.
func mayStop(in *api.EngineStopInput) error {
	if in.Restart && !in.All && in.Replace == "" {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "stop engine: only the user can; agents may restart it")
}

// mayLeave has an agent that is led to another machine held to its bounds there, and
// refuses it a connection that would hide who it is.
func mayLeave(c server.Caller, to *api.OpenOptions) error {
	if to.Machine == "" {
		return api.Errorf(api.CodeForbidden, "open engine: agents may not speak for another machine")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return api.Errorf(api.CodeForbidden, "open machine %s: %v", to.Machine, err)
	}
	to.By = &api.FarAgent{Name: c.Name, Owner: c.Owner, Bounds: c.Bounds.AbbreviateHome(home)}
	to.AuthSock = "" // whoever answers there would log in for everybody
	return nil
}

// mayWaitForPort refuses to look for an agent whether something listens where its
// sandbox does not let it connect.
func mayWaitForPort(c server.Caller, port int) error {
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

// scoped is the input of an operation on files.
type scoped interface{ Scope() *api.FileScope }

// narrow holds a call on files to the folders that its caller may reach.
func narrow(scope *api.FileScope, b api.Bounds) error {
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
	var common []string
	for _, asked := range scope.Roots {
		for _, root := range b.Roots {
			switch {
			case lies(asked, root):
				common = append(common, asked)
			case lies(root, asked):
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

// lies reports whether a path is a folder or below it, wherever links lead.
func lies(path, folder string) bool {
	path, folder = withoutLinks(path), withoutLinks(folder)
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Layers are the sandboxes of what a caller starts: those that the person has set
// for it, and the one that it asks for, which may be nil. All hold.
func Layers(ctx context.Context, asked *api.Sandbox) []*api.Sandbox {
	return append(server.CallerOf(ctx).Sandboxes(), asked)
}

// checkVariable refuses an agent a variable that steers what it starts
// later, past what the person sees of that and past the rules of the policy.
// Within a sandbox it steers nothing that was not in reach before.
func checkVariable(c server.Caller, name string) error {
	if !api.AltersExecution(name) || len(c.Sandboxes()) > 0 {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "set %s: it decides which programs run, so agents may set it only inside a sandbox", name).
		WithHint("put it before the command that needs it: " + name + "=… command")
}
