package sessions

import (
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// Tabs are the tabs of the view, and which of their panes has the keyboard.
type Tabs struct {
	layout.Tabs
	panes   map[string]*terminal.Pane // by the id of their session, which may be in no tab for a moment
	shown   bool                      // the view is on the screen
	blurred bool                      // another window has the keyboard
	inList  bool                      // the session list has the keyboard
	failure string                    // the error of the last start; "" if it succeeded
}

// usePanes keeps one pane for each session, made by create.
func (t *Tabs) usePanes(create func(id string) *terminal.Pane) {
	t.panes = map[string]*terminal.Pane{}
	t.New = func(id string) *terminal.Pane {
		p := t.panes[id]
		if p == nil {
			p = create(id)
		}
		if id != "" {
			t.panes[id] = p
		}
		return p
	}
}

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
