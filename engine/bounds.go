package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// A treatment is how an operation is kept within an agent's bounds.
type treatment int

const (
	untreated   treatment = iota // nobody has decided, so agents may not
	anybodys                     // it tells or changes nothing that an agent may not know or change
	personOnly                   // agents may not, nor what runs in a session or process of theirs
	bookkeeping                  // what the agents' server does for the person, for agents that only read too
	running                      // it starts a program: within the caller's sandbox, as the caller
	reaching                     // it works on files: roots, closed folders and the caller's sandbox hold
	typing                       // it types: not with a taken keyboard, and not out of the caller's sandbox
	changing                     // it changes or ends a session or process: not with a taken keyboard
	ownEnv                       // it changes variables: those of the caller alone
)

// treatments is every way into the engine. What is not in it is refused to agents.
var treatments = map[string]treatment{
	api.EngineInfo.Name: anybodys, api.EngineStop.Name: anybodys, // see mayStop
	"events.watch": anybodys, "session.attach": typing,

	api.SessionStart.Name: running, api.SessionList.Name: anybodys, api.SessionGet.Name: anybodys,
	api.SessionWrite.Name: typing, api.SessionExec.Name: typing, api.SessionRead.Name: anybodys,
	api.SessionScreen.Name: anybodys, api.SessionFind.Name: anybodys, api.SessionText.Name: anybodys,
	api.SessionRecord.Name: anybodys, api.SessionWait.Name: anybodys, api.SessionKeyboard.Name: personOnly,
	api.SessionResize.Name: changing, api.SessionRename.Name: changing, api.SessionKill.Name: changing,

	api.ProcessStart.Name: running, api.Exec.Name: running, api.ProcessList.Name: anybodys, api.ProcessGet.Name: anybodys,
	api.ProcessLog.Name: anybodys, api.ProcessWait.Name: anybodys, api.ProcessWrite.Name: typing,
	api.ProcessStop.Name: changing, api.ProcessStopAll.Name: changing, api.ProcessRestart.Name: changing,
	api.ProcessSignal.Name: changing, api.ProcessUpdate.Name: changing, api.ProcessRemove.Name: changing,

	api.HistorySearch.Name: anybodys, api.HistoryStats.Name: anybodys, api.HistoryAdd.Name: running,
	api.HistoryRemove.Name: personOnly, api.HistoryClear.Name: personOnly,
	api.HistorySave.Name: reaching, api.HistoryLoad.Name: reaching, api.HistoryLoading.Name: personOnly,
	api.CommandsList.Name: anybodys, api.CommandsAdd.Name: anybodys, api.CommandsReplace.Name: anybodys,

	api.FilesRead.Name: reaching, api.FilesReadJSON.Name: reaching, api.FilesWrite.Name: reaching, api.FilesEdit.Name: reaching,
	api.FilesReport.Name: reaching, api.FilesList.Name: reaching, api.FilesStat.Name: reaching, api.FilesMkdir.Name: reaching,
	api.FilesDelete.Name: reaching, api.FilesMove.Name: reaching, api.FilesCopy.Name: reaching, api.FilesFind.Name: reaching,
	api.FilesGrep.Name: reaching, api.FilesTransfer.Name: reaching, api.FilesRestore.Name: reaching, api.FilesWatch.Name: reaching,
	api.FilesGit.Name: reaching, api.FilesJob.Name: anybodys, api.FilesCancel.Name: anybodys,

	api.PolicyCheck.Name: bookkeeping, api.AuditAdd.Name: bookkeeping, api.AuditList.Name: personOnly,
	api.RequestList.Name: personOnly, api.RequestAnswer.Name: personOnly,

	api.EnvGet.Name: anybodys, api.EnvList.Name: anybodys, api.EnvSet.Name: ownEnv, api.EnvUnset.Name: ownEnv,

	api.LayoutGet.Name: anybodys, api.LayoutPut.Name: personOnly, api.LayoutRemove.Name: personOnly,
}

// admit is the one gate that every call passes. It refuses what the caller may
// not do, and narrows what it asks for to its bounds. in points to the input.
func (h *host) admit(ctx context.Context, name string, effect api.Effect, in any) error {
	caller, how := server.CallerOf(ctx), treatments[name]
	if how == personOnly {
		return h.mayActForPerson(ctx, name)
	}
	if !caller.Agent() {
		return nil
	}
	switch {
	case how == untreated:
		return api.Errorf(api.CodeForbidden, "call %s: it is not for agents", name)
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
		return checkAgentVariable(caller, in.Name)
	case *api.EnvInput:
		in.Client = in.Client || effect != api.Read
	case *api.HistoryAddInput:
		in.Actor = caller.Actor()
	case *api.EngineStopInput:
		return mayStop(in)
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
	return api.Errorf(api.CodeForbidden, "stop engine: only you can; agents may restart it")
}

// mayWaitForPort refuses to look for an agent whether something listens where its
// sandbox does not let it connect.
func mayWaitForPort(c server.Caller, port int) error {
	if port == 0 || c.Bounds.Sandbox == nil {
		return nil
	}
	_, layers, err := encodeLayers([]*api.Sandbox{c.Bounds.Sandbox})
	if err == nil {
		err = mayProbe(layers)
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

// closedToAgents are folders that no operation of an agent reaches, whatever its
// roots, and that nothing confined may write: who writes there decides what
// agents may do, and what is kept there tells what others did.
func (h *host) closedToAgents() []string {
	closed := []string{h.o.DataDir}
	if h.o.Policy != "" {
		closed = append(closed, filepath.Dir(h.o.Policy))
	}
	return closed
}

// layersFor are the sandboxes of what a caller starts: the one that the person
// has set for it, and the one that it asks for. Both hold; either may be nil.
func layersFor(ctx context.Context, asked *api.Sandbox) []*api.Sandbox {
	return []*api.Sandbox{server.CallerOf(ctx).Bounds.Sandbox, asked}
}
