package layout

import (
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// Write writes the tabs down, and which of them are shown; name is that of a
// session. Panes whose session is not there yet, and those of sessions that have
// ended, have no place in it.
func (t *Tabs) Write(name func(id string) string) (l api.Layout) {
	for _, other := range t.All {
		written, ok := other.write(name)
		if !ok {
			continue
		}
		if other == t.Base() {
			l.Current = len(l.Tabs)
		}
		l.Tabs = append(l.Tabs, written)
	}
	l.Float = t.writeFloat(name)
	l.Floats = l.Float != nil && t.Floating()
	return l
}

// write writes a tab down; ok is false if none of its panes has a place there.
func (t *Tab) write(name func(id string) string) (written api.LayoutTab, ok bool) {
	nodes, focus := writeNode(nil, t.Root, t.Focus, name)
	return api.LayoutTab{Nodes: nodes, Focus: max(focus, 0)}, len(nodes) > 0
}

// writeNode appends a subtree in reading order, and tells where the leaf to
// focus is; -1 if it is not among them.
func writeNode(nodes []api.LayoutNode, n, focus *Node, name func(id string) string) ([]api.LayoutNode, int) {
	if n.Pane != nil {
		if n.Pane.ID == "" || n.Pane.FinalState() != nil || n.Pane.Err() != nil {
			return nodes, -1
		}
		at := -1
		if n == focus {
			at = len(nodes)
		}
		return append(nodes, api.LayoutNode{ID: n.Pane.ID, Name: name(n.Pane.ID)}), at
	}
	split := api.LayoutNode{Axis: api.AxisBeside, Share: n.Share}
	if n.Axis == Below {
		split.Axis = api.AxisBelow
	}
	first, at := writeNode(nil, n.A, focus, name)
	second, then := writeNode(nil, n.B, focus, name)
	start := len(nodes)
	switch {
	case len(first) == 0 && len(second) == 0:
		return nodes, -1
	case len(first) == 0:
		return append(nodes, second...), shifted(then, start)
	case len(second) == 0:
		return append(nodes, first...), shifted(at, start)
	}
	nodes = append(append(append(nodes, split), first...), second...)
	if at >= 0 {
		return nodes, at + start + 1
	}
	return nodes, shifted(then, start+1+len(first))
}

// Arrange lays sessions out as a layout says; those that it does not name stay as
// they are. It returns the tab to show and how many sessions it has found.
func (t *Tabs) Arrange(l api.Layout, processes []api.Process) (show *Tab, found int) {
	if l.Check() != nil {
		return nil, 0
	}
	show, found = t.lay(l, newSeeker(processes).resolve(l))
	t.Settle()
	return show, found
}

// Same reports whether sessions lie in the same way, whatever is shown and has the
// keyboard.
func Same(a, b api.Layout) bool {
	return (a.Float == nil) == (b.Float == nil) && slices.EqualFunc(all(a), all(b), func(a, b api.LayoutTab) bool {
		return slices.EqualFunc(a.Nodes, b.Nodes, func(a, b api.LayoutNode) bool {
			return a.Axis == b.Axis && a.Share == b.Share && a.ID == b.ID
		})
	})
}

// byID gives the sessions of a layout's panes that are there, by tab and node.
func (s *seeker) byID(l api.Layout) map[[2]int]string {
	found := map[[2]int]string{}
	for i, t := range all(l) {
		for j, n := range t.Nodes {
			if n.Axis == "" {
				found[[2]int{i, j}] = s.find(n, true)
			}
		}
	}
	return found
}

func shifted(at, by int) int {
	if at < 0 {
		return at
	}
	return at + by
}

// readTab makes the tree of a tab. take gives the pane of node i, or nil if its
// session is not there: then its half goes to the other one.
func readTab(t api.LayoutTab, take func(i int) *terminal.Pane) (root, focus *Node) {
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
			p := take(here)
			if p == nil {
				return nil
			}
			leaf := Leaf(p)
			if here == t.Focus {
				focus = leaf
			}
			return leaf
		}
		a, b := read(), read()
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

// A seeker finds the sessions that a layout names: by id, or else by a name on the
// same machine that no other pane of it goes by. None is found twice.
type seeker struct {
	live map[string]string // ids with names
	used map[string]bool
}

// newSeeker is one among what runs.
func newSeeker(processes []api.Process) *seeker {
	s := &seeker{live: map[string]string{}, used: map[string]bool{}}
	for _, p := range processes {
		if p.Kind == api.KindSession && !p.State.Ended() {
			s.live[p.ID] = p.Name
		}
	}
	return s
}

// find is the id of the session of a pane, "" if it is not there.
func (s *seeker) find(n api.LayoutNode, byID bool) string {
	if byID {
		if _, ok := s.live[n.ID]; ok && !s.used[n.ID] {
			s.used[n.ID] = true
			return n.ID
		}
		return ""
	}
	machine, _ := api.MachineOf(n.ID)
	for id, name := range s.live {
		if on, _ := api.MachineOf(id); on == machine && name == n.Name && n.Name != "" && !s.used[id] {
			s.used[id] = true
			return id
		}
	}
	return ""
}

// resolve gives the session of every pane of a layout, by tab and node.
func (s *seeker) resolve(l api.Layout) map[[2]int]string {
	found := map[[2]int]string{}
	for _, byID := range []bool{true, false} {
		for i, t := range all(l) {
			for j, n := range t.Nodes {
				at := [2]int{i, j}
				if n.Axis == "" && found[at] == "" {
					found[at] = s.find(n, byID)
				}
			}
		}
	}
	return found
}

// Describe names the sessions of a layout.
func Describe(l api.Layout) string {
	var tabs []string
	for _, t := range all(l) {
		var names []string
		for _, n := range t.Nodes {
			if n.Axis == "" {
				machine, _ := api.MachineOf(n.ID)
				names = append(names, api.OnMachine(machine, widget.Clean(n.Name)))
			}
		}
		tabs = append(tabs, strings.Join(names, "+"))
	}
	return fmt.Sprintf("%d: %s", len(tabs), strings.Join(tabs, "  "))
}
