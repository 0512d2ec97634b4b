package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/text"
)

// WriteLayout describes the tabs, and which of them are shown. name returns a session's name; false
// omits it.
func (t *Tabs) WriteLayout(name func(id string) (string, bool)) (l api.Layout) {
	for _, other := range t.EveryTab() {
		written, ok := other.writeTab(name)
		switch {
		case !ok:
			continue
		case other == t.Float:
			l.Float = &written
			continue
		case other == t.BaseTab():
			l.Current = len(l.Tabs)
		}
		l.Tabs = append(l.Tabs, written)
	}
	l.Floats = l.Float != nil && t.IsFloating()
	return l
}

// writeTab describes a tab; ok is false if it has no pane to save.
func (t *Tab) writeTab(name func(id string) (string, bool)) (written api.LayoutTab, ok bool) {
	nodes, focus := writeNode(nil, t.Root, t.Focus, name)
	return api.LayoutTab{Name: t.Name, Nodes: nodes, Focus: max(focus, 0)}, len(nodes) > 0
}

// writeNode appends a subtree in reading order. It also returns the index of the leaf to
// focus, or -1.
func writeNode(nodes []api.LayoutNode, n, focus *Node, name func(id string) (string, bool)) ([]api.LayoutNode, int) {
	if n.IsLeaf() {
		label, ok := name(n.ID)
		if !ok {
			return nodes, -1
		}
		at := -1
		if n == focus {
			at = len(nodes)
		}
		return append(nodes, api.LayoutNode{ID: n.ID, Name: label}), at
	}
	split := api.LayoutNode{Axis: api.AxisBeside, Share: n.Share}
	if n.Axis == Below {
		split.Axis = api.AxisBelow
	}
	start := len(nodes)
	nodes, first := writeNode(append(nodes, split), n.A, focus, name)
	middle := len(nodes)
	nodes, second := writeNode(nodes, n.B, focus, name)
	at := max(first, second)
	// A split with an empty half is replaced by the other half.
	if middle == start+1 || middle == len(nodes) {
		nodes, at = slices.Delete(nodes, start, start+1), max(at-1, -1)
	}
	return nodes, at
}

// ApplyLayout arranges sessions as in a layout; others stay in place. It returns the tab
// to show and the number of sessions found.
func (t *Tabs) ApplyLayout(l api.Layout, processes []api.Process) (show *Tab, found int) {
	if l.Check() != nil {
		return nil, 0
	}
	show, found = t.arrangeTabs(l, findSessions(l, processes, true))
	t.SettleFloat()
	return show, found
}

// SameArrangement reports whether a and b arrange the same sessions in the same way,
// whatever is shown or focused.
func SameArrangement(a, b api.Layout) bool {
	return (a.Float == nil) == (b.Float == nil) && slices.EqualFunc(allTabs(a), allTabs(b), func(a, b api.LayoutTab) bool {
		return slices.EqualFunc(a.Nodes, b.Nodes, func(a, b api.LayoutNode) bool {
			return a.Axis == b.Axis && a.Share == b.Share && a.ID == b.ID
		})
	})
}

// Refocus returns l with the focus, the names and the hidden sessions of now, where some of
// its sessions may be missing. Tabs missing in l are appended.
func Refocus(l, now api.Layout) api.Layout {
	l.Tabs = slices.Clone(l.Tabs)
	l.Floats, l.Zoomed, l.Closed = now.Floats, now.Zoomed, now.Closed
	if l.Float != nil && now.Float != nil {
		float := refocusTab(*l.Float, *now.Float)
		l.Float = &float
	}
	tabOf := map[string]int{} // by session
	for i, t := range allTabs(l) {
		for _, n := range t.Nodes {
			tabOf[n.ID] = i
		}
	}
	float := len(l.Tabs)
	for i, t := range now.Tabs {
		known := slices.IndexFunc(t.Nodes, func(n api.LayoutNode) bool {
			_, ok := tabOf[n.ID]
			return ok && n.Axis == ""
		})
		at := len(l.Tabs)
		switch {
		case known < 0:
			l.Tabs = append(l.Tabs, t)
		case tabOf[t.Nodes[known].ID] == float:
			continue
		default:
			at = tabOf[t.Nodes[known].ID]
			l.Tabs[at] = refocusTab(l.Tabs[at], t)
		}
		if i == now.Current {
			l.Current = at
		}
	}
	return l
}

