package files

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/graphics"
	"tandem/panes/preview"
	"tandem/panes/widget"
	"tandem/persist/datadir"
)

// A Pane is the view of a folder: its entries, the preview of the one under the
// cursor, and the folder above where there is room.
type Pane struct {
	panes.NoInput
	env     panes.Env
	actions panes.Actions
	shown   bool
	w, h    int

	folder    folder
	above     List
	aboveOf   aboveOf // what above is, or will be
	viewer    viewer
	transfers transfers
	tabs      tabs
	finder    *fileFinder // that was opened last; nil for none

	onPreview bool // the preview has the keyboard
	zoomed    bool // what has the keyboard fills the view
	clicked   widget.Click
	snapshots int // of the engine that is asked
}

// New makes the view.
func New(env panes.Env) *Pane {
	f := &Pane{env: env, folder: folder{env: env, marked: map[string]bool{}}, viewer: viewer{env: env}}
	f.transfers = transfers{env: env, folder: &f.folder}
	f.tabs.f = f
	f.actions = f.makeActions()
	return f
}

// Show asks for the folder.
func (f *Pane) Show() {
	f.shown = true
	if f.folder.path == "" {
		f.begin()
	} else if f.folder.visit == nil {
		f.folder.begin()
	}
}

// begin shows the first folder as soon as it is known: that of the session, or the tab
// of the last start.
func (f *Pane) begin() {
	if f.tabs.toCome() {
		return
	}
	_, folder := f.env.Session()
	if f.tabs.shown() {
		folder = f.tabs.all[f.tabs.at].path
	}
	f.GoFolder(folder, "")
}

// KeepLast keeps the tabs as they are when the person leaves.
func (f *Pane) KeepLast(ctx context.Context) { f.tabs.keepLast(ctx) }

// Hide ends what is under way for the folder.
func (f *Pane) Hide() {
	f.shown = false
	f.folder.end()
}

// Resize gives the view its size.
func (f *Pane) Resize(w, h int) { f.w, f.h = w, h }

// News changes nothing: a folder is watched by itself.
func (f *Pane) HandleNews(*panes.News) {}

// GoFolder shows a folder with the cursor on a name, or where it was.
func (f *Pane) GoFolder(path, name string) {
	f.folder.goTo(path, name)
	f.onPreview, f.zoomed = false, false
}

// ShowEngineLog shows the end of the engine's log in full.
func (f *Pane) ShowEngineLog() {
	folder := f.env.News().Info.DataDir
	f.GoFolder(folder, datadir.EngineLog)
	f.onPreview, f.zoomed, f.viewer.end = true, true, filepath.Join(folder, datadir.EngineLog)
}

// Fetch asks for what the view needs now.
func (f *Pane) Fetch() tea.Cmd {
	transfers := f.transfers.pump()
	if f.env.News().Connected {
		transfers = tea.Batch(transfers, f.tabs.fetch())
	}
	if f.shown && f.folder.path == "" {
		f.begin()
	}
	if !f.shown || f.h == 0 || !f.env.News().Connected {
		return transfers
	}
	if f.snapshots != f.env.News().Snapshots { // another engine: what was asked of the last one is lost
		f.snapshots = f.env.News().Snapshots
		f.folder.begin()
		f.viewer.preview.Clear()
	}
	var found tea.Cmd
	if f.finder != nil && f.env.Shows(f.finder) {
		found = f.finder.fetch()
	}
	return tea.Batch(transfers, found, f.folder.fetch(), f.fetchAbove(), f.fetchPreview())
}

// aboveOf is what the folder above is listed for.
type aboveOf struct {
	path   string
	visit  *visit
	hidden bool
}

// fetchAbove lists the folder above, where it is shown.
func (f *Pane) fetchAbove() tea.Cmd {
	path := f.folder.path
	of := aboveOf{path, f.folder.visit, f.folder.order.Hidden}
	if f.parts().above.W == 0 || f.aboveOf == of {
		return nil
	}
	f.aboveOf = of
	up := folderAbove(path)
	if up == path {
		f.above.Reset("", "")
		return nil
	}
	if f.above.Path != up {
		f.above.Reset(up, filepath.Base(path))
	}
	f.above.Plain = true
	f.above.Select(filepath.Base(path))
	return onVisit(&f.folder, func(ctx context.Context, e panes.Engine) (*Rows, error) {
		out, err := e.ListFiles(ctx, up, "", firstEntries)
		return Arrange(out.Entries, Order{Hidden: of.hidden}), err
	}, func(rows *Rows, err error) tea.Cmd {
		if err == nil && f.above.Path == up {
			f.above.SetRows(rows)
		}
		return nil
	})
}

// fetchPreview reads what is seen of the file under the cursor.
func (f *Pane) fetchPreview() tea.Cmd {
	at := f.parts().preview
	if at.W == 0 {
		return nil
	}
	if selected := f.folder.list.Selected(); selected != nil {
		f.viewer.show(f.folder.list.SelectedPath(), selected)
	} else if f.folder.list.Rows() != nil && f.viewer.preview.Path() != "" {
		f.viewer.preview.Clear()
	}
	return f.viewer.fetch(at.W, at.H)
}

// Scopes are those of the preview or of the list.
func (f *Pane) Scopes() []keymap.Scope {
	if f.onPreview {
		return []keymap.Scope{keymap.ScopePreview}
	}
	return []keymap.Scope{keymap.ScopeFiles, keymap.ScopeList}
}

// SetScreen says how pictures can be shown, and whether that is news.
func (f *Pane) SetScreen(s graphics.Screen) (changed bool) {
	changed = s != f.viewer.preview.Screen
	f.viewer.preview.Screen = s
	return changed
}

// Cover says whether something lies over the picture, which is drawn in blocks
// then.
func (f *Pane) Cover(on bool) { f.viewer.preview.Covered = on }

// Picture is what the terminal is to draw over the cells of the view, and the
// cell it begins at; nil without one.
func (f *Pane) Picture() (picture *graphics.Picture, x, y int) {
	picture = f.viewer.preview.Picture()
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
func (f *Pane) Folder() string { return f.folder.path }

// focusPreview gives the keyboard to the preview, or back.
func (f *Pane) focusPreview(on bool) {
	if on && f.folder.list.Selected() == nil {
		return
	}
	if !on && f.zoomed && f.onPreview {
		f.zoomed = false
	}
	f.onPreview = on
	if on && f.parts().preview.W == 0 { // there is no room for both
		f.zoomed = true
	}
}

// onPreviewed is an action on the preview.
func (f *Pane) onPreviewed(change func(*preview.Preview)) func() tea.Cmd {
	return do(func() { change(&f.viewer.preview) })
}

// do is an action that asks for nothing.
func do(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return nil
	}
}
