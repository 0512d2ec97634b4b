package access

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/sandbox"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// MayType refuses agents while a person has the keyboard or where typing would
// leave their sandbox, and everybody once the program has ended.
func (g *Guard) MayType(ctx context.Context, view api.Process) error {
	return g.mayTell(ctx, view, "type into")
}

// MayReport refuses agents to say what the agent of a session is doing where they may not
// type: what you answer to its question is typed there.
func (g *Guard) MayReport(ctx context.Context, view api.Process) error {
	return g.mayTell(ctx, view, "report the state of")
}

// mayTell is MayType, for what doing says in a word or two.
func (g *Guard) mayTell(ctx context.Context, view api.Process, doing string) error {
	if view.State.Ended() {
		return api.Errorf(api.CodeEnded, "%s %s: it has ended", doing, view.Name)
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

// ErrOutside refuses to type into what runs outside the caller's sandbox.
func ErrOutside(name string) *api.Error { return errOutside("type into", name) }

func errOutside(doing, name string) *api.Error {
	return api.Errorf(api.CodeForbidden, "%s %s: it runs outside the agents' sandbox", doing, name).
		WithHint("start a session of your own, or ask the user to open this one to agents in the dashboard")
}

// MayStartAgain refuses agents what has a process started again that runs outside
// their sandbox: they may have changed the files that it runs. Without a restart
// policy nothing starts by itself, and unless asks is set nothing is refused.
func (g *Guard) MayStartAgain(ctx context.Context, r store.Record, asks bool) error {
	starts := asks || r.Restart.Policy != "" && r.Restart.Policy != string(api.PolicyNo)
	if starts && !r.Open && g.LeavesSandbox(ctx, r.ID) {
		return api.Errorf(api.CodeForbidden, "restart %s: it runs outside the agents' sandbox", r.Name).
			WithHint("start a process of your own, or ask the user to do it")
	}
	return nil
}

// LeavesSandbox reports whether what the caller types into a process would run
// outside a sandbox that the person has set for the caller.
func (g *Guard) LeavesSandbox(ctx context.Context, id string) bool {
	return slices.ContainsFunc(server.CallerOf(ctx).Sandboxes(), func(own *api.Sandbox) bool { return !g.confinedBy(id, own) })
}

// confinedBy reports whether a sandbox is one of those that a process was
// started in. Which ones these were does not change while the process is there.
func (g *Guard) confinedBy(id string, asked *api.Sandbox) bool {
	layers, err := sandbox.LoadLayers(g.SandboxPath(id))
	if err != nil {
		return false // it has none
	}
	_, wanted, err := Encode([]*api.Sandbox{asked})
	return err == nil && slices.ContainsFunc(layers, func(p sandbox.Profile) bool { return reflect.DeepEqual(p, wanted[0]) })
}

// MayChange refuses agents what changes a session while a person has its
// keyboard; doing is that in a word or two.
func MayChange(ctx context.Context, view api.Process, doing string) error {
	if !server.CallerOf(ctx).Agent() || !heldByPerson(view) {
		return nil
	}
	return terminal.ErrLocked(doing, view.Name)
}

// heldByPerson reports whether a person has the keyboard of what has not ended.
func heldByPerson(view api.Process) bool {
	return view.Terminal != nil && view.Terminal.Keyboard != "" && !view.State.Ended()
}

// Encode gives the text of sandbox.json for these layers, and what it means. A
// single one stands there in the public shape.
func Encode(layers []*api.Sandbox) ([]byte, sandbox.Layers, error) {
	whole := make([]*api.Sandbox, len(layers))
	for i, layer := range layers {
		whole[i] = withLists(layer)
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

// withLists is a sandbox with empty lists for those that are nil, as the public
// shape has no null.
func withLists(s *api.Sandbox) *api.Sandbox {
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

// MayProbe tells why a sandbox does not let anybody look whether something listens
// on a port of the loopback interface.
func MayProbe(layers sandbox.Layers) error {
	err := layers.CheckHost("127.0.0.1")
	if err == nil || layers.CheckHost("localhost") == nil || layers.CheckHost("::1") == nil {
		return nil
	}
	return err
}

// NoteUnconfined writes down that a process is not confined, for whoever looks into
// its folder; if it has a file that says how it is, that stays.
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