// refocusTab is Refocus for a tab.
func refocusTab(t, now api.LayoutTab) api.LayoutTab {
	t.Name, t.Nodes = now.Name, slices.Clone(t.Nodes)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if at := indexOf(now, n.ID); at >= 0 {
			n.Name = cmp.Or(now.Nodes[at].Name, n.Name)
			if at == now.Focus {
				t.Focus = i
			}
		}
	}
	return t
}

// NameTabs gives the tabs the names that the tabs of their sessions have in a layout, except for tabs
// with a name that is not saved yet.
func (t *Tabs) NameTabs(l api.Layout) {
	t.eachKept(l, func(tab *Tab, kept api.LayoutTab) {
		if !tab.Renamed {
			tab.Name = kept.Name
		}
	})
}

// NoteSaved records that the names in a layout are saved.
func (t *Tabs) NoteSaved(l api.Layout) {
	t.eachKept(l, func(tab *Tab, kept api.LayoutTab) { tab.Renamed = tab.Renamed && tab.Name != kept.Name })
}

// eachKept calls do for the tabs of a layout, each with the tab that has the first of its sessions.
func (t *Tabs) eachKept(l api.Layout, do func(tab *Tab, kept api.LayoutTab)) {
	places := t.Places()
	for _, kept := range allTabs(l) {
		for _, n := range kept.Nodes {
			if at, ok := places[n.ID]; ok && n.Axis == "" {
				do(at.Tab, kept)
				break
			}
		}
	}
}

// IsFocused reports whether a session has the keyboard in a layout.
func IsFocused(l api.Layout, id string) bool {
	t := api.LayoutTab{}
	switch {
	case l.Floats && l.Float != nil:
		t = *l.Float
	case l.Current < len(l.Tabs):
		t = l.Tabs[l.Current]
	}
	return t.Focus >= 0 && indexOf(t, id) == t.Focus
}

// indexOf returns the node of a session in a tab, or -1.
func indexOf(t api.LayoutTab, id string) int {
	return slices.IndexFunc(t.Nodes, func(n api.LayoutNode) bool { return n.ID == id && n.Axis == "" && id != "" })
}

// readTab builds the tree of a tab. take returns the session of node i, or "" if it does not
// exist; its half then goes to the other one.
func readTab(t api.LayoutTab, take func(i int) string) (root, focus *Node) {
	at := 0
	var read func() *Node
	read = func() *Node {
		if at >= len(t.Nodes) {
			return nil
		}
		here := at
		n := t.Nodes[at]
		at++
		if n.Axis == "" {
			id := take(here)
			if id == "" {
				return nil
			}
			leaf := NewLeaf(id)
			if here == t.Focus {
				focus = leaf
			}
			return leaf
		}
		a, b := read(), read()
		// A split with a missing half collapses into the other half.
		if a == nil || b == nil {
			if a == nil {
				return b
			}
			return a
		}
		split := &Node{Axis: Beside, Share: min(max(n.Share, 1), ShareUnit-1), A: a, B: b}
		if n.Axis == api.AxisBelow {
			split.Axis = Below
		}
		a.parent, b.parent = split, split
		return split
	}
	root = read()
	if root != nil && focus == nil {
		focus = root.Leaves(nil)[0]
	}
	return root, focus
}

// findSessions returns the sessions of a layout's panes that run or can be restored, by tab and node: those found by
// id and, with byName, by a name on the same machine. It finds no session twice.
func findSessions(l api.Layout, processes []api.Process, byName bool) map[[2]int]string {
	left := map[string]string{} // names of the sessions not found yet, by id
	for _, p := range processes {
		if p.Kind == api.KindSession && p.IsOpen() {
			left[p.ID] = p.Name
		}
	}
	found := map[[2]int]string{}
	findAll := func(find func(api.LayoutNode) string) {
		for i, t := range allTabs(l) {
			for j, n := range t.Nodes {
				if at := [2]int{i, j}; n.Axis == "" && found[at] == "" {
					found[at] = find(n)
					delete(left, found[at])
				}
			}
		}
	}
	findAll(func(n api.LayoutNode) string {
		if _, ok := left[n.ID]; ok {
			return n.ID
		}
		return ""
	})
	// Names come second: one must not claim a session that another pane has by its id.
	if byName {
		findAll(func(n api.LayoutNode) string {
			machine, _ := api.MachineOf(n.ID)
			for id, name := range left {
				if on, _ := api.MachineOf(id); on == machine && name == n.Name && n.Name != "" {
					return id
				}
			}
			return ""
		})
	}
	return found
}

// Describe lists the sessions of a layout.
func Describe(l api.Layout) string {
	var tabs []string
	for _, t := range allTabs(l) {
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
