package api

import "slices"

// The operations of layouts: how sessions are laid out in dashboards. The engine
// keeps them and does not look at what is in them.
var (
	LayoutGet = NewOperation[Empty, LayoutGetOutput]("layout.get",
		"Gives the layout of the dashboard that changed its own last, and those kept under names.", Read)
	LayoutPut = NewOperation[LayoutPutInput, LayoutPutOutput]("layout.put",
		"Keeps a layout, under a name or as the one that the next dashboard begins with.", Write)
	LayoutRemove = NewOperation[LayoutRemoveInput, Empty]("layout.remove",
		"Forgets a layout that was kept under a name.", Destructive)
)

// A Layout says how sessions are laid out.
type Layout struct {
	Tabs    []LayoutTab `json:"tabs" jsonschema:"what fills the screen at a time, in their order"`
	Current int         `json:"current,omitempty" jsonschema:"index of the tab that is shown"`
	Float   *LayoutTab  `json:"float,omitempty" jsonschema:"what floats over the tabs when it is shown"`
	Floats  bool        `json:"floats,omitempty" jsonschema:"it is shown"`
	Closed  []string    `json:"closed,omitempty" jsonschema:"ids of ended sessions that were closed and are no longer listed"`
}

// A LayoutTab is a tree of splits, written down in a list: each split comes
// before its first half, and that before the second.
type LayoutTab struct {
	Nodes []LayoutNode `json:"nodes" jsonschema:"splits and panes: each split before its first half, and that before the second"`
	Focus int          `json:"focus,omitempty" jsonschema:"index of the pane with the keyboard"`
}

// Axes of a split.
const (
	AxisBeside = "beside" // its halves are left and right
	AxisBelow  = "below"  // its halves are above and below
)

// A LayoutNode is a split of two halves, or a pane with a session.
type LayoutNode struct {
	Axis  string `json:"axis,omitempty" jsonschema:"of a split: beside or below"`
	Share int    `json:"share,omitempty" jsonschema:"of a split: what its first half has, of 10000"`
	ID    string `json:"id,omitempty" jsonschema:"of a pane: its session"`
	Name  string `json:"name,omitempty" jsonschema:"of a pane: its session's name, which finds it if no session has the id"`
}

// A SavedLayout is a layout with its name.
type SavedLayout struct {
	Name   string `json:"name" jsonschema:"its name"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
}

// LayoutGetOutput is the output of layout.get.
type LayoutGetOutput struct {
	Current  *Layout       `json:"current,omitempty" jsonschema:"that of the dashboard which changed its own last"`
	Revision int64         `json:"revision" jsonschema:"number of current, which grows with each change; 0 if there is none"`
	Saved    []SavedLayout `json:"saved" jsonschema:"those kept under names, by name"`
}

// LayoutPutInput is the input of layout.put.
type LayoutPutInput struct {
	Name   string `json:"name,omitempty" jsonschema:"name to keep it under; without one it is what the next dashboard begins with"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
	Show   bool   `json:"show,omitempty" jsonschema:"dashboards that are open show it too"`

	Revision int64 `json:"revision,omitempty" jsonschema:"without a name: number of the one that this was made from; conflict if another one was kept since; 0: whatever was"`
}

// LayoutPutOutput is the output of layout.put.
type LayoutPutOutput struct {
	Revision int64 `json:"revision" jsonschema:"number of what the next dashboard begins with now; 0 if there is none"`
}

// LayoutRemoveInput is the input of layout.remove.
type LayoutRemoveInput struct {
	Name string `json:"name" jsonschema:"the name it was kept under"`
}

// Bounds of a layout.
const (
	MostTabs    = 500
	MostNodes   = 500 // of a tab
	LayoutShare = 10_000
	MostClosed  = 1000
)

// Check reports what is wrong with a layout: an *Error, or nil.
func (l Layout) Check() error {
	if len(l.Tabs) > MostTabs {
		return Errorf(CodeInvalid, "layout: it has more than %d tabs", MostTabs)
	}
	if len(l.Closed) > MostClosed {
		return Errorf(CodeInvalid, "layout: more than %d sessions were put away", MostClosed)
	}
	tabs := l.Tabs
	if l.Float != nil {
		tabs = append(slices.Clip(tabs), *l.Float)
	}
	for i, t := range tabs {
		if len(t.Nodes) > MostNodes {
			return Errorf(CodeInvalid, "layout: tab %d has more than %d nodes", i, MostNodes)
		}
		open := 1 // subtrees that are still to come
		for j, n := range t.Nodes {
			split := n.Axis == AxisBeside || n.Axis == AxisBelow
			switch {
			case open == 0:
				return Errorf(CodeInvalid, "layout: tab %d has more nodes than its splits have halves", i)
			case !split && n.Axis != "":
				return Errorf(CodeInvalid, "layout: node %d of tab %d has axis %q; it is beside or below", j, i, n.Axis)
			case n.Share < 0 || n.Share > LayoutShare:
				return Errorf(CodeInvalid, "layout: node %d of tab %d has share %d; it is at most %d", j, i, n.Share, LayoutShare)
			case split:
				open++
			default:
				open--
			}
		}
		if open != 0 {
			return Errorf(CodeInvalid, "layout: tab %d has fewer nodes than its splits have halves", i)
		}
	}
	return nil
}
