package files

import (
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
)

// mostUndos is how many changes can be undone, and mostUndoItems of how many
// files in all; the last one can be in any case.
const (
	mostUndos     = 50
	mostUndoItems = 200_000
)

// An undo is how a change is taken back: transfers, one after the other.
type undo struct {
	what  string // was done
	shows string // path of a file that this brings back; "" for none
	steps []api.FilesTransferInput
}

// files counts those that have to be dealt with.
func (u undo) files() (n int) {
	for _, in := range u.steps {
		n += len(in.Items)
	}
	return n
}

// remember has a change taken back when that is asked for next.
func (ts *transfers) remember(u undo) {
	if u.files() == 0 {
		return
	}
	ts.undos = append(ts.undos, u)
	items := 0
	for i := len(ts.undos) - 1; i >= 0; i-- {
		items += ts.undos[i].files()
		if i < len(ts.undos)-1 && items > mostUndoItems || len(ts.undos)-i > mostUndos {
			ts.undos = slices.Clone(ts.undos[i+1:])
			return
		}
	}
}

// left is what is still to be undone when a transfer has ended before it was
// done.
func (t *transfer) left() (u undo) {
	if t.back == nil {
		return u
	}
	in := t.in
	in.Items, in.Conflict = in.Items[min(t.job.Handled, len(in.Items)):], ""
	u.what, u.shows = t.back.what, t.back.shows
	if len(in.Items) > 0 {
		u.steps = append(u.steps, in)
	}
	u.steps = append(u.steps, t.back.steps...)
	return u
}

// undone goes on with what is to be undone, or tells how that has ended.
func (ts *transfers) undone(t *transfer) tea.Cmd {
	left := t.left()
	switch {
	case t.job.State == api.JobFailed:
		ts.remember(left)
		return ts.env.Say(t.fault(), true)
	case t.job.State == api.JobCancelled && left.files() > 0:
		ts.remember(left)
		return ts.env.Say("cancelled"+panes.WithKey(ts.env.Bindings(), "; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles), true)
	case len(left.steps) > 0:
		ts.takeBack(left)
		return nil
	}
	return tea.Batch(ts.selectRestored(left.shows), ts.env.Say("undone: "+left.what, false))
}

// selectRestored puts the cursor on a file that was brought back, if its folder is shown.
func (ts *transfers) selectRestored(path string) tea.Cmd {
	if path == "" || filepath.Dir(path) != ts.folder.path {
		return nil
	}
	return ts.folder.willShow(filepath.Base(path))
}

// undoOf is how a transfer is taken back: what was put somewhere goes first, so
// that what was there before has its place again.
func undoOf(kind string, done []api.FileMoved) (u undo) {
	paths := originals(done)
	var away, replaced []api.FileMove
	for _, d := range done {
		item := api.FileMove{Path: d.To, To: d.Path}
		if kind != api.TransferMove && kind != api.TransferTrash { // it was not there before
			item.To = ""
		}
		away = append(away, item)
		if d.Replaced != "" {
			replaced = append(replaced, api.FileMove{Path: d.Replaced, To: d.To})
		}
	}
	back := map[string]string{api.TransferCopy: api.TransferTrash, api.TransferMove: api.TransferMove, api.TransferTrash: api.TransferRestore,
		api.TransferExtract: api.TransferTrash, api.TransferPack: api.TransferTrash}[kind]
	if len(done) == 0 || back == "" {
		return u
	}
	switch {
	case back == api.TransferMove || back == api.TransferRestore:
		u.shows = paths[0]
	case len(replaced) > 0:
		u.shows = replaced[0].To
	}
	slices.Reverse(away) // names may have gone round, and folders come before what is in them
	slices.Reverse(replaced)
	u.steps = append(u.steps, api.FilesTransferInput{Kind: back, Items: away})
	if len(replaced) > 0 {
		u.steps = append(u.steps, api.FilesTransferInput{Kind: api.TransferRestore, Items: replaced})
	}
	switch u.what = kind + " of " + theseFiles(paths); {
	case isRename(kind, done):
		u.what = "rename of " + theseFiles(paths)
	case kind == api.TransferExtract || kind == api.TransferPack:
		u.what = theseFiles([]string{done[0].To})
	}
	return u
}

// originals returns the paths of the files before a transfer. Where names go round, one of the
// files was moved twice.
func originals(done []api.FileMoved) (paths []string) {
	detours := map[string]bool{}
	for _, d := range done {
		if !detours[d.Path] {
			paths = append(paths, d.Path)
		}
		detours[d.To] = true
	}
	return paths
}

// undo takes back the last change.
func (ts *transfers) undo() tea.Cmd {
	switch {
	case ts.running != nil || len(ts.waiting) > 0:
		return ts.env.Say("another transfer is in progress"+panes.WithKey(ts.env.Bindings(), "; ", keymap.Clear, " cancels it", keymap.ScopeFiles, keymap.ScopeList), true)
	case len(ts.undos) == 0:
		return ts.env.Say("nothing to undo", false)
	}
	last := len(ts.undos) - 1
	u := ts.undos[last]
	ts.undos = ts.undos[:last]
	ts.takeBack(u)
	return nil
}

// takeBack begins to undo a change, or goes on with it.
func (ts *transfers) takeBack(u undo) {
	ts.addNext(u.steps[0], &undo{u.what, u.shows, u.steps[1:]})
}
