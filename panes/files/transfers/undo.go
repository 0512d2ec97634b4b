package transfers

import (
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/text"
)

// A change is undone by ordinary transfers: copies go to the trash, moved files go back, and
// deleted ones return from the trash. Files that a transfer replaced are in the trash too; a second
// step restores them once their names are free again. These steps run in the queue like other
// transfers, so they can fail or be cancelled. What is left to undo then stays on the stack, so
// that the user can try again.

// maxUndos limits the changes that can be undone, and maxUndoItems the files in all these changes
// together. The last change can always be undone.
const (
	maxUndos     = 50
	maxUndoItems = 200_000
)

// An undo reverts a change by transfers in order.
type undo struct {
	description string // of the change
	selectPath  string // path of a restored file to select; "" for none
	steps       []api.FilesTransferInput
}

// countFiles counts the files of all steps.
func (u undo) countFiles() (n int) {
	for _, in := range u.steps {
		n += len(in.Items)
	}
	return n
}

// pushUndo records a change to undo.
func (q *Queue) pushUndo(u undo) {
	if u.countFiles() == 0 {
		return
	}
	q.undos = append(q.undos, u)
	items := 0
	// Count from the newest change, so that the oldest are dropped.
	for i := len(q.undos) - 1; i >= 0; i-- {
		items += q.undos[i].countFiles()
		if i < len(q.undos)-1 && items > maxUndoItems || len(q.undos)-i > maxUndos {
			q.undos = slices.Clone(q.undos[i+1:])
			return
		}
	}
}

// RecordNew records that the user has made a file, so that this can be undone.
func (q *Queue) RecordNew(path string) {
	q.pushUndo(undo{description: "new " + text.FileName(filepath.Base(path)), steps: []api.FilesTransferInput{
		{Kind: api.TransferTrash, Items: itemsFor([]string{path})},
	}})
}

// remainingUndo returns what is left of an undo after transfer t: the items that t has not handled,
// and all further steps. It is empty if t is not part of an undo.
func (t *transfer) remainingUndo() (u undo) {
	if t.undoing == nil {
		return u
	}
	in := t.in
	in.Items, in.Conflict = in.Items[min(t.job.Handled, len(in.Items)):], ""
	u.description, u.selectPath = t.undoing.description, t.undoing.selectPath
	if len(in.Items) > 0 {
		u.steps = append(u.steps, in)
	}
	u.steps = append(u.steps, t.undoing.steps...)
	return u
}

// continueUndo starts the next step of an undo, or reports its result.
func (q *Queue) continueUndo(t *transfer) tea.Cmd {
	left := t.remainingUndo()
	switch {
	case t.job.State == api.JobFailed:
		q.pushUndo(left)
		return q.env.Say(t.failureText(), true)
	case t.job.State == api.JobCancelled && left.countFiles() > 0:
		q.pushUndo(left)
		return q.env.Say("cancelled"+q.env.Bindings().WithKey("; ", keymap.FilesUndo, " undoes the rest", keymap.ScopeFiles), true)
	case len(left.steps) > 0:
		q.applyUndo(left)
		return nil
	}
	return tea.Batch(q.place.SelectPath(left.selectPath), q.env.Say("undone: "+left.description, false))
}

// newUndo returns the undo of a transfer. New files are removed first, to make room for those they
// replaced.
func newUndo(kind string, done []api.FileMoved) (u undo) {
	paths := originalPaths(done)
	var moved, replaced []api.FileMove
	for _, d := range done {
		item := api.FileMove{Path: d.To, To: d.Path}
		if kind != api.TransferMove && kind != api.TransferTrash { // the file is new
			item.To = ""
		}
		moved = append(moved, item)
		if d.Replaced != "" {
			replaced = append(replaced, api.FileMove{Path: d.Replaced, To: d.To})
		}
	}
	reverseKind := map[string]string{api.TransferCopy: api.TransferTrash, api.TransferMove: api.TransferMove, api.TransferTrash: api.TransferRestore,
		api.TransferExtract: api.TransferTrash, api.TransferPack: api.TransferTrash}[kind]
	if len(done) == 0 || reverseKind == "" {
		return u
	}
	switch {
	case reverseKind == api.TransferMove || reverseKind == api.TransferRestore:
		u.selectPath = paths[0]
	case len(replaced) > 0:
		u.selectPath = replaced[0].To
	}
	slices.Reverse(moved) // last first: renames may form a cycle, and folders precede their contents
	slices.Reverse(replaced)
	u.steps = append(u.steps, api.FilesTransferInput{Kind: reverseKind, Items: moved})
	if len(replaced) > 0 {
		u.steps = append(u.steps, api.FilesTransferInput{Kind: api.TransferRestore, Items: replaced})
	}
	switch u.description = kind + " of " + NameFiles(paths); {
	case isRename(kind, done):
		u.description = "rename of " + NameFiles(paths)
	case kind == api.TransferExtract || kind == api.TransferPack:
		u.description = NameFiles([]string{done[0].To})
	}
	return u
}

// originalPaths returns the paths of files before a transfer. In a cycle of renames, one file was
// moved twice.
func originalPaths(done []api.FileMoved) (paths []string) {
	detours := map[string]bool{}
	for _, d := range done {
		if !detours[d.Path] {
			paths = append(paths, d.Path)
		}
		detours[d.To] = true
	}
	return paths
}

// UndoLast reverts the last change.
func (q *Queue) UndoLast() tea.Cmd {
	switch {
	case q.running != nil || len(q.waiting) > 0:
		return q.env.Say("another transfer is in progress"+q.env.Bindings().WithKey("; ", keymap.Clear, " cancels it", keymap.ScopeFiles, keymap.ScopeList), true)
	case len(q.undos) == 0:
		return q.env.Say("nothing to undo", false)
	}
	last := len(q.undos) - 1
	u := q.undos[last]
	q.undos = q.undos[:last]
	return q.awaitStart(q.applyUndo(u), nil)
}

// applyUndo starts or continues an undo.
func (q *Queue) applyUndo(u undo) *transfer {
	return q.addFirst(u.steps[0], &undo{u.description, u.selectPath, u.steps[1:]})
}
