package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

// MayType rejects typing by agents while the user has locked the keyboard or if it would leave
// their sandbox, and by everyone after the program has exited.
func (g *Guard) MayType(ctx context.Context, view api.Process) error {
	return g.checkInput(ctx, view, "type into")
}

// MayReport rejects an agent's report on a session it may not type into, because the user's answer
// to a reported question is typed there.
func (g *Guard) MayReport(ctx context.Context, view api.Process) error {
	return g.checkInput(ctx, view, "report the state of")
}

// checkInput implements MayType. doing is the verb in the error, such as "type into".
func (g *Guard) checkInput(ctx context.Context, view api.Process, doing string) error {
	if view.State.Ended() {
		why := "has exited"
		if view.EndedBy != "" && api.CallerOf(ctx).Agent() {
			why = "was stopped by " + api.ActorName(view.EndedBy)
		}
		err := api.Errorf(api.CodeEnded, "%s %s: it %s", doing, view.Name, why)
		if view.Interrupted != nil {
			err = err.WithHint("`tandem restore " + view.ID + "` starts a shell in it")
		}
		return err
	}
	if err := MayChange(ctx, view, doing); err != nil {
		return err
	}
	open := view.Terminal != nil && view.Terminal.Open
	if !open && g.LeavesSandbox(ctx, view.ID) {
		return errOutside(doing, view.Name)
	}
	return nil
}

// ErrOutside returns the error for typing into a program outside the caller's sandbox.
func ErrOutside(name string) *api.Error { return errOutside("type into", name) }

func errOutside(doing, name string) *api.Error {
	return api.Errorf(api.CodeForbidden, "%s %s: it runs outside the agents' sandbox", doing, name).
		WithHint("start a session of your own, or ask the user to open this one to agents in the dashboard")
}

// MayStartAgain rejects a request of an agent to restart a process outside the agent's sandbox: the
// agent may have changed the files the process runs. asks means that the caller wants the process
// to start now. Otherwise the call is rejected only if a restart policy can start the process
// later.
func (g *Guard) MayStartAgain(ctx context.Context, r store.Record, asks bool) error {
	starts := asks || r.Restart.Policy != "" && r.Restart.Policy != string(api.PolicyNo)
	if starts && !r.AdmitsSandboxed && g.LeavesSandbox(ctx, r.ID) {
		return api.Errorf(api.CodeForbidden, "restart %s: it runs outside the agents' sandbox", r.Name).
			WithHint("start a process of your own, or ask the user to do it")
	}
	return nil
}

// LeavesSandbox reports whether input from the caller would run outside a sandbox set for the
// caller by the user.
func (g *Guard) LeavesSandbox(ctx context.Context, id string) bool {
	return slices.ContainsFunc(api.CallerOf(ctx).Sandboxes(), func(own *api.Sandbox) bool { return !g.isConfinedBy(id, own) })
}

// isConfinedBy reports whether a process was started in a given sandbox. A process keeps its
// sandboxes for life.
func (g *Guard) isConfinedBy(id string, asked *api.Sandbox) bool {
	layers, err := sandbox.LoadLayers(g.SandboxPath(id))
	if err != nil {
		return false // not confined
	}
	_, wanted, err := Encode([]*api.Sandbox{asked})
	return err == nil && slices.ContainsFunc(layers, func(p sandbox.Profile) bool { return reflect.DeepEqual(p, wanted[0]) })
}

// MayChange rejects changes to a session by agents while the user has locked its keyboard. doing is
// the verb in the error, such as "rename".
func MayChange(ctx context.Context, view api.Process, doing string) error {
	if !api.CallerOf(ctx).Agent() || !isKeyboardLocked(view) {
		return nil
	}
	return terminal.ErrLocked(doing, view.Name)
}

// MayUsePrivate rejects the use of a private session called name by agents, by programs that they
// started, and by callers over a fleet, whose calls are recorded. The engine's own work is allowed.
func (g *Guard) MayUsePrivate(ctx context.Context, name string) error {
	if !api.IsCall(ctx) {
		return nil
	}
	if api.CallerOf(ctx).Origin.Person == "" {
		err := g.checkUserOnly(ctx, "session.get")
		if !errors.Is(err, api.CodeForbidden) {
			return err
		}
	}
	return api.Errorf(api.CodeForbidden, "use %s: it is a private session, which only the user may read, type into or change", name).
		WithHint("use the dashboard, or a terminal that no agent started or typed into")
}

// isKeyboardLocked reports whether the user has locked the keyboard of a running session.
func isKeyboardLocked(view api.Process) bool {
	return view.Terminal != nil && view.Terminal.Keyboard != "" && !view.State.Ended()
}

// Encode returns the content of sandbox.json for the layers, and the same layers as parsed from it.
// A single layer is written in the public format.
func Encode(layers []*api.Sandbox) ([]byte, sandbox.Layers, error) {
	whole := make([]*api.Sandbox, len(layers))
	for i, layer := range layers {
		whole[i] = replaceNilLists(layer)
	}
	var file any = map[string][]*api.Sandbox{"layers": whole}
	if len(layers) == 1 {
		file = whole[0]
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("sandbox: %w", err)
	}
	parsed, err := sandbox.ParseLayers(text)
	return append(text, '\n'), parsed, err
}

// replaceNilLists returns a sandbox with empty lists instead of nil ones, because the public format
// has no null.
func replaceNilLists(s *api.Sandbox) *api.Sandbox {
	c := *s
	for _, list := range []*[]string{&c.Filesystem.DenyRead, &c.Filesystem.AllowWrite, &c.Filesystem.DenyWrite} {
		*list = append([]string{}, *list...)
	}
	if s.Network != nil {
		c.Network = &api.SandboxNetwork{
			AllowedDomains: append([]string{}, s.Network.AllowedDomains...),
			DeniedDomains:  append([]string{}, s.Network.DeniedDomains...),
		}
	}
	return &c
}

// MayProbe returns an error if a sandbox does not allow testing for a listener on a loopback port.
func MayProbe(layers sandbox.Layers) error {
	err := layers.CheckHost("127.0.0.1")
	if err == nil || layers.CheckHost("localhost") == nil || layers.CheckHost("::1") == nil {
		return nil
	}
	return err
}

// NoteUnconfined writes a sandbox file that allows everything for an unconfined process, unless
// there is a file already. Whoever reads the process's folder then learns that it is unconfined.
func NoteUnconfined(data *store.Store, id string) error {
	if _, err := os.Lstat(data.SandboxPath(id)); err == nil {
		return nil
	}
	text, _, err := Encode([]*api.Sandbox{{Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/"}}}})
	if err != nil {
		return err
	}
	return data.SaveSandbox(id, text, false)
}
