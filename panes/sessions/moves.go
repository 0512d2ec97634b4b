package sessions

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/panes/states"
)

// An arranger moves panes and borders.
type arranger struct {
	env      Env
	tabs     *Tabs
	display  *display
	switcher *switcher
	launcher *Launcher

	movedAt time.Time // when a key last moved a border; zero after any other key
}

// moveBorder moves a border of the focused pane.
func (m *arranger) moveBorder(d layout.Direction) tea.Cmd {
	if m.switcher.showsPanes() {
		step := 2
		if d == layout.Left || d == layout.Right {
			step = 4
		}
		m.tabs.Current.Focus.PushBorder(d, step)
		m.switcher.relayout()
		m.movedAt = time.Now()
	}
	return nil
}

// repeatTime is how long after moving a border its key repeats the move without the
// prefix.
const repeatTime = 500 * time.Millisecond

// repeatMove moves a border again; ok reports whether k did so.
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

func (m *arranger) equalise() tea.Cmd {
	if m.switcher.showsPanes() {
		m.tabs.Current.Root.EqualizeShares()
		m.switcher.relayout()
	}
	return nil
}

// swapPanes exchanges the focused pane with the one step places away. The focus follows
// the pane.
func (m *arranger) swapPanes(step int) tea.Cmd {
	if !m.switcher.showsPanes() {
		return nil
	}
	here := m.tabs.Current.Focus
	there := here.NextLeaf(step)
	if here == there {
		return nil
	}
	here.ID, there.ID = there.ID, here.ID
	m.tabs.Current.Focus = there
	m.switcher.relayout()
	m.switcher.refreshList()
	return nil
}

// breakOut moves the focused pane to a new tab.
func (m *arranger) breakOut() tea.Cmd {
	if m.tabs.FocusedPane() == nil || m.tabs.Current.Root.IsLeaf() && !m.tabs.IsFloating() {
		return nil
	}
	m.switcher.openTab(m.tabs.BreakOut(m.tabs.Current, m.tabs.Current.Focus), nil)
	return nil
}

// toggleFloat shows or hides the floating pane, with a new session if there is none.
func (m *arranger) toggleFloat() tea.Cmd {
	tabs := m.tabs
	switch {
	case tabs.Current == nil:
		return m.launcher.NewSession()
	case tabs.IsFloating() && m.tabs.shown:
		m.switcher.openTab(tabs.Under, nil)
		return nil
	case tabs.Float != nil:
		m.switcher.showTab(tabs.Float, nil)
		m.env.ShowSessions()
		m.switcher.refreshList()
		return nil
	}
	near := m.tabs.CurrentPane()
	start := m.launcher.newStart(machineOf(near))
	tabs.Float = layout.NewTab(start.ID)
	m.switcher.showTab(tabs.Float, nil)
	m.env.ShowSessions()
	return m.launcher.startIn(start, near, "")
}

// askMove asks for a tab to move the focused pane to.
func (m *arranger) askMove() tea.Cmd {
	p := m.tabs.FocusedPane()
	if p == nil {
		return nil
	}
	var choices []list.Choice
	var targets []*layout.Tab
	look := m.env.Look()
	for i, t := range m.tabs.All {
		if t == m.tabs.Current {
			continue
		}
		choices = append(choices, list.Choice{Number: len(targets), Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: m.tabName(t), Detail: "tab " + text.Itoa(i+1)})
		targets = append(targets, t)
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

// movePane moves the pane of a session beside the focused pane of another tab, or below it if it does not
// fit beside.
func (m *arranger) movePane(id string, to *layout.Tab) tea.Cmd {
	from, leaf := m.tabs.FindSession(id)
	if from == nil || to == nil || from == to || m.tabs.IndexOf(to) < 0 {
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
	m.tabs.DetachLeaf(from, leaf)
	var created *layout.Node
	to.Root, created = to.Focus.SplitLeaf(x, id)
	m.switcher.openTab(to, created)
	return nil
}

// applyArrangement arranges the panes of the current tab in one of the standard ways.
func (m *arranger) applyArrangement(a layout.Arrangement) tea.Cmd {
	if m.tabs.Current == nil || m.tabs.Current.Root.IsLeaf() {
		return nil
	}
	m.tabs.Current.Root, m.tabs.Current.Focus = m.tabs.Current.Rearrange(a)
	m.switcher.setZoomed(false)
	return nil
}
