package sessions

import (
	"tandem/engine/api"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// Tabs are the tabs of the view, and which of their panes has the keyboard.
type Tabs struct {
	layout.Tabs
	create  func(id string) *terminal.Pane
	panes   map[string]*terminal.Pane // by the id of their session, which may be in no tab for a moment
	shown   bool                      // the view is on the screen
	blurred bool                      // another window has the keyboard
	inList  bool                      // the session list has the keyboard
	failure string                    // the error of the last start; "" if it succeeded
}

// Pane returns the pane of a session, created on first use; nil for "". It stays the same while
// its tab is hidden.
func (t *Tabs) Pane(id string) *terminal.Pane {
	p := t.panes[id]
	if p == nil && id != "" {
		p = t.create(id)
		t.panes[id] = p
	}
	return p
}

// FinalState returns the state in which a session exited, as far as a pane knows; nil otherwise.
func (t *Tabs) FinalState(id string) *api.Process {
	if p := t.panes[id]; p != nil {
		return p.FinalState()
	}
	return nil
}

// CurrentPane returns the pane focused last; nil without one.
func (t *Tabs) CurrentPane() *terminal.Pane { return t.Pane(t.CurrentID()) }

// CurrentMachine returns the machine of the session focused last; "" is this machine, also without one.
func (t *Tabs) CurrentMachine() string {
	machine, _ := api.MachineOf(t.CurrentID())
	return machine
}

// isStarting reports whether the session of a leaf is still being started.
func (t *Tabs) isStarting(id string) bool { return t.Pane(id).Starting }

// FocusedPane returns the pane that receives keys; nil if the list or another view does.
func (t *Tabs) FocusedPane() *terminal.Pane {
	if !t.shown || t.inList {
		return nil
	}
	return t.CurrentPane()
}

// reportFocus tells the program in the focused pane that it has gained or lost the
// keyboard.
func (t *Tabs) reportFocus(on bool) {
	if p := t.FocusedPane(); p != nil && !(on && t.blurred) {
		p.Focus(on)
	}
}

// moveFocus runs change and reports the new focus to both programs.
func (t *Tabs) moveFocus(change func()) {
	before := t.FocusedPane()
	change()
	after := t.FocusedPane()
	if before == after || t.blurred {
		return
	}
	if before != nil {
		before.Focus(false)
	}
	if after != nil {
		after.Focus(true)
	}
}
