package sessions

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions/layout"
)

// Actions returns the handlers of the view's actions. Other views offer some of these actions too.
func (v *View) Actions() panes.Actions { return v.actions }

// Action returns the handler of action a in the focused pane or, if the pane has none, in the view;
// nil if neither has one.
func (v *View) Action(a keymap.Action) func() tea.Cmd {
	if p := v.FocusedPane(); p != nil {
		if act := p.Actions()[a]; act != nil {
			return act
		}
	}
	return v.actions[a]
}

func (v *View) makeActions() panes.Actions {
	focus := func(d layout.Direction) func() tea.Cmd { return func() tea.Cmd { return v.focus.toward(d) } }
	push := func(d layout.Direction) func() tea.Cmd { return func() tea.Cmd { return v.arranger.moveBorder(d) } }
	by := func(do func(int) tea.Cmd, n int) func() tea.Cmd { return func() tea.Cmd { return do(n) } }
	split := func(x layout.Axis) func() tea.Cmd { return func() tea.Cmd { return v.Launcher.splitPane(x) } }
	all := maps.Clone(v.List.Actions())
	maps.Copy(all, panes.Actions{
		keymap.FocusLeft: focus(layout.Left), keymap.FocusRight: focus(layout.Right),
		keymap.FocusUp: focus(layout.Up), keymap.FocusDown: focus(layout.Down),
		keymap.FocusNext: by(v.focus.cycle, 1), keymap.FocusPrevious: by(v.focus.cycle, -1),
		keymap.FocusLast: v.focus.onPrevious, keymap.PaneNumbers: v.focus.showNumbers,
		keymap.FocusList: v.focus.toggleList,

		keymap.SplitBeside: split(layout.Beside), keymap.SplitBelow: split(layout.Below),
		keymap.PaneZoom: v.focus.toggleZoom, keymap.PaneClose: v.closePane,
		keymap.ResizeLeft: push(layout.Left), keymap.ResizeRight: push(layout.Right),
		keymap.ResizeUp: push(layout.Up), keymap.ResizeDown: push(layout.Down),

		keymap.SessionNew:  v.Launcher.NewSession,
		keymap.SessionNext: by(v.focus.cycleSessions, 1), keymap.SessionPrevious: by(v.focus.cycleSessions, -1),
		keymap.SessionLast: v.focus.showLastTab,
		keymap.SessionKill: v.askKill,
		keymap.TabRename:   v.arranger.askTabName,

		keymap.LayoutEqual:  v.arranger.equalise,
		keymap.PaneSwapNext: by(v.arranger.swapPanes, 1), keymap.PaneSwapPrevious: by(v.arranger.swapPanes, -1),
		keymap.PaneFloat: v.arranger.toggleFloat, keymap.PaneBreak: v.arranger.breakOut, keymap.PaneMove: v.arranger.askMove,
		keymap.LayoutSave: v.arranger.askSaveLayout, keymap.LayoutShow: v.arranger.askLayout,
	})
	for n := 1; n <= keymap.NumberedTabs; n++ {
		all[keymap.TabSelect(n)] = by(v.focus.showTabNumber, n)
	}
	return all
}
