package files

import "tandem/engine/api"

// A State tells how far a Pane is.
type State struct {
	Listed    bool // there are rows
	OnPreview bool // the preview has the keyboard
	Busy      bool // a transfer is under way
	Undos     int  // changes that can be taken back
}

// State is how far the pane is.
func (f *Pane) State() State {
	return State{f.list.Rows() != nil, f.onPreview, f.job != nil, len(f.undos)}
}

// Selected is the entry under the cursor; nil without one.
func (f *Pane) Selected() *api.FileInfo { return f.list.Selected() }

// Select puts the cursor on a name, and reports whether it is there.
func (f *Pane) Select(name string) bool { return f.list.Select(name) }
