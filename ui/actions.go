package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/processes"
	"tandem/ui/screen"
)

// An input takes what the person does, and gives it to what has the keyboard or is
// under the mouse.
type input struct {
	m        *model
	queue    *screen.Input
	resolver *keymap.Resolver
	wait     prefixWait
	actions  panes.Actions   // of the dashboard itself
	held     panes.Pane      // the one that the mouse was pressed in
	early    []screen.Event  // typed before there was a session
	pending  []panes.Pending // actions that typed input waits for
	blurred  bool            // another window has the keyboard
	left     bool            // the person has left; what is typed now goes nowhere
}

// makeActions is what each action of the dashboard itself does.
func (in *input) makeActions() panes.Actions {
	view := func(v viewKind) func() tea.Cmd { return func() tea.Cmd { return in.m.setView(v) } }
	return panes.Actions{
		keymap.ViewSessions: view(viewSessions), keymap.ViewProcesses: view(viewProcesses),
		keymap.ViewHistory: view(viewHistory), keymap.ViewFiles: view(viewFiles),

		keymap.ProcessNew:     in.m.form.show,
		keymap.SessionNewTree: in.m.form.showTree,
		keymap.SessionFleet: func() tea.Cmd {
			return tea.Sequence(in.m.setView(viewProcesses), processes.ShowFleet(in.m.processes, "kind:session"))
		},
		keymap.HistoryInsert: in.m.history.Recall,
		keymap.PasteBuffer:   in.m.clip.pasteLast,

		keymap.Requests: func() tea.Cmd { return in.m.showRequest("") },
		keymap.Machines: in.m.machines.Show,
		keymap.Browser:  in.m.browser.Show,
		keymap.Help:     in.m.showHelp,
		keymap.Palette:  in.m.showPalette,

		keymap.ThemePick: in.m.theme.show,
		keymap.TipsHide:  in.m.hideTips,

		keymap.Detach: in.m.leave,
		keymap.Quit:   in.m.leave,
	}
}

// scopes are the scopes of what has the keyboard, from the inside outward.
func (in *input) scopes() []keymap.Scope {
	if in.m.dialog.open != nil {
		return in.m.dialog.open.Scopes()
	}
	return append(in.m.pane().Scopes(), keymap.ScopeGlobal)
}

// press is the way of every key: an action, or on to the program.
func (in *input) press(k keys.Key) tea.Cmd {
	pending := in.resolver.Pending()
	if in.m.dialog.open == nil && !pending && k.Phase != keys.Release && in.takeKey(k) {
		return nil
	}
	outcome := in.resolver.Resolve(k, in.scopes()...)
	if pending != in.resolver.Pending() {
		in.m.dirty = true
		if !pending {
			return in.wait.begin()
		}
	}
	switch outcome.Kind {
	case keymap.Bound:
		in.m.dirty = true
		if in.m.dialog.open != nil && outcome.Action != keymap.Help {
			return in.m.dialog.open.Do(env{in.m}, outcome.Action)
		}
		if act := in.action(outcome.Action); act != nil {
			return act()
		}
	case keymap.Unbound:
		return in.typeKey(k)
	case keymap.Dropped:
		if k.Code != keys.Escape { // esc cancels the prefix without a note
			return in.m.notices.say(in.m.o.Bindings.PrefixKeys()[0].Show()+" "+k.Show()+" does nothing", false)
		}
	}
	return nil
}

// keysDelay is how long the prefix waits before the keys that may follow are listed:
// who knows them does not see the list.
const keysDelay = 300 * time.Millisecond

// A prefixWait is the time since the prefix was pressed.
type prefixWait struct {
	serial int
	long   bool // more than keysDelay has passed
}

// prefixDue says that a prefix has waited for keysDelay.
type prefixDue int

func (w *prefixWait) begin() tea.Cmd {
	*w = prefixWait{serial: w.serial + 1}
	due := prefixDue(w.serial)
	return tea.Tick(keysDelay, func(time.Time) tea.Msg { return due })
}

func (due prefixDue) take(m *model) tea.Cmd {
	w := &m.input.wait
	w.long = w.long || int(due) == w.serial
	return nil
}

// typeKey gives a key that means nothing to the dashboard to what has the
// keyboard.
func (in *input) typeKey(k keys.Key) tea.Cmd {
	if in.m.dialog.open != nil {
		in.m.dirty = true
		if press, ok := screen.Press(k); ok {
			return in.m.dialog.open.Type(env{in.m}, press)
		}
		return nil
	}
	if t, ok := in.m.pane().(panes.KeyTaker); ok {
		return t.HandleKey(k)
	}
	return in.typeIn(in.m.pane(), k)
}

// takeKey lets a key be taken before it is looked up.
func (in *input) takeKey(k keys.Key) (taken bool) {
	t, ok := in.m.pane().(panes.KeyTaker)
	return ok && t.TakeKey(k) || in.m.leaveTooSmall(k)
}

// paste gives pasted text to what has the keyboard.
func (in *input) paste(text string) tea.Cmd {
	if in.m.dialog.open != nil {
		in.m.dirty = true
		return in.m.dialog.open.Paste(env{in.m}, text)
	}
	in.touch(in.m.pane())
	return in.m.pane().Paste(text)
}

func (m *model) setView(v viewKind) tea.Cmd {
	if v != m.view && !m.notices.toast.news { // what was said of the other view would hide the keys of this one
		m.notices.unsay()
	}
	m.switchTo(v)
	m.relayout()
	return nil
}

// leave ends the dashboard and nothing else.
func (m *model) leave() tea.Cmd {
	m.input.left = true
	return tea.Quit
}
