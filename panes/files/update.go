package files

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/graphics"
	"tandem/panes/widget"
)

// Update takes in a message.
func (f *Pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case filesListed:
		return f.takeListed(msg)
	case filesArranged:
		f.takeArranged(msg)
	case filesSlow:
		f.takeSlow(msg)
	case filesMatched:
		return f.takeMatched(msg)
	case filesRested:
		if msg.serial == f.serial && msg.rest == f.rests && f.resting {
			f.listing, f.resting = false, false
		}
	case filesWatched:
		return f.takeWatched(msg)
	case filesGit:
		return f.takeGit(msg)
	case gitRested:
		if msg.serial == f.serial {
			f.askingGit = false
		}
	case filesAbove:
		f.takeAbove(msg)
	case previewed:
		f.preview.Take(msg.part)
	}
	return f.updateChanges(msg)
}

// updateChanges takes in what comes of searches and changes.
func (f *Pane) updateChanges(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case changedFiles:
		return f.takeChangedFiles(msg)
	case transferWanted:
		return f.transfer(msg.in)
	case transferBegun:
		return f.takeTransferBegun(msg)
	case transferNews:
		return f.takeTransferNews(msg)
	case renameList:
		return f.editRenameList(msg)
	case renamesRead:
		return f.takeRenames(msg)
	case bookmarksRead:
		return f.takeBookmarks(msg)
	case goneTo:
		return f.takeGoneTo(msg)
	case pathListed:
		f.takePathListed(msg)
	case filesFound:
		return f.takeFound(msg)
	case fileSearched:
		return f.takeSearched(msg)
	}
	return nil
}

// Scopes are those of the preview or of the list.
func (f *Pane) Scopes() []keymap.Scope {
	if f.onPreview {
		return []keymap.Scope{keymap.ScopePreview}
	}
	return []keymap.Scope{keymap.ScopeFiles, keymap.ScopeList}
}

// Hints are those of the scopes.
func (f *Pane) Hints() ([]panes.Hint, bool) { return nil, false }

// Note says what is under way and how much is shown.
func (f *Pane) Note() (string, widget.Ink) { return f.note(), f.env.Look().BarDim }

// Type and Paste do nothing: nothing is typed into this view.
func (f *Pane) Type(tea.KeyPressMsg) tea.Cmd { return nil }
func (f *Pane) Paste(string) tea.Cmd         { return nil }

// Cursor is nil.
func (f *Pane) Cursor() *tea.Cursor { return nil }

// SetScreen says how pictures can be shown, and whether that is news.
func (f *Pane) SetScreen(s graphics.Screen) (changed bool) {
	changed = s != f.preview.Screen
	f.preview.Screen = s
	return changed
}

// Cover says whether something lies over the picture, which is drawn in blocks
// then.
func (f *Pane) Cover(on bool) { f.preview.Covered = on }

// Picture is what the terminal is to draw over the cells of the view, and the
// cell it begins at; nil without one.
func (f *Pane) Picture() (picture *graphics.Picture, x, y int) {
	picture = f.preview.Picture()
	if !f.shown || f.h == 0 || picture == nil {
		return nil, 0, 0
	}
	at := f.parts().preview
	if picture.Cols > at.W || picture.Rows > at.H {
		return nil, 0, 0
	}
	return picture, at.X, at.Y
}

// Folder is the folder that is shown; "" before there was one.
func (f *Pane) Folder() string { return f.path }
