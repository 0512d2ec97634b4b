package api

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// These are the operations on the layout, the arrangement of sessions in tabs and panes. There is
// one layout, shown by all dashboards. Others can be saved under names.
var (
	LayoutGet = NewOperation[Empty, LayoutGetOutput]("layout.get",
		"Returns the layout, and those saved under names.", Read,
		Row[Empty]{Access: Unrestricted})
	LayoutChanges = NewOperation[LayoutChangeInput, LayoutChangeOutput]("layout.change",
		"Changes the layout.", Write,
		Row[LayoutChangeInput]{Access: UserOnly, Repeat: RepeatAlways})
	LayoutPut = NewOperation[LayoutPutInput, Empty]("layout.put",
		"Saves a layout under a name.", Write,
		Row[LayoutPutInput]{Access: UserOnly, Repeat: RepeatAlways})
	LayoutRemove = NewOperation[LayoutRemoveInput, Empty]("layout.remove",
		"Deletes a saved layout.", Destructive,
		Row[LayoutRemoveInput]{Access: UserOnly, Repeat: RepeatGone})
)

// A Layout is an arrangement of sessions in tabs. Check states its limits.
type Layout struct {
	Tabs   []LayoutTab `json:"tabs" jsonschema:"the tabs, in order"`
	Float  *LayoutTab  `json:"float,omitempty" jsonschema:"the panes floating over the tabs"`
	Closed []string    `json:"closed,omitempty" jsonschema:"ids of exited sessions that were closed and are no longer listed"`

	// What the next dashboard shows first.
	Current int  `json:"current,omitempty" jsonschema:"index of the visible tab"`
	Floats  bool `json:"floats,omitempty" jsonschema:"\"float\" is visible"`
	Zoomed  bool `json:"zoomed,omitempty" jsonschema:"the focused pane fills the screen"`
}

// A LayoutTab is a tree of splits. The list has it in preorder: each split, then its first half,
// then its second half.
type LayoutTab struct {
	Name  string       `json:"name,omitempty" jsonschema:"name given by the user; if empty, the tab shows the programs running in its panes"`
	Nodes []LayoutNode `json:"nodes" jsonschema:"splits and panes in preorder: each split is followed by its first half, then by its second"`
	Focus int          `json:"focus,omitempty" jsonschema:"index of the focused pane"`
}

// Axes of a split.
const (
	AxisBeside = "beside" // left and right halves
	AxisBelow  = "below"  // upper and lower halves
)

// A LayoutNode is a split into two halves, or a pane with a session.
type LayoutNode struct {
	Axis  string `json:"axis,omitempty" jsonschema:"how a split divides its area: beside or below"`
	Share int    `json:"share,omitempty" jsonschema:"share of the first half of a split, out of 10000"`
	ID    string `json:"id,omitempty" jsonschema:"id of the session in a pane"`
	Name  string `json:"name,omitempty" jsonschema:"name of a pane's session, used if no session has the id"`
}

