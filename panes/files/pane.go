// Package files is the view of a folder: a list, a preview and file operations.
package files

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/files/transfers"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/preview"
	"tandem/persist/datadir"
)

// A Pane is the view of a folder: its entries, a preview of the current one and, if there is room,
// the folder above.
type Pane struct {
	panes.NoInput
	env   panes.Env
	keys  panes.Actions
	shown bool
	w, h  int

	folder    folder
	above     parentList
	tabs      folderTabs
	viewer    viewer
	finder    *fileFinder // the last search; nil if none
	transfers *transfers.Queue
	programs  programs
	act       actions
	trash     trash
	bookmarks bookmarks

	onPreview bool // the preview has the keyboard
	zoomed    bool // the focused part fills the view
	clicked   list.Click
	snapshots int // News.Snapshots of the current engine
}

func New(env panes.Env) *Pane {
	f := &Pane{env: env, viewer: viewer{env: env}}
	f.folder = folder{env: env, list: entries.List{Marks: entries.Marks{}}, onGo: func() { f.onPreview, f.zoomed = false, false }}
	f.above.folder = &f.folder
	f.tabs.env, f.tabs.folder = env, &f.folder
	f.transfers = transfers.New(env, &f.folder)
	f.programs = programs{env, &f.folder}
	f.act = actions{env, &f.folder, f.transfers, &f.programs}
	f.trash = trash{env, f.transfers}
	f.bookmarks = bookmarks{env: env, folder: &f.folder}
	f.keys = f.makeActions()
	return f
}

// Show makes the view visible and reads the folder.
func (f *Pane) Show() {
	f.shown = true
	if f.folder.path == "" {
		f.showFirst()
	} else if f.folder.visit == nil {
		f.folder.startVisit()
	}
}

// showFirst shows the first folder: that of the last start's current tab if there were several
// tabs, and otherwise that of the session. It does nothing until the tabs have been read.
func (f *Pane) showFirst() {
	if f.tabs.isPending() {
		return
	}
	_, folder := f.env.Session()
	if f.tabs.hasSeveral() {
		folder = f.tabs.all[f.tabs.current].path
	}
	f.folder.goTo(folder, "")
}

// SaveTabs saves the tabs when the user leaves.
func (f *Pane) SaveTabs(ctx context.Context) { f.tabs.saveLast(ctx) }

// Hide makes the view invisible and cancels its requests.
func (f *Pane) Hide() {
	f.shown = false
	f.folder.endVisit()
}

func (f *Pane) Resize(w, h int) { f.w, f.h = w, h }

// HandleNews does nothing, because changes of the folder do not arrive as news; see fetchWatch.
func (f *Pane) HandleNews(*panes.News) {}

// GoFolder shows a folder with the cursor on name. If name is "", the cursor goes where it last was
// in the folder.
func (f *Pane) GoFolder(path, name string) { f.folder.goTo(path, name) }

// ShowEngineLog shows the end of the engine's log, zoomed.
func (f *Pane) ShowEngineLog() {
	folder := f.env.News().Info.DataDir
	f.folder.goTo(folder, datadir.EngineLog)
	f.onPreview, f.zoomed, f.viewer.endPath = true, true, filepath.Join(folder, datadir.EngineLog)
}

// Fetch requests whatever the view needs now.
func (f *Pane) Fetch() tea.Cmd {
	started := f.transfers.StartNext()
	if f.env.News().Connected {
		started = tea.Batch(started, f.tabs.fetch())
	}
	// The tabs of the last start may have arrived.
	if f.shown && f.folder.path == "" {
		f.showFirst()
	}
	if !f.shown || f.h == 0 || !f.env.News().Connected {
		return started
	}
	if f.snapshots != f.env.News().Snapshots { // another engine: requests to the previous one are lost
		f.snapshots = f.env.News().Snapshots
		f.folder.startVisit()
		f.viewer.preview.Clear()
	}
	var found, above tea.Cmd
	if f.finder != nil && f.env.Shows(f.finder) {
		found = f.finder.fetch()
	}
	parts := f.computeParts()
	if parts.above.W > 0 {
		above = f.above.fetch()
	}
	return tea.Batch(started, found, f.folder.fetch(), above, f.fetchPreview(parts.preview))
}

