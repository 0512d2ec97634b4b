package transfers

import (
	"context"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// maxConflicts is the maximum number of conflicting files listed.
const maxConflicts = 10

// startTransfer starts a transfer. If existing files are in its way, nothing is started and the
// result describes these files.
func startTransfer(ctx context.Context, e panes.Engine, in api.FilesTransferInput) (b transferStart, err error) {
	b.in = in
	b.out, err = e.Transfer(ctx, in)
	from := map[string]string{}
	for _, item := range in.Items {
		from[item.To] = item.Path
	}
	// If there is a single conflict, there is room for the details of both files.
	if len(b.out.Conflicts) == 1 {
		to := b.out.Conflicts[0]
		b.facts = describeBoth(ctx, e, in.Kind, from[to], to)
		return b, err
	}
	b.facts = text.Some(b.out.Conflicts, maxConflicts, func(path string) string { return describeConflict(ctx, e, from[path], path) })
	return b, err
}

// describeBoth describes an existing file and its replacement; nil if either cannot be read.
func describeBoth(ctx context.Context, e panes.FileReader, kind, from, to string) []string {
	existing, err := e.StatFile(ctx, to)
	if err != nil {
		return nil
	}
	incoming, err := e.StatFile(ctx, from)
	if err != nil {
		return nil
	}
	changed := func(f api.FileInfo) string { return ", changed " + f.Modified.Local().Format("2006-01-02 15:04") }
	return []string{
		"there now: " + describeFile(existing) + changed(existing),
		"you " + kind + ":  " + describeFile(incoming) + changed(incoming) + ", " + compareAge(incoming, existing),
	}
}

// describeConflict describes one of several conflicts in a single line.
func describeConflict(ctx context.Context, e panes.FileReader, from, to string) string {
	name := text.Clip(text.FileName(filepath.Base(to)), 24)
	existing, err := e.StatFile(ctx, to)
	if err != nil {
		return name
	}
	incoming, err := e.StatFile(ctx, from)
	if err != nil {
		return name
	}
	return name + ": " + describeFile(existing) + " exists, yours is " + compareAge(incoming, existing) + ", " + describeFile(incoming)
}

// compareAge says in words whether f is older or newer than other.
func compareAge(f, other api.FileInfo) string {
	return map[int]string{-1: "older", 0: "as old", 1: "newer"}[f.Modified.Compare(other.Modified)]
}

func describeFile(f api.FileInfo) string {
	switch {
	case f.Type == "dir":
		return "a folder"
	case f.Type != "file":
		return "a " + f.Type
	}
	return units.Bytes(f.Size)
}

// askConflict asks how to handle files in the way of a transfer.
func (q *Queue) askConflict(t *transfer, b transferStart) {
	title := NameFiles(b.out.Conflicts) + " already exists"
	if n := len(b.out.Conflicts); n > 1 {
		title = text.Itoa(n) + " of these already exist"
	}
	reply := func(key, does, policy string) dialog.Reply {
		return dialog.Reply{Key: key, Does: does, Then: func() tea.Cmd {
			t.in.Conflict = policy
			return q.awaitStart(q.addFirst(t.in, t.undoing), nil)
		}}
	}
	lines := append(b.facts, "Replaced files go to the trash.")
	replies := []dialog.Reply{reply("s", "skip", api.ConflictSkip), reply("r", "replace", api.ConflictReplace), reply("k", "keep both", api.ConflictKeep)}
	// Replacing a file by itself would only send it to the trash.
	if targetsItself(t.in.Items) {
		lines, replies = []string{"A file cannot replace itself."}, slices.Delete(replies, 1, 2)
	}
	question := &dialog.Question{Title: title, Lines: lines, Replies: replies, Cancelled: func() { q.pushUndo(t.remainingUndo()) }}
	q.asking = question
	q.env.Ask(question)
}

// askFolder asks whether to make the folder into which a transfer goes, because it does not exist.
func (q *Queue) askFolder(t *transfer, folder string) {
	question := &dialog.Question{
		Title: "Make the folder " + text.Clip(text.FileName(filepath.Base(folder)), 40) + "?",
		Lines: []string{text.ClipPath(text.FileName(folder), 60) + " does not exist."},
		Yes:   "make it, then " + t.in.Kind,
		Then: func() tea.Cmd {
			next := q.addFirst(t.in, nil)
			next.begin = func(ctx context.Context, e panes.Engine) (transferStart, error) {
				if err := e.MakeFolder(ctx, folder); err != nil {
					return transferStart{}, err
				}
				return startTransfer(ctx, e, t.in)
			}
			return q.awaitStart(next, t.refused)
		},
	}
	q.asking = question
	q.env.Ask(question)
}

// targetsItself reports whether a file would be copied onto itself. The user can only want a second
// copy then.
func targetsItself(items []api.FileMove) bool {
	return slices.ContainsFunc(items, func(item api.FileMove) bool { return item.Path == item.To })
}

// askLarge asks whether to unpack an archive whose content is much larger than the archive.
func (q *Queue) askLarge(t *transfer) {
	in := t.in
	in.Items, in.Large = in.Items[min(t.job.Handled, len(in.Items)-1):], true
	q.env.Ask(&dialog.Question{
		Title: "Unpack " + NameFiles([]string{in.Items[0].Path}) + " all the same?",
		Lines: append(text.WrapWords(t.failureText()+".", 60), "Nothing was kept. Extracting it may fill the disk."),
		Yes:   "unpack it",
		Then:  func() tea.Cmd { return q.Add(in, nil) },
	})
}

// AskDelete asks before it deletes files permanently. names are the paths to show for them, because
// the user does not know their paths in the trash.
func (q *Queue) AskDelete(title string, paths, names []string) {
	q.env.Ask(&dialog.Question{
		Title: title,
		Lines: append(text.Some(names, 10, func(path string) string { return text.Clip(text.FileName(filepath.Base(path)), 60) }),
			"This cannot be undone."),
		Yes: "delete",
		No:  "keep",
		Then: func() tea.Cmd {
			return q.Add(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsFor(paths)}, nil)
		},
	})
}
