package engine

import (
	"context"
	"encoding/json"
	"os"
	"reflect"

	"tandem/engine/api"
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

// leavesSandbox reports whether what the caller types into a process would run
// outside the sandbox that the person has set for the caller.
func (h *host) leavesSandbox(ctx context.Context, id string) bool {
	floor := api.CallerOf(ctx).Bounds.Sandbox
	return floor != nil && !h.confinedBy(id, floor)
}

// confinedBy reports whether a sandbox is one of those that a process was
// started in. Which one it was does not change while the process is there.
func (h *host) confinedBy(id string, floor *api.Sandbox) bool {
	text, err := os.ReadFile(h.store.SandboxPath(id))
	if err != nil {
		return false // it has none
	}
	var file struct {
		Layers []*api.Sandbox `json:"layers"`
	}
	if json.Unmarshal(text, &file) != nil {
		return false
	}
	for _, layer := range file.Layers {
		if sameSandbox(layer, floor) {
			return true
		}
	}
	return false
}

// sameSandbox compares sandboxes as sandbox.json holds them.
func sameSandbox(a, b *api.Sandbox) bool {
	plain := func(s *api.Sandbox) (v any) {
		text, _ := json.Marshal(s) // strings and numbers alone
		_ = json.Unmarshal(text, &v)
		return v
	}
	return a != nil && b != nil && reflect.DeepEqual(plain(a), plain(b))
}