// fetchPreview reads the part of the current file that the preview shows in the area at.
func (f *Pane) fetchPreview(at look.Rect) tea.Cmd {
	if at.W == 0 {
		return nil
	}
	if selected := f.folder.list.CursorEntry(); selected != nil {
		f.viewer.showFile(f.folder.list.CursorPath(), selected)
	} else if f.folder.list.Rows() != nil && f.viewer.preview.Path() != "" {
		f.viewer.preview.Clear()
	}
	return f.viewer.fetch(at.W, at.H)
}

// Scopes returns the key scopes of the focused part.
func (f *Pane) Scopes() []keymap.Scope {
	if f.onPreview {
		return []keymap.Scope{keymap.ScopePreview}
	}
	return []keymap.Scope{keymap.ScopeFiles, keymap.ScopeList}
}

// Hints returns the keys of the list or the preview, without those that do nothing in an empty
// folder.
func (f *Pane) Hints() (all []keymap.Hint, ok bool) {
	list := &f.folder.list
	if f.onPreview || list.Rows() == nil || list.CursorEntry() != nil || len(list.Marks) > 0 {
		return nil, false
	}
	all = f.env.Bindings().Hints(false, append(f.Scopes(), keymap.ScopeGlobal)...)
	needEntry := []keymap.Action{keymap.Open, keymap.FilesEdit, keymap.FilesRename, keymap.FilesCopy, keymap.FilesMove, keymap.FilesDelete}
	return slices.DeleteFunc(all, func(h keymap.Hint) bool { return slices.Contains(needEntry, h.Action) }), true
}

// SetScreen sets how pictures can be shown, and reports whether that changed.
func (f *Pane) SetScreen(s graphics.Screen) (changed bool) {
	changed = s != f.viewer.preview.Screen
	f.viewer.preview.Screen = s
	return changed
}

// Cover tells the view whether something lies over the picture, which is then drawn in half blocks.
func (f *Pane) Cover(on bool) { f.viewer.preview.Covered = on }

// Picture returns the picture to draw over the view, and its position in cells; nil if there is
// none.
func (f *Pane) Picture() (picture *graphics.Picture, x, y int) {
	picture = f.viewer.preview.Picture()
	if !f.shown || f.h == 0 || picture == nil {
		return nil, 0, 0
	}
	at := f.computeParts().preview
	if picture.Cols > at.W || picture.Rows > at.H {
		return nil, 0, 0
	}
	return picture, at.X, at.Y
}

// Folder returns the current folder; "" before the first.
func (f *Pane) Folder() string { return f.folder.path }

// focusPreview moves the focus to the preview if on is set, and otherwise back to the list.
func (f *Pane) focusPreview(on bool) {
	if on && f.folder.list.CursorEntry() == nil {
		return
	}
	if !on && f.zoomed && f.onPreview {
		f.zoomed = false
	}
	f.onPreview = on
	if on && f.computeParts().preview.W == 0 { // no room for both
		f.zoomed = true
	}
}

// openSelected opens the folder under the cursor, or zooms the preview of the file.
func (f *Pane) openSelected() {
	switch selected := f.folder.list.CursorEntry(); {
	case selected == nil:
	case selected.IsFolder():
		f.folder.goTo(f.folder.list.CursorPath(), "")
	default:
		f.onPreview, f.zoomed = true, true
	}
}

// startFind opens the search by name or by content.
func (f *Pane) startFind(contents bool) {
	f.finder = &fileFinder{env: f.env, open: f.showFound, folder: f.folder.path, contents: contents, viewer: viewer{env: f.env}}
	f.finder.viewer.preview.Covered = true // the search covers the view
	f.env.Ask(f.finder)
}

// showFound shows a result of a search.
func (f *Pane) showFound(path string, line int64, match *regexp.Regexp) {
	if strings.HasSuffix(path, "/") {
		f.folder.goTo(path, "")
		return
	}
	f.folder.goToEntry(filepath.Dir(path), filepath.Base(path))
	f.viewer.line, f.viewer.mark = line, match
}

// cancelOrClear cancels the running transfer or, if there is none, clears the filter or, without a
// filter, the marks. Marks come last, because they are the hardest to restore.
func (f *Pane) cancelOrClear() tea.Cmd {
	switch {
	case f.transfers.CancelRunning():
	case f.folder.order.Filter != "":
		f.folder.order.Filter = ""
		return f.folder.applyOrder()
	default:
		clear(f.folder.list.Marks)
	}
	return nil
}

// previewAction returns an action on the preview.
func (f *Pane) previewAction(change func(*preview.Preview)) func() tea.Cmd {
	return panes.ActionOf(func() { change(&f.viewer.preview) })
}
