package files

import (
	"context"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// mostConflicts is how many files that are in the way are named.
const mostConflicts = 10

// beginTransfer begins a transfer, or finds out about what is in its way.
func beginTransfer(ctx context.Context, e panes.Engine, in api.FilesTransferInput) (b begun, err error) {
	b.in = in
	b.out, err = e.Transfer(ctx, in)
	from := map[string]string{}
	for _, item := range in.Items {
		from[item.To] = item.Path
	}
	if len(b.out.Conflicts) == 1 {
		to := b.out.Conflicts[0]
		b.facts = twoFiles(ctx, e, in.Kind, from[to], to)
		return b, err
	}
	b.facts = widget.Some(b.out.Conflicts, mostConflicts, func(path string) string { return conflictFacts(ctx, e, from[path], path) })
	return b, err
}

// twoFiles tells of one file that is in the way and the one that comes, as far
// as both can be looked at.
func twoFiles(ctx context.Context, e panes.Engine, kind, from, to string) []string {
	there, err := e.StatFile(ctx, to)
	if err != nil {
		return nil
	}
	comes, err := e.StatFile(ctx, from)
	if err != nil {
		return nil
	}
	changed := func(f api.FileInfo) string { return ", changed " + f.Modified.Local().Format("2006-01-02 15:04") }
	return []string{
		"there now: " + fileInWords(there) + changed(there),
		"you " + kind + ":  " + fileInWords(comes) + changed(comes) + ", " + ageOf(comes, there),
	}
}

// conflictFacts tells in one line of one of several that are in the way.
func conflictFacts(ctx context.Context, e panes.Engine, from, to string) string {
	name := widget.Clip(widget.FileName(filepath.Base(to)), 24)
	there, err := e.StatFile(ctx, to)
	if err != nil {
		return name
	}
	comes, err := e.StatFile(ctx, from)
	if err != nil {
		return name
	}
	return name + ": " + fileInWords(there) + " exists, yours is " + ageOf(comes, there) + ", " + fileInWords(comes)
}

// ageOf says whether one file was changed before another.
func ageOf(f, other api.FileInfo) string {
	return map[int]string{-1: "older", 0: "as old", 1: "newer"}[f.Modified.Compare(other.Modified)]
}

func fileInWords(f api.FileInfo) string {
	switch {
	case f.Type == "dir":
		return "a folder"
	case f.Type != "file":
		return "a " + f.Type
	}
	return units.Bytes(f.Size)
}

// askConflict asks what is to become of files that are in a transfer's way.
func (ts *transfers) askConflict(t *transfer, b begun) {
	title := theseFiles(b.out.Conflicts) + " already exists"
	if n := len(b.out.Conflicts); n > 1 {
		title = widget.Itoa(n) + " of these already exist"
	}
	reply := func(key, does, policy string) overlay.Reply {
		return overlay.Reply{Key: key, Does: does, Then: func() tea.Cmd {
			t.in.Conflict = policy
			ts.addNext(t.in, t.back)
			return nil
		}}
	}
	lines := append(b.facts, "Replaced files go to the trash.")
	replies := []overlay.Reply{reply("s", "skip", api.ConflictSkip), reply("r", "replace", api.ConflictReplace), reply("k", "keep both", api.ConflictKeep)}
	if ontoItself(t.in.Items) {
		lines, replies = []string{"A file cannot replace itself."}, slices.Delete(replies, 1, 2)
	}
	q := &overlay.Question{Title: title, Lines: lines, Replies: replies, Cancelled: func() { ts.remember(t.left()) }}
	ts.asking = q
	ts.env.Ask(q)
}

// ontoItself reports whether a file would be copied to where it is, which can
// only be to have two of it.
func ontoItself(items []api.FileMove) bool {
	return slices.ContainsFunc(items, func(item api.FileMove) bool { return item.Path == item.To })
}
