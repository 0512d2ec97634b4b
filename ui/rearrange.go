package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/terminal"
	"tandem/panes/widget"
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
	if m.layouts.pushed.IsZero() || k.Phase == keys.Release {
		return false
	}
	if m.overlay == nil && !m.resolver.Pending() && m.view == viewSessions && time.Since(m.layouts.pushed) < pushAgainTime {
		for d, action := range []keymap.Action{left: keymap.ResizeLeft, right: keymap.ResizeRight, up: keymap.ResizeUp, down: keymap.ResizeDown} {
			if m.o.Bindings.Is(k, keymap.ScopePrefix, action) {
				m.push(direction(d))
				return true
			}
		}
	}
	m.layouts.pushed = time.Time{}
	return false
}

// weight is how many panes are side by side in n along an axis.
func (n *node) weight(x axis) int {
	if n.pane != nil || n.axis != x {
		return 1
	}
	return n.a.weight(x) + n.b.weight(x)
}

// equalise gives all panes of a row, and all of a column, the same size.
func (n *node) equalise() {
	if n.pane != nil {
		return
	}
	first, second := n.a.weight(n.axis), n.b.weight(n.axis)
	n.share = shareUnit * first / (first + second)
	n.a.equalise()
	n.b.equalise()
}

func (m *model) equalise() tea.Cmd {
	if m.view == viewSessions && m.current != nil && !m.zoomed {
		m.current.root.equalise()
		m.relayout()
	}
	return nil
}

// swap exchanges the focused pane with the one after or before it; the focus
// goes with it.
func (m *model) swap(step int) tea.Cmd {
	if m.view != viewSessions || m.current == nil || m.zoomed {
		return nil
	}
	here := m.current.focus
	there := here.next(step)
	if here == there {
		return nil
	}
	here.pane, there.pane = there.pane, here.pane
	m.current.focus = there
	m.relayout()
	m.refreshList()
	return nil
}

// breakOut gives the focused pane a tab of its own.
func (m *model) breakOut() tea.Cmd {
	p := m.focused()
	if p == nil || m.current.root.pane != nil {
		return nil
	}
	at := m.indexOf(m.current)
	m.detach(m.current, m.current.focus)
	g := newGroup(p)
	m.groups = append(m.groups[:at+1:at+1], append([]*group{g}, m.groups[at+1:]...)...)
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
	var targets []*group
	for i, g := range m.groups {
		if g == m.current {
			continue
		}
		choices = append(choices, widget.Choice{Number: len(targets), Sign: m.look.Glyphs.Terminal, SignInk: m.look.Accent,
			Text: m.groupName(g), Detail: "tab " + itoa(i+1)})
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

// groupName names the sessions of a group.
func (m *model) groupName(g *group) string {
	var names []string
	for _, l := range g.root.leaves(nil) {
		p, _ := m.process(l.pane.ID)
		names = append(names, widget.Clean(p.Name))
	}
	return strings.Join(names, " + ")
}

// moveTo takes a pane out of its group and puts it beside, or, where there is no
// room, below the focused pane of another one.
func (m *model) moveTo(p *terminal.Terminal, to *group) tea.Cmd {
	from, leaf := m.groupOf(p)
	if from == nil || to == nil || from == to || m.indexOf(to) < 0 {
		return nil
	}
	to.root.place(m.layout.tree)
	x := beside
	if !to.focus.canSplit(x) {
		x = below
	}
	if !to.focus.canSplit(x) {
		return m.say("no room beside that pane", true)
	}
	m.detach(from, leaf)
	var created *node
	to.root, created = to.focus.split(x, p)
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
