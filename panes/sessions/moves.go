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
	"tandem/panes/terminal"
)

// An arranger moves panes and borders.
type arranger struct {
	v       *View
	movedAt time.Time // when a key last moved a border; zero after any other key
}

// moveBorder moves a border of the focused pane.
func (m *arranger) moveBorder(d layout.Direction) tea.Cmd {
	if m.v.Tabs.Current != nil && !m.v.zoomed && m.v.shown {
		step := 2
		if d == layout.Left || d == layout.Right {
			step = 4
		}
		m.v.Tabs.Current.Focus.PushBorder(d, step)
		m.v.relayout()
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
			if m.v.env.Bindings().Is(k, keymap.ScopePrefix, action) {
				m.moveBorder(layout.Direction(d))
				return true
			}
		}
	}
	m.movedAt = time.Time{}
	return false
}

func (m *arranger) equalise() tea.Cmd {
	if m.v.shown && m.v.Tabs.Current != nil && !m.v.zoomed {
		m.v.Tabs.Current.Root.EqualizeShares()
		m.v.relayout()
	}
	return nil
}

// swapPanes exchanges the focused pane with the one step places away. The focus follows
// the pane.
func (m *arranger) swapPanes(step int) tea.Cmd {
	if !m.v.shown || m.v.Tabs.Current == nil || m.v.zoomed {
		return nil
	}
	here := m.v.Tabs.Current.Focus
	there := here.NextLeaf(step)
	if here == there {
		return nil
	}
	here.Pane, there.Pane = there.Pane, here.Pane
	m.v.Tabs.Current.Focus = there
	m.v.relayout()
	m.v.refreshList()
	return nil
}

// breakOut moves the focused pane to a new tab.
func (m *arranger) breakOut() tea.Cmd {
	if m.v.FocusedPane() == nil || m.v.Tabs.Current.Root.Pane != nil && !m.v.Tabs.IsFloating() {
		return nil
	}
	m.v.showTab(m.v.Tabs.BreakOut(m.v.Tabs.Current, m.v.Tabs.Current.Focus), nil)
	m.v.refreshList()
	return nil
}

// toggleFloat shows or hides the floating pane, with a new session if there is none.
func (m *arranger) toggleFloat() tea.Cmd {
	tabs := &m.v.Tabs
	switch {
	case tabs.Current == nil:
		return m.v.Launcher.NewSession()
	case tabs.IsFloating() && m.v.shown:
		m.v.showTab(tabs.Under, nil)
		m.v.refreshList()
		return nil
	case tabs.Float != nil:
		m.v.showTab(tabs.Float, nil)
		m.v.env.ShowSessions()
		m.v.refreshList()
		return nil
	}
	near := m.v.CurrentPane()
	tabs.Float = layout.NewTab(tabs.New(""))
	m.v.showTab(tabs.Float, nil)
	m.v.env.ShowSessions()
	return m.v.Launcher.startIn(tabs.Float.Focus.Pane, m.v.Launcher.MachineOf(near), near, nil, "")
}

// askMove asks for a tab to move the focused pane to.
func (m *arranger) askMove() tea.Cmd {
	p := m.v.FocusedPane()
	if p == nil {
		return nil
	}
	var choices []list.Choice
	var targets []*layout.Tab
	look := m.v.env.Look()
	for i, t := range m.v.Tabs.All {
		if t == m.v.Tabs.Current {
			continue
		}
		choices = append(choices, list.Choice{Number: len(targets), Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: m.tabName(t), Detail: "tab " + text.Itoa(i+1)})
		targets = append(targets, t)
	}
	if len(choices) == 0 {
		return m.v.env.Say("no other tab; "+m.v.env.Bindings().KeyOrName(keymap.PaneBreak, keymap.ScopePrefix)+" moves the pane to a tab of its own", false)
	}
	u := &dialog.Picker{Title: "Move the pane beside", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "move it there" }}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd { return m.movePane(p, targets[c.Number]) }
	m.v.env.Ask(u)
	return nil
}

// tabName lists the names of a tab's sessions.
func (m *arranger) tabName(t *layout.Tab) string {
	var names []string
	for _, l := range t.Root.Leaves(nil) {
		p, _ := m.v.env.News().Process(l.Pane.ID)
		names = append(names, states.FullName(&p))
	}
	return strings.Join(names, " + ")
}

// movePane moves a pane beside the focused pane of another tab, or below it if it does not
// fit beside.
func (m *arranger) movePane(p *terminal.Pane, to *layout.Tab) tea.Cmd {
	from, leaf := m.v.Tabs.FindPane(p)
	if from == nil || to == nil || from == to || m.v.Tabs.IndexOf(to) < 0 {
		return nil
	}
	to.Root.SetRects(m.v.areas.tree)
	x := layout.Beside
	if !to.Focus.CanSplit(x) {
		x = layout.Below
	}
	if !to.Focus.CanSplit(x) {
		return m.v.env.Say("no room beside that pane", true)
	}
	m.v.Tabs.DetachLeaf(from, leaf)
	var created *layout.Node
	to.Root, created = to.Focus.SplitLeaf(x, p)
	m.v.showTab(to, created)
	m.v.refreshList()
	return nil
}

// applyArrangement arranges the panes of the current tab in one of the standard ways.
func (m *arranger) applyArrangement(a layout.Arrangement) tea.Cmd {
	if m.v.Tabs.Current == nil || m.v.Tabs.Current.Root.Pane != nil {
		return nil
	}
	m.v.Tabs.Current.Root, m.v.Tabs.Current.Focus = m.v.Tabs.Current.Rearrange(a)
	m.v.setZoomed(false)
	return nil
}
