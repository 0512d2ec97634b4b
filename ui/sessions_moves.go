package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// moves move panes and borders about.
type moves struct {
	v      *sessionsView
	pushed time.Time // when a key moved a border last, if no other key came since
}

// push moves a border of the focused pane.
func (m *moves) push(d layout.Direction) tea.Cmd {
	if m.v.tabs.Current != nil && !m.v.zoomed && m.v.shown {
		step := 2
		if d == layout.Left || d == layout.Right {
			step = 4
		}
		m.v.tabs.Current.Focus.Push(d, step)
		m.v.relayout()
		m.pushed = time.Now()
	}
	return nil
}

// pushAgainTime is how long a key that has moved a border moves it again without
// the prefix.
const pushAgainTime = 500 * time.Millisecond

// pushAgain moves a border once more; ok reports whether the key meant that.
func (m *moves) pushAgain(k keys.Key) (ok bool) {
	if m.pushed.IsZero() {
		return false
	}
	if time.Since(m.pushed) < pushAgainTime {
		for d, action := range []keymap.Action{layout.Left: keymap.ResizeLeft, layout.Right: keymap.ResizeRight, layout.Up: keymap.ResizeUp, layout.Down: keymap.ResizeDown} {
			if m.v.env.Bindings().Is(k, keymap.ScopePrefix, action) {
				m.push(layout.Direction(d))
				return true
			}
		}
	}
	m.pushed = time.Time{}
	return false
}

func (m *moves) equalise() tea.Cmd {
	if m.v.shown && m.v.tabs.Current != nil && !m.v.zoomed {
		m.v.tabs.Current.Root.Equalise()
		m.v.relayout()
	}
	return nil
}

// swap exchanges the focused pane with the one after or before it; the focus
// goes with it.
func (m *moves) swap(step int) tea.Cmd {
	if !m.v.shown || m.v.tabs.Current == nil || m.v.zoomed {
		return nil
	}
	here := m.v.tabs.Current.Focus
	there := here.Next(step)
	if here == there {
		return nil
	}
	here.Pane, there.Pane = there.Pane, here.Pane
	m.v.tabs.Current.Focus = there
	m.v.relayout()
	m.v.refreshList()
	return nil
}

// breakOut gives the focused pane a tab of its own.
func (m *moves) breakOut() tea.Cmd {
	if m.v.focused() == nil || m.v.tabs.Current.Root.Pane != nil && !m.v.tabs.Floating() {
		return nil
	}
	m.v.show(m.v.tabs.BreakOut(m.v.tabs.Current, m.v.tabs.Current.Focus), nil)
	m.v.refreshList()
	return nil
}

// float shows the floating pane, with a new session if there is none, or puts it
// away.
func (m *moves) float() tea.Cmd {
	tabs := &m.v.tabs
	switch {
	case tabs.Current == nil:
		return m.v.starts.newSession()
	case tabs.Floating() && m.v.shown:
		m.v.show(tabs.Under, nil)
		m.v.refreshList()
		return nil
	case tabs.Float != nil:
		m.v.show(tabs.Float, nil)
		m.v.env.ShowSessions()
		m.v.refreshList()
		return nil
	}
	near := m.v.currentPane()
	tabs.Float = layout.NewTab(tabs.New(""))
	m.v.show(tabs.Float, nil)
	m.v.env.ShowSessions()
	return m.v.starts.start(tabs.Float.Focus.Pane, m.v.starts.machine(near), near, nil, "")
}

// askMove lets the person choose a tab that the focused pane is moved to.
func (m *moves) askMove() tea.Cmd {
	p := m.v.focused()
	if p == nil {
		return nil
	}
	var choices []widget.Choice
	var targets []*layout.Tab
	look := m.v.env.Look()
	for i, t := range m.v.tabs.All {
		if t == m.v.tabs.Current {
			continue
		}
		choices = append(choices, widget.Choice{Number: len(targets), Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: m.tabName(t), Detail: "tab " + widget.Itoa(i+1)})
		targets = append(targets, t)
	}
	if len(choices) == 0 {
		return m.v.env.Say("no other tab; "+keyFor(m.v.env.Bindings(), keymap.PaneBreak)+" moves the pane to a tab of its own", false)
	}
	u := &overlay.Picker{Title: "Move the pane beside", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "move it there" }}
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd { return m.moveTo(p, targets[c.Number]) }
	m.v.env.Ask(u)
	return nil
}

// tabName names the sessions of a tab.
func (m *moves) tabName(t *layout.Tab) string {
	var names []string
	for _, l := range t.Root.Leaves(nil) {
		p, _ := m.v.env.News().Process(l.Pane.ID)
		names = append(names, widget.FullName(&p))
	}
	return strings.Join(names, " + ")
}

// moveTo takes a pane out of its tab and puts it beside, or, where there is no
// room, below the focused pane of another one.
func (m *moves) moveTo(p *terminal.Pane, to *layout.Tab) tea.Cmd {
	from, leaf := m.v.tabs.Of(p)
	if from == nil || to == nil || from == to || m.v.tabs.Index(to) < 0 {
		return nil
	}
	to.Root.Place(m.v.areas.tree)
	x := layout.Beside
	if !to.Focus.CanSplit(x) {
		x = layout.Below
	}
	if !to.Focus.CanSplit(x) {
		return m.v.env.Say("no room beside that pane", true)
	}
	m.v.tabs.Detach(from, leaf)
	var created *layout.Node
	to.Root, created = to.Focus.Split(x, p)
	m.v.show(to, created)
	m.v.refreshList()
	return nil
}

// arrangeAs lays the panes of the tab that is shown out anew.
func (m *moves) arrangeAs(a layout.Arrangement) tea.Cmd {
	if m.v.tabs.Current == nil || m.v.tabs.Current.Root.Pane != nil {
		return nil
	}
	m.v.tabs.Current.Root, m.v.tabs.Current.Focus = m.v.tabs.Current.ArrangedAs(a)
	m.v.setZoomed(false)
	return nil
}
