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

// layoutActions are what moves panes about, and what keeps layouts.
func layoutActions() actionTable {
	return actionTable{
		keymap.LayoutEqual:      (*model).equalise,
		keymap.PaneSwapNext:     func(m *model) tea.Cmd { return m.swap(1) },
		keymap.PaneSwapPrevious: func(m *model) tea.Cmd { return m.swap(-1) },
		keymap.PaneBreak:        (*model).breakOut,
		keymap.PaneMove:         (*model).askMove,
		keymap.LayoutSave:       (*model).askSaveLayout,
		keymap.LayoutShow:       (*model).askLayout,
	}
}

// pushAgainTime is how long a key that has moved a border moves it again without
// the prefix.
const pushAgainTime = 500 * time.Millisecond

// pushAgain moves a border once more; ok reports whether the key meant that.
func (m *model) pushAgain(k keys.Key) (ok bool) {
	if m.layouts.pushed.IsZero() {
		return false
	}
	if m.view == viewSessions && time.Since(m.layouts.pushed) < pushAgainTime {
		for d, action := range []keymap.Action{layout.Left: keymap.ResizeLeft, layout.Right: keymap.ResizeRight, layout.Up: keymap.ResizeUp, layout.Down: keymap.ResizeDown} {
			if m.o.Bindings.Is(k, keymap.ScopePrefix, action) {
				m.push(layout.Direction(d))
				return true
			}
		}
	}
	m.layouts.pushed = time.Time{}
	return false
}

func (m *model) equalise() tea.Cmd {
	if m.view == viewSessions && m.tabs.Current != nil && !m.zoomed {
		m.tabs.Current.Root.Equalise()
		m.relayout()
	}
	return nil
}

// swap exchanges the focused pane with the one after or before it; the focus
// goes with it.
func (m *model) swap(step int) tea.Cmd {
	if m.view != viewSessions || m.tabs.Current == nil || m.zoomed {
		return nil
	}
	here := m.tabs.Current.Focus
	there := here.Next(step)
	if here == there {
		return nil
	}
	here.Pane, there.Pane = there.Pane, here.Pane
	m.tabs.Current.Focus = there
	m.relayout()
	m.refreshList()
	return nil
}

// BreakOut gives the focused pane a tab of its own.
func (m *model) breakOut() tea.Cmd {
	p := m.focused()
	if p == nil || m.tabs.Current.Root.Pane != nil {
		return nil
	}
	g := m.tabs.BreakOut(m.tabs.Current, m.tabs.Current.Focus)
	m.show(g, nil)
	m.refreshList()
	return nil
}

// askMove lets the person choose a tab that the focused pane is moved to.
func (m *model) askMove() tea.Cmd {
	p := m.focused()
	if p == nil {
		return nil
	}
	var choices []widget.Choice
	var targets []*layout.Tab
	for i, g := range m.tabs.All {
		if g == m.tabs.Current {
			continue
		}
		choices = append(choices, widget.Choice{Number: len(targets), Sign: m.look.Glyphs.Terminal, SignInk: m.look.Accent,
			Text: m.tabName(g), Detail: "tab " + itoa(i+1)})
		targets = append(targets, g)
	}
	if len(choices) == 0 {
		return m.say("there is no other tab; "+m.keyFor(keymap.PaneBreak)+" gives the pane one of its own", false)
	}
	u := &overlay.Picker{Title: "Move the pane beside", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "move it there" }}
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd { return m.moveTo(p, targets[c.Number]) }
	m.overlay = u
	m.dirty = true
	return nil
}

// tabName names the sessions of a tab.
func (m *model) tabName(g *layout.Tab) string {
	var names []string
	for _, l := range g.Root.Leaves(nil) {
		p, _ := m.process(l.Pane.ID)
		names = append(names, widget.Clean(p.Name))
	}
	return strings.Join(names, " + ")
}

// moveTo takes a pane out of its tab and puts it beside, or, where there is no
// room, below the focused pane of another one.
func (m *model) moveTo(p *terminal.Pane, to *layout.Tab) tea.Cmd {
	from, leaf := m.tabs.Of(p)
	if from == nil || to == nil || from == to || m.tabs.Index(to) < 0 {
		return nil
	}
	to.Root.Place(m.layout.tree)
	x := layout.Beside
	if !to.Focus.CanSplit(x) {
		x = layout.Below
	}
	if !to.Focus.CanSplit(x) {
		return m.say("no room beside that pane", true)
	}
	m.tabs.Detach(from, leaf)
	var created *layout.Node
	to.Root, created = to.Focus.Split(x, p)
	m.show(to, created)
	m.refreshList()
	return nil
}

// keyFor is the key of an action after the prefix, with the prefix; without one
// the action's name.
func (m *model) keyFor(a keymap.Action) string {
	if key := first(m.o.Bindings.KeysOf(a, keymap.ScopePrefix)); key != "" {
		return key
	}
	return string(a)
}

// arrangementChoices are the arrangements that the tab has room for, by numbers
// from first on.
func (m *model) arrangementChoices(first int) (choices []widget.Choice) {
	if m.tabs.Current == nil || m.tabs.Current.Root.Pane != nil {
		return nil
	}
	for i, a := range layout.Arrangements() {
		root, _ := m.tabs.Current.ArrangedAs(a)
		if root.Least(layout.Beside) <= m.layout.tree.W && root.Least(layout.Below) <= m.layout.tree.H {
			choices = append(choices, widget.Choice{Number: first + i, Sign: m.look.Glyphs.More, SignInk: m.look.Dim,
				Text: a.Name, Also: a.Does, Detail: a.Does})
		}
	}
	return choices
}

// arrangeAs lays the panes of the tab that is shown out anew.
func (m *model) arrangeAs(a layout.Arrangement) tea.Cmd {
	if m.tabs.Current == nil || m.tabs.Current.Root.Pane != nil {
		return nil
	}
	m.tabs.Current.Root, m.tabs.Current.Focus = m.tabs.Current.ArrangedAs(a)
	m.setZoomed(false)
	return nil
}
