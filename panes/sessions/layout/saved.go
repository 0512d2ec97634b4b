package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/text"
)

// Resolve returns a saved layout without the sessions that no longer exist. It looks for each
// session by id first and then by name, on the same machine, and sets the ids of those found.
// mayHave reports whether a session that is not among processes may exist.
func Resolve(l api.Layout, processes []api.Process, mayHave func(id string) bool) api.Layout {
	left := map[string]string{} // names of the sessions not found yet, by id
	for _, p := range processes {
		if p.Kind == api.KindSession && p.IsOpen() {
			left[p.ID] = p.Name
		}
	}
	found := map[*api.LayoutNode]bool{}
	tabs := slices.Clone(l.AllTabs())
	each := func(find func(n *api.LayoutNode) (id string, ok bool)) {
		for _, t := range tabs {
			for j := range t.Nodes {
				n := &t.Nodes[j]
				if n.Axis != "" || found[n] {
					continue
				}
				if id, ok := find(n); ok {
					n.ID, found[n] = id, true
					delete(left, id)
				}
			}
		}
	}
	for i := range tabs {
		tabs[i].Nodes = slices.Clone(tabs[i].Nodes)
	}
	each(func(n *api.LayoutNode) (string, bool) {
		_, known := left[n.ID]
		return n.ID, known || mayHave(n.ID)
	})
	// Look for names only after all ids, so that a pane cannot get a session by name to which
	// another pane refers by id.
	each(func(n *api.LayoutNode) (string, bool) {
		machine, _ := api.MachineOf(n.ID)
		for id, name := range left {
			if on, _ := api.MachineOf(id); on == machine && name == n.Name && n.Name != "" {
				return id, true
			}
		}
		return "", false
	})
	resolved := api.Layout{Zoomed: l.Zoomed, Floats: l.Floats}
	for i, t := range tabs {
		ids := map[string]bool{}
		focus := ""
		for j := range t.Nodes {
			ids[t.Nodes[j].ID] = found[&t.Nodes[j]]
			if j == t.Focus {
				focus = t.Nodes[j].ID
			}
		}
		t.Nodes, _ = appendShown(nil, t.Nodes, func(id string) bool { return ids[id] })
		if len(t.Nodes) == 0 {
			continue
		}
		at := func(id string) int {
			return slices.IndexFunc(t.Nodes, func(n api.LayoutNode) bool { return n.Axis == "" && (n.ID == id || id == "") })
		}
		t.Focus = max(at(focus), at(""))
		if i == len(l.Tabs) {
			resolved.Float = &t
			continue
		}
		if i <= l.Current {
			resolved.Current = len(resolved.Tabs)
		}
		resolved.Tabs = append(resolved.Tabs, t)
	}
	return resolved
}

// Describe lists the sessions of a layout.
func Describe(l api.Layout) string {
	var tabs []string
	for _, t := range l.AllTabs() {
		var names []string
		for _, n := range t.Nodes {
			if n.Axis == "" {
				machine, _ := api.MachineOf(n.ID)
				names = append(names, api.OnMachine(machine, text.Clean(n.Name)))
			}
		}
		tabs = append(tabs, cmp.Or(text.Clean(t.Name), strings.Join(names, "+")))
	}
	return fmt.Sprintf("%d: %s", len(tabs), strings.Join(tabs, "  "))
}
