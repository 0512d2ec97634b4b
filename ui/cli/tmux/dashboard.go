// A window of the server is a tab of the dashboard, and both can be changed: commands arrange panes,
// and the user moves sessions between tabs, adds others or closes some. So a call changes the layout only for
// the windows that it has changed. A window goes into the tab already showing most of its panes, at the
// position of the first; everything else in the tab stays as the user left it.

package tmux

import (
	"errors"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/layout"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A dashboard collects the changes of one call to the tabs of Tandem's dashboard.
type dashboard struct {
	engine   *engine
	changed  []*server.Window // windows to update
	removed  []string         // ids of the engine's sessions to close
	movedOut []string         // ids of those to take out of their tab
	swapped  [][2]string      // ids of those to swap
	command  []string         // command line to run as the dashboard at the end; nil if none
}

// markChanged schedules w for an update.
func (d *dashboard) markChanged(w *server.Window) {
	if !slices.Contains(d.changed, w) {
		d.changed = append(d.changed, w)
	}
}

// windowNodes appends a cell of w's layout as splits of the dashboard.
func (d *dashboard) windowNodes(nodes []api.LayoutNode, w *server.Window, cell *cells.Cell) []api.LayoutNode {
	if cell.Kind == cells.Leaf {
		id := w.PaneByID(cell.Pane).Terminal
		return append(nodes, api.LayoutNode{ID: id, Name: d.engine.knownProcesses()[id].Name})
	}
	return d.groupNodes(nodes, w, cell.Kind, cell.Children)
}

func (d *dashboard) groupNodes(nodes []api.LayoutNode, w *server.Window, axis cells.Kind, children []*cells.Cell) []api.LayoutNode {
	if len(children) == 1 {
		return d.windowNodes(nodes, w, children[0])
	}
	size := func(cell *cells.Cell) int {
		begin, end := cell.Span(axis)
		return end - begin
	}
	// Splits are binary: divide the first child from the group of all others.
	total := len(children) - 1
	for _, child := range children {
		total += size(child)
	}
	split := api.LayoutNode{Axis: string(axis), Share: min(size(children[0])*api.LayoutShare/max(total, 1), api.LayoutShare)}
	return d.groupNodes(d.windowNodes(append(nodes, split), w, children[0]), w, axis, children[1:])
}

// update applies the changes of this call to the layout.
func (d *dashboard) update() error {
	var in api.LayoutChangeInput
	// Swap first, while both sessions are still in their tabs.
	for _, pair := range d.swapped {
		swap, err := d.swap(pair[0], pair[1])
		if err != nil {
			return err
		}
		in.Changes = append(in.Changes, swap)
	}
	for _, id := range d.removed {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutClose, ID: id, Hide: true})
	}
	for _, id := range d.movedOut {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutClose, ID: id})
	}
	for _, w := range d.changed {
		if len(w.Panes) > 0 {
			in.Changes = append(in.Changes, d.placeWindow(w)...)
		}
	}
	d.changed, d.removed, d.movedOut, d.swapped = nil, nil, nil, nil
	return d.change(in)
}

// swap returns the change that exchanges two sessions. Its first session is the one that comes
// first in the layout.
func (d *dashboard) swap(a, b string) (api.LayoutChange, error) {
	now, err := callEngine(d.engine, api.LayoutGet, api.Empty{})
	swap := api.LayoutChange{Do: api.LayoutSwap, ID: a, Other: b}
	if err != nil || now.Current == nil {
		return swap, err
	}
	for _, t := range now.Current.AllTabs() {
		for _, id := range layout.Sessions(t.Nodes) {
			switch id {
			case a:
				return swap, nil
			case b:
				swap.ID, swap.Other = b, a
				return swap, nil
			}
		}
	}
	return swap, nil
}

// placeWindow returns the changes that give w its tab and, if the dashboard is about to open, the focus.
func (d *dashboard) placeWindow(w *server.Window) []api.LayoutChange {
	changes := []api.LayoutChange{{Do: api.LayoutArrange, Nodes: d.windowNodes(nil, w, w.Layout)}}
	if d.command != nil {
		changes = append(changes, api.LayoutChange{Do: api.LayoutFocus, ID: w.ActivePane().Terminal})
	}
	return changes
}

// show switches the dashboards with the keyboard in a session to w.
func (d *dashboard) show(w *server.Window, session string) error {
	return d.change(api.LayoutChangeInput{Changes: d.placeWindow(w), Show: w.ActivePane().Terminal, ShowIn: session})
}

// change changes the layout. Callers forbidden to change it skip that without an error.
func (d *dashboard) change(in api.LayoutChangeInput) error {
	if len(in.Changes) == 0 {
		return nil
	}
	_, err := callEngine(d.engine, api.LayoutChanges, in)
	if errors.Is(err, api.CodeForbidden) {
		return nil
	}
	return err
}
