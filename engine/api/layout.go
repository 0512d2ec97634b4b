package api

import "slices"

// The operations on layouts, the arrangements of sessions in dashboards. The engine stores layouts
// without interpreting them.
var (
	LayoutGet = NewOperation[Empty, LayoutGetOutput]("layout.get",
		"Returns the layout for the next dashboard, which is the one changed last, and the saved layouts.", Read,
		Row[Empty]{Access: Unrestricted})
	LayoutPut = NewOperation[LayoutPutInput, LayoutPutOutput]("layout.put",
		"Saves a layout under a name, or as the one for the next dashboard.", Write,
		Row[LayoutPutInput]{Access: UserOnly, Repeat: RepeatMarked})
	LayoutRemove = NewOperation[LayoutRemoveInput, Empty]("layout.remove",
		"Deletes a saved layout.", Destructive,
		Row[LayoutRemoveInput]{Access: UserOnly, Repeat: RepeatGone})
)

// A Layout is an arrangement of sessions in tabs. Check states its limits.
type Layout struct {
	Tabs    []LayoutTab `json:"tabs" jsonschema:"the tabs, in order"`
	Current int         `json:"current,omitempty" jsonschema:"index of the visible tab"`
	Float   *LayoutTab  `json:"float,omitempty" jsonschema:"the panes floating over the tabs"`
	Floats  bool        `json:"floats,omitempty" jsonschema:"float is visible"`
	Zoomed  bool        `json:"zoomed,omitempty" jsonschema:"the focused pane of the current tab fills the screen"`
	Closed  []string    `json:"closed,omitempty" jsonschema:"ids of exited sessions that were closed and are no longer listed"`
}

// A LayoutTab is a tree of splits as a list in preorder: each split, then its first half, then its
// second.
type LayoutTab struct {
	Name  string       `json:"name,omitempty" jsonschema:"given by the user; without one, the tab shows what runs in its panes"`
	Nodes []LayoutNode `json:"nodes" jsonschema:"splits and panes: each split before its first half, and that before the second"`
	Focus int          `json:"focus,omitempty" jsonschema:"index of the pane with the keyboard"`
}

// Axes of a split.
const (
	AxisBeside = "beside" // left and right halves
	AxisBelow  = "below"  // upper and lower halves
)

// A LayoutNode is a split of two halves, or a pane with a session.
type LayoutNode struct {
	Axis  string `json:"axis,omitempty" jsonschema:"of a split: beside or below"`
	Share int    `json:"share,omitempty" jsonschema:"of a split: share of its first half, out of 10000"`
	ID    string `json:"id,omitempty" jsonschema:"of a pane: its session"`
	Name  string `json:"name,omitempty" jsonschema:"of a pane: its session's name, used if no session has the id"`
}

// A SavedLayout is a layout with its name.
type SavedLayout struct {
	Name   string `json:"name" jsonschema:"its name"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
}

// LayoutGetOutput is the output of layout.get.
type LayoutGetOutput struct {
	Current  *Layout       `json:"current,omitempty" jsonschema:"the layout for the next dashboard"`
	Revision int64         `json:"revision" jsonschema:"number of current, increased by each change; 0 if there is none"`
	Saved    []SavedLayout `json:"saved" jsonschema:"saved layouts, by name"`
}

// LayoutPutInput is the input of layout.put.
type LayoutPutInput struct {
	Name   string `json:"name,omitempty" jsonschema:"name to save it under; without one it is for the next dashboard"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
	ShowIn string `json:"show_in,omitempty" jsonschema:"id of a session: dashboards with the keyboard in it show the layout now"`

	Revision int64 `json:"revision,omitempty" jsonschema:"without a name: number of the layout this one is based on; conflict if it was changed since; 0: no check"`
}

// LayoutPutOutput is the output of layout.put.
type LayoutPutOutput struct {
	Revision int64 `json:"revision" jsonschema:"number of the layout for the next dashboard; 0 if there is none"`
}

// LayoutRemoveInput is the input of layout.remove.
type LayoutRemoveInput struct {
	Name string `json:"name" jsonschema:"name of the saved layout"`
}

// Limits of a layout.
const (
	MaxTabs     = 500
	MaxTabName  = 100    // bytes
	MaxNodes    = 500    // per tab
	LayoutShare = 10_000 // LayoutNode.Share of a half as large as the split
	MaxClosed   = 1000
)

// Check returns an *Error with CodeInvalid if the layout exceeds a limit or is not a tree.
func (l Layout) Check() error {
	if len(l.Tabs) > MaxTabs {
		return Errorf(CodeInvalid, "layout: more than %d tabs", MaxTabs)
	}
	if len(l.Closed) > MaxClosed {
		return Errorf(CodeInvalid, "layout: more than %d closed sessions", MaxClosed)
	}
	tabs := l.Tabs
	if l.Float != nil {
		tabs = append(slices.Clip(tabs), *l.Float)
	}
	for i, t := range tabs {
		if len(t.Name) > MaxTabName {
			return Errorf(CodeInvalid, "layout: name of tab %d is longer than %d bytes", i, MaxTabName)
		}
		if len(t.Nodes) > MaxNodes {
			return Errorf(CodeInvalid, "layout: tab %d has more than %d nodes", i, MaxNodes)
		}
		// In preorder a split opens one more subtree and a pane closes one, so the list is a
		// tree if the count reaches 0 exactly at its end.
		open := 1
		for j, n := range t.Nodes {
			split := n.Axis == AxisBeside || n.Axis == AxisBelow
			switch {
			case open == 0:
				return Errorf(CodeInvalid, "layout: tab %d has more nodes than its splits have halves", i)
			case !split && n.Axis != "":
				return Errorf(CodeInvalid, "layout: node %d of tab %d has axis %q; must be beside or below", j, i, n.Axis)
			case n.Share < 0 || n.Share > LayoutShare:
				return Errorf(CodeInvalid, "layout: node %d of tab %d has share %d; must be at most %d", j, i, n.Share, LayoutShare)
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
