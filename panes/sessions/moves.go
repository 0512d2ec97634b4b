package sessions

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/panes/states"
)

// An arranger changes the layout for the user: it moves panes and borders, names tabs, and saves and shows
// layouts.
type arranger struct {
	env      Env
	tabs     *SharedTabs
	display  *display
	focus    *focus
	launcher *Launcher

	movedAt time.Time // when a key last moved a border; zero after any other key
}

// moveBorder moves a border of the focused pane.
func (m *arranger) moveBorder(d layout.Direction) tea.Cmd {
	if m.focus.showsPanes() {
		step := 2
		if d == layout.Left || d == layout.Right {
			step = 4
		}
		if split := m.tabs.Current.Focus.PushBorder(d, step); split != nil {
			m.resize(split)
		}
		m.movedAt = time.Now()
	}
	return nil
}

// resize stores the new shares of splits in the layout, after their borders were moved.
func (m *arranger) resize(splits ...*layout.Node) {
	for _, s := range splits {
		m.tabs.change(api.LayoutChange{Do: api.LayoutResize, ID: s.A.Leaves(nil)[0].ID, Other: s.B.Leaves(nil)[0].ID, Share: s.Share})
	}
	m.focus.relayout()
}

// repeatTime is how long the keys for moving borders work without the prefix, after one of them was
// pressed.
const repeatTime = 500 * time.Millisecond

// repeatMove moves a border again if k moves borders and the last move was a moment ago; ok reports
// whether it did.
func (m *arranger) repeatMove(k keys.Key) (ok bool) {
	if m.movedAt.IsZero() {
		return false
	}
	if time.Since(m.movedAt) < repeatTime {
		for d, action := range []keymap.Action{layout.Left: keymap.ResizeLeft, layout.Right: keymap.ResizeRight, layout.Up: keymap.ResizeUp, layout.Down: keymap.ResizeDown} {
			if m.env.Bindings().Is(k, keymap.ScopePrefix, action) {
				m.moveBorder(layout.Direction(d))
				return true
			}
		}
	}
	m.movedAt = time.Time{}
	return false
}

// equalise gives all panes of a row, and all of a column, the same size.
func (m *arranger) equalise() tea.Cmd {
	if m.focus.showsPanes() {
		m.resize(m.tabs.Current.Root.EqualizeShares()...)
	}
	return nil
}

// swapPanes swaps the focused pane with the one step places after it in reading order. The focus
// follows the pane.
func (m *arranger) swapPanes(step int) tea.Cmd {
	if !m.focus.showsPanes() {
		return nil
	}
	here := m.tabs.Current.Focus
	there := here.NextLeaf(step)
	if here == there {
		return nil
	}
	first, second := here, there
	if leaves := m.tabs.Current.Root.Leaves(nil); slices.Index(leaves, here) > slices.Index(leaves, there) {
		first, second = there, here
	}
	m.focus.change(here.ID, api.LayoutChange{Do: api.LayoutSwap, ID: first.ID, Other: second.ID})
	return nil
}

// breakOut moves the focused pane to a new tab.
func (m *arranger) breakOut() tea.Cmd {
	if m.focus.pane() == nil || m.tabs.Current.Root.IsLeaf() && !m.tabs.IsFloating() {
		return nil
	}
	id := m.tabs.CurrentID()
	m.focus.change(id, ownTab(id, api.OwnAfter))
	return nil
}

// toggleFloat shows or hides the floating pane, with a new session if there is none.
func (m *arranger) toggleFloat() tea.Cmd {
	tabs := m.tabs
	switch {
	case tabs.Current == nil:
		return m.launcher.NewSession()
	case tabs.IsFloating() && m.focus.shown:
		m.focus.openTab(tabs.Under, nil)
		return nil
	case tabs.Float != nil:
		m.focus.showTab(tabs.Float, nil)
		m.env.ShowSessions()
		m.focus.refreshList()
		return nil
	}
	near := m.focus.panes.Pane(m.tabs.CurrentID())
	start := m.launcher.newStart(machineOf(near))
	m.focus.change(start.ID, ownTab(start.ID, api.OwnFloat))
	m.env.ShowSessions()
	return m.launcher.startIn(start, near, "")
}

// askMove asks for a tab to move the focused pane to.
func (m *arranger) askMove() tea.Cmd {
	p := m.focus.pane()
	if p == nil {
		return nil
	}
	var choices []list.Choice
	var targets []string // a session of each tab
	look := m.env.Look()
	for i, t := range m.tabs.All {
		if t == m.tabs.Current {
			continue
		}
		choices = append(choices, list.Choice{Number: len(targets), Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: m.tabName(t), Detail: "tab " + text.Itoa(i+1)})
		targets = append(targets, t.Focus.ID)
	}
	if len(choices) == 0 {
		return m.env.Say("no other tab; "+m.env.Bindings().KeyOrName(keymap.PaneBreak, keymap.ScopePrefix)+" moves the pane to a tab of its own", false)
	}
	u := &dialog.Picker{Title: "Move the pane beside", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "move it there" }}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd { return m.movePane(p.ID, targets[c.Number]) }
	m.env.Ask(u)
	return nil
}

// tabName returns the name of a tab, or lists its sessions.
func (m *arranger) tabName(t *layout.Tab) string {
	if t.Name != "" {
		return text.Clean(t.Name)
	}
	var names []string
	for _, l := range t.Root.Leaves(nil) {
		p, _ := m.env.News().Process(l.ID)
		names = append(names, states.ShownName(&p))
	}
	return strings.Join(names, " + ")
}

// movePane moves the pane of session id into the tab of session near: beside that tab's focused
// pane or, if there is no room, below it.
func (m *arranger) movePane(id, near string) tea.Cmd {
	to, _ := m.tabs.FindSession(near)
	if from, _ := m.tabs.FindSession(id); from == nil || to == nil || from == to {
		return nil
	}
	to.Root.SetRects(m.display.areas.tree)
	x := layout.Beside
	if !to.Focus.CanSplit(x) {
		x = layout.Below
	}
	if !to.Focus.CanSplit(x) {
		return m.env.Say("no room beside that pane", true)
	}
	m.focus.change(id, api.LayoutChange{Do: api.LayoutArrange, Nodes: to.Focus.SplitWith(x, id), At: to.Focus.ID})
	return nil
}

// applyArrangement arranges the panes of the current tab in one of the standard ways.
func (m *arranger) applyArrangement(a layout.Arrangement) tea.Cmd {
	if m.tabs.Current == nil || m.tabs.Current.Root.IsLeaf() {
		return nil
	}
	m.focus.change(m.tabs.CurrentID(), api.LayoutChange{Do: api.LayoutArrange, Nodes: m.tabs.Current.Rearrange(a).Nodes()})
	m.focus.setZoomed(false)
	return nil
}

// askTabName asks for the name of the current tab.
func (m *arranger) askTabName() tea.Cmd {
	t := m.tabs.Current
	if t == nil {
		return m.env.Say("no tab to name", false)
	}
	id := t.Focus.ID
	ask := dialog.NewPrompt("Name the tab", t.Name, func(name string) tea.Cmd {
		for len(name) > api.MaxTabName {
			_, last := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-last]
		}
		m.tabs.change(api.LayoutChange{Do: api.LayoutRename, ID: id, Name: name})
		m.focus.refresh()
		return nil
	})
	ask.Note, ask.Clears = "Without a name, the tab shows what runs in it.", true
	m.env.Ask(ask)
	return nil
}
