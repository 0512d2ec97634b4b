package ui

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/layout"
)

// Actions are what keys do in the view. Some are available in other views too.
func (v *sessionsView) Actions() panes.Actions { return v.actions }

// Action is what an action does in the terminal that has the keyboard, else in
// the view; nil if it does nothing.
func (v *sessionsView) Action(a keymap.Action) func() tea.Cmd {
	if p := v.focused(); p != nil {
		if act := p.Actions()[a]; act != nil {
			return act
		}
	}
	return v.actions[a]
}

func (v *sessionsView) makeActions() panes.Actions {
	focus := func(d layout.Direction) func() tea.Cmd { return func() tea.Cmd { return v.steps.towards(d) } }
	push := func(d layout.Direction) func() tea.Cmd { return func() tea.Cmd { return v.moves.push(d) } }
	by := func(do func(int) tea.Cmd, n int) func() tea.Cmd { return func() tea.Cmd { return do(n) } }
	split := func(x layout.Axis) func() tea.Cmd { return func() tea.Cmd { return v.starts.split(x) } }
	all := maps.Clone(v.list.Actions())
	maps.Copy(all, panes.Actions{
		keymap.FocusLeft: focus(layout.Left), keymap.FocusRight: focus(layout.Right),
		keymap.FocusUp: focus(layout.Up), keymap.FocusDown: focus(layout.Down),
		keymap.FocusNext: by(v.steps.around, 1), keymap.FocusPrevious: by(v.steps.around, -1),
		keymap.FocusLast: v.steps.paneBefore, keymap.PaneNumbers: v.steps.number,
		keymap.FocusList: v.focusList,

		keymap.SplitBeside: split(layout.Beside), keymap.SplitBelow: split(layout.Below),
		keymap.PaneZoom: v.zoom, keymap.PaneClose: v.closePane,
		keymap.ResizeLeft: push(layout.Left), keymap.ResizeRight: push(layout.Right),
		keymap.ResizeUp: push(layout.Up), keymap.ResizeDown: push(layout.Down),

		keymap.SessionNew:  v.starts.newSession,
		keymap.SessionNext: by(v.steps.session, 1), keymap.SessionPrevious: by(v.steps.session, -1),
		keymap.SessionLast: v.steps.sessionBefore,
		keymap.SessionEnd:  v.askEnd,

		keymap.LayoutEqual:  v.moves.equalise,
		keymap.PaneSwapNext: by(v.moves.swap, 1), keymap.PaneSwapPrevious: by(v.moves.swap, -1),
		keymap.PaneFloat: v.moves.float, keymap.PaneBreak: v.moves.breakOut, keymap.PaneMove: v.moves.askMove,
		keymap.LayoutSave: v.layouts.askSaveLayout, keymap.LayoutShow: v.layouts.askLayout,
	})
	return all
}
