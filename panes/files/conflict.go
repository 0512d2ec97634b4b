package files

import (
	"context"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// mostConflicts is how many files that are in the way are named.
const mostConflicts = 10

// beginTransfer begins a transfer, or finds out about what is in its way.
func beginTransfer(ctx context.Context, e panes.Engine, in api.FilesTransferInput) transferBegun {
	msg := transferBegun{in: in}
	msg.out, msg.err = e.Transfer(ctx, in)
	from := map[string]string{}
	for _, item := range in.Items {
		from[item.To] = item.Path
	}
	if len(msg.out.Conflicts) == 1 {
		to := msg.out.Conflicts[0]
		msg.facts = twoFiles(ctx, e, in.Kind, from[to], to)
		return msg
	}
	for i, path := range msg.out.Conflicts {
		if i == mostConflicts {
			msg.facts = append(msg.facts, "and "+widget.Itoa(len(msg.out.Conflicts)-i)+" more")
			break
		}
		msg.facts = append(msg.facts, conflictFacts(ctx, e, from[path], path))
	}
	return msg
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
	return name + ": " + fileInWords(there) + " there now, yours is " + ageOf(comes, there) + ", " + fileInWords(comes)
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
	return widget.Bytes(f.Size)
}

// A conflict asks what is to become of files that are in the way.
type conflict struct {
	f     *Pane
	of    *transfer
	paths []string
	facts []string // of each, as far as they are named
}

// ontoItself reports whether a file would be copied to where it is, which can
// only be to have two of it.
func (c *conflict) ontoItself() bool {
	return slices.ContainsFunc(c.of.in.Items, func(item api.FileMove) bool { return item.Path == item.To })
}

func (c *conflict) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (c *conflict) Do(h overlay.Host, a keymap.Action) tea.Cmd {
	if a == keymap.Cancel {
		h.Close()
		c.f.remember(c.of.left())
	}
	return nil
}

func (c *conflict) Type(h overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	policy := map[string]string{"s": api.ConflictSkip, "r": api.ConflictReplace, "k": api.ConflictKeep}[k.Text]
	if policy == "" || policy == api.ConflictReplace && c.ontoItself() {
		return nil
	}
	h.Close()
	c.of.in.Conflict = policy
	c.f.transferNext(c.of.in, c.of.back)
	return nil
}

func (c *conflict) Paste(overlay.Host, string) tea.Cmd { return nil }

// hints are the answers.
func (c *conflict) Hints(_ overlay.Host) []widget.Hint {
	cancel := panes.HintIn(c.f.env.Bindings(), keymap.Cancel, "cancel", keymap.ScopePrompt)
	if c.ontoItself() {
		return []widget.Hint{{Key: "s", Does: "skip"}, {Key: "k", Does: "keep both"}, cancel}
	}
	return []widget.Hint{{Key: "s", Does: "skip"}, {Key: "r", Does: "replace"}, {Key: "k", Does: "keep both"}, cancel}
}

func (c *conflict) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	look := c.f.env.Look()
	title := theseFiles(c.paths) + " already exists"
	if len(c.paths) > 1 {
		title = widget.Itoa(len(c.paths)) + " of these are there already"
	}
	lines := append(slices.Clone(c.facts), "What is replaced goes to the trash.")
	if c.ontoItself() {
		lines = []string{"A file cannot replace itself."}
	}
	width = 48
	for _, l := range append(lines, title) {
		width = max(width, widget.Width(l))
	}
	width = min(width, w-8)
	rows = []string{look.Strong.Text(widget.Fit(title, width))}
	for _, l := range lines {
		rows = append(rows, look.Dim.Text(widget.Fit(l, width)))
	}
	line, used := widget.Hints(c.Hints(h), width, 1, look.Key, look.Text)
	return append(rows, widget.Spaces(width), line+widget.Spaces(width-used)), width, -1, 0
}
