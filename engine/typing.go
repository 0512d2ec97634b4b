package engine

import (
	"context"
	"reflect"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/sandbox"
)

// mayType refuses agents while a person has the keyboard or where typing would
// leave their sandbox, and everybody once the program has ended.
func (h *host) mayType(ctx context.Context, view api.Process) error {
	if view.State.Ended() {
		return api.Errorf(api.CodeEnded, "type into %s: it has ended", view.Name)
	}
	if err := mayChange(ctx, view, "type into"); err != nil {
		return err
	}
	open := view.Terminal != nil && view.Terminal.Open
	if !open && h.leavesSandbox(ctx, view.ID) {
		return errOutside(view.Name)
	}
	return nil
}

func errOutside(name string) *api.Error {
	return api.Errorf(api.CodeForbidden, "type into %s: it runs outside the sandbox that agents are held to", name).
		WithHint("start a session of your own, or ask the person to open this one to agents in the dashboard")
}

// mayStartAgain refuses agents what has a process started again that runs outside
// their sandbox: they may have changed the files that it runs. id is completed, so
// that what was looked at is what is started. Without a restart policy nothing
// starts by itself, and unless asks is set nothing is refused.
func (h *host) mayStartAgain(ctx context.Context, id *string, asks bool) error {
	if server.CallerOf(ctx).Bounds.Sandbox == nil {
		return nil
	}
	e, err := h.control.entryToStart(ctx, *id)
	if err != nil {
		return err
	}
	*id = e.rec.ID
	policy := e.rec.Restart.Policy
	starts := asks || policy != "" && policy != string(api.PolicyNo)
	if starts && !e.rec.Open && h.leavesSandbox(ctx, *id) {
		return api.Errorf(api.CodeForbidden, "have %s started again: it runs outside the sandbox that agents are held to", e.rec.Name).
			WithHint("start a process of your own, or ask the person to do it")
	}
	return nil
}

// leavesSandbox reports whether what the caller types into a process would run
// outside the sandbox that the person has set for the caller.
func (h *host) leavesSandbox(ctx context.Context, id string) bool {
	floor := server.CallerOf(ctx).Bounds.Sandbox
	return floor != nil && !h.confinedBy(id, floor)
}

// confinedBy reports whether a sandbox is one of those that a process was
// started in. Which ones these were does not change while the process is there.
func (h *host) confinedBy(id string, floor *api.Sandbox) bool {
	layers, err := sandbox.LoadLayers(h.store.SandboxPath(id))
	if err != nil {
		return false // it has none
	}
	_, wanted, err := encodeLayers([]*api.Sandbox{floor})
	return err == nil && slices.ContainsFunc(layers, func(p sandbox.Profile) bool { return reflect.DeepEqual(p, wanted[0]) })
}