// A SavedLayout is a layout with its name.
type SavedLayout struct {
	Name   string `json:"name" jsonschema:"name of the layout"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
}

// LayoutGetOutput is the output of layout.get.
type LayoutGetOutput struct {
	Current  *Layout       `json:"current,omitempty" jsonschema:"the layout; open sessions missing in it have tabs of their own after the others"`
	Revision int64         `json:"revision" jsonschema:"revision of \"current\", increased by each change; 0 without a layout"`
	Saved    []SavedLayout `json:"saved" jsonschema:"saved layouts, by name"`
}

// A LayoutAction says what a LayoutChange does.
type LayoutAction string

const (
	LayoutArrange LayoutAction = "arrange" // moves the sessions of Nodes to one place and splits it among them
	LayoutResize  LayoutAction = "resize"  // moves the border between ID and Other
	LayoutSwap    LayoutAction = "swap"    // exchanges ID and Other, if ID comes first
	LayoutRename  LayoutAction = "rename"  // names the tab of ID, which gets one if it has none
	LayoutClose   LayoutAction = "close"   // removes the pane of ID
	LayoutFocus   LayoutAction = "focus"   // the next dashboard opens with the tab of ID and the focus on its pane
)

// Own says which tab arranged sessions get for themselves.
type Own string

const (
	OwnEnd   Own = "end"   // a new tab after all others
	OwnAfter Own = "after" // a new tab after that of the first session
	OwnFloat Own = "float" // the floating tab; one that floats already becomes an ordinary tab
)

// A LayoutChange is one change of the layout. It names panes and tabs by their sessions, because
// other clients may change the layout at the same time. If a session that it names has no pane, the
// change does nothing; only arrange and rename make panes. Repeating a change has no further
// effect.
type LayoutChange struct {
	Do    LayoutAction `json:"do" jsonschema:"arrange, resize, swap, rename, close or focus"`
	ID    string       `json:"id,omitempty" jsonschema:"the session whose pane or tab is changed; not for arrange"`
	Other string       `json:"other,omitempty" jsonschema:"for resize and swap: the other session"`

	Nodes []LayoutNode `json:"nodes,omitempty" jsonschema:"for arrange: the sessions and the splits between them, as in a tab"`
	At    string       `json:"at,omitempty" jsonschema:"for arrange: the session whose place they take; default: the first of them, in the tab with most of them"`
	Own   Own          `json:"own,omitempty" jsonschema:"for arrange: a tab for the sessions alone: end, after or float"`

	Share  int    `json:"share,omitempty" jsonschema:"for resize: share of the half that contains \"id\", out of 10000"`
	Name   string `json:"name,omitempty" jsonschema:"for rename: name of the tab, empty for none; for arrange: name of a tab for the sessions alone"`
	Hide   bool   `json:"hide,omitempty" jsonschema:"for close: the session has exited and is no longer listed"`
	Zoomed bool   `json:"zoomed,omitempty" jsonschema:"for focus: the pane fills the screen"`
}

// LayoutChangeInput is the input of layout.change.
type LayoutChangeInput struct {
	Changes []LayoutChange `json:"changes" jsonschema:"changes, in order"`
	Show    string         `json:"show,omitempty" jsonschema:"id of a session that dashboards should go to, if their focus is in the session \"show_in\""`
	ShowIn  string         `json:"show_in,omitempty" jsonschema:"id of a session, see \"show\""`
}

// LayoutChangeOutput is the output of layout.change.
type LayoutChangeOutput struct {
	Revision int64 `json:"revision" jsonschema:"revision of the changed layout"`
}

// LayoutPutInput is the input of layout.put.
type LayoutPutInput struct {
	Name   string `json:"name" jsonschema:"name to save it under"`
	Layout Layout `json:"layout" jsonschema:"the layout"`
}

// LayoutRemoveInput is the input of layout.remove.
type LayoutRemoveInput struct {
	Name string `json:"name" jsonschema:"name of the saved layout"`
}

// Limits of a layout.
const (
	MaxTabs     = 5000
	MaxTabName  = 100    // bytes
	MaxNodes    = 500    // per tab
	LayoutShare = 10_000 // LayoutNode.Share of a half as large as the split
	MaxClosed   = 1000
	MaxChanges  = 2 * MaxTabs // of one call
)

// Check returns an *Error with CodeInvalid if the layout exceeds a limit or is not a tree.
func (l Layout) Check() error {
	if len(l.Tabs) > MaxTabs {
		return Errorf(CodeInvalid, "layout: more than %d tabs", MaxTabs)
	}
	if len(l.Closed) > MaxClosed {
		return Errorf(CodeInvalid, "layout: more than %d closed sessions", MaxClosed)
	}
	for i, t := range l.AllTabs() {
		if err := checkTabName(t.Name); err != nil {
			return err
		}
		if err := checkNodes(t.Nodes); err != nil {
			return Errorf(CodeInvalid, "layout: tab %d %v", i, err)
		}
	}
	return nil
}

// AllTabs returns the tabs. The floating tab is the last.
func (l Layout) AllTabs() []LayoutTab {
	if l.Float == nil {
		return l.Tabs
	}
	return append(slices.Clip(l.Tabs), *l.Float)
}

func checkTabName(name string) error {
	if len(name) > MaxTabName {
		return Errorf(CodeInvalid, "layout: the name of a tab is longer than %d bytes", MaxTabName)
	}
	return nil
}

// checkNodes returns an error if the nodes of a tab are not a tree. The caller adds the tab's name
// in front.
func checkNodes(nodes []LayoutNode) error {
	if len(nodes) > MaxNodes {
		return fmt.Errorf("has more than %d nodes", MaxNodes)
	}
	// In preorder, a split adds a subtree that must follow, and a pane completes one. So the list
	// is a tree if the count reaches 0 exactly at its end.
	open := 1
	for i, n := range nodes {
		split := n.Axis == AxisBeside || n.Axis == AxisBelow
		switch {
		case open == 0:
			return errors.New("has too many nodes for its splits")
		case !split && n.Axis != "":
			return fmt.Errorf("has a node %d with axis %q; must be beside or below", i, n.Axis)
		case n.Share < 0 || n.Share > LayoutShare:
			return fmt.Errorf("has a node %d with share %d; must be at most %d", i, n.Share, LayoutShare)
		case split:
			open++
		default:
			open--
		}
	}
	if open != 0 {
		return errors.New("has too few nodes for its splits")
	}
	return nil
}

// Check returns an *Error with CodeInvalid if the change is incomplete or exceeds a limit.
func (c LayoutChange) Check() error {
	invalid := func(format string, args ...any) error {
		return Errorf(CodeInvalid, "change layout: %s: %s", c.Do, fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains([]LayoutAction{LayoutArrange, LayoutResize, LayoutSwap, LayoutRename, LayoutClose, LayoutFocus}, c.Do):
		return Errorf(CodeInvalid, "change layout: do is %q; must be arrange, resize, swap, rename, close or focus", c.Do)
	case c.Do != LayoutArrange && c.ID == "":
		return invalid("needs an id")
	case (c.Do == LayoutResize || c.Do == LayoutSwap) && c.Other == "":
		return invalid("needs an other session")
	case c.Do == LayoutResize && (c.Share <= 0 || c.Share >= LayoutShare):
		return invalid("share is %d; must be between 0 and %d", c.Share, LayoutShare)
	case c.Own != "" && c.Own != OwnEnd && c.Own != OwnAfter && c.Own != OwnFloat:
		return invalid("own is %q; must be end, after or float", c.Own)
	case c.Do != LayoutArrange:
		return checkTabName(c.Name)
	}
	if err := cmp.Or(checkNodes(c.Nodes), checkTabName(c.Name)); err != nil {
		return invalid("its tree %v", err)
	}
	seen := map[string]bool{}
	for _, n := range c.Nodes {
		switch {
		case n.Axis != "":
		case n.ID == "":
			return invalid("a pane needs the id of a session")
		case seen[n.ID]:
			return invalid("session %s has two panes", n.ID)
		}
		seen[n.ID] = true
	}
	return nil
}
