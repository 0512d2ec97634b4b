package ui

import (
	"context"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// mostConflicts is how many files that are in the way are named.
const mostConflicts = 10

// beginTransfer begins a transfer, or finds out about what is in its way.
func beginTransfer(ctx context.Context, e engine, in api.FilesTransferInput) transferBegun {
	msg := transferBegun{in: in}
	msg.out, msg.err = e.Transfer(ctx, in)
	from := map[string]string{}
	for _, item := range in.Items {
		from[item.To] = item.Path
	}
	for i, path := range msg.out.Conflicts {
		if i == mostConflicts {
			msg.facts = append(msg.facts, "and "+itoa(len(msg.out.Conflicts)-i)+" more")
			break
		}
		msg.facts = append(msg.facts, conflictFacts(ctx, e, from[path], path))
	}
	return msg
}

// conflictFacts tells how a file that is in the way and the one that comes
// differ, as far as both can be looked at.
func conflictFacts(ctx context.Context, e engine, from, to string) string {
	name := panes.Clip(panes.FileName(filepath.Base(to)), 30)
	there, err := e.StatFile(ctx, to)
	if err != nil {
		return name
	}
	comes, err := e.StatFile(ctx, from)
	if err != nil {
		return name
	}
	age := "as old"
	if by := comes.Modified.Compare(there.Modified); by != 0 {
		age = map[int]string{-1: "older", 1: "newer"}[by]
	}
	return name + ": " + fileInWords(there) + " there; " + fileInWords(comes) + " comes, " + age
}

func fileInWords(f api.FileInfo) string {
	switch {
	case f.Type == "dir":
		return "a folder"
	case f.Type != "file":
		return "a " + f.Type
	case f.Size == 1:
		return "1 byte"
	case f.Size < 1000:
		return itoa(int(f.Size)) + " bytes"
	}
	return panes.ByteSize(f.Size) + " bytes"
}

// A conflict asks what is to become of files that are in the way.
type conflict struct {
	in    api.FilesTransferInput
	paths []string
	facts []string // of each, as far as they are named
}

func (c *conflict) scopes() []keys.Scope { return []keys.Scope{keys.ScopePrompt} }

func (c *conflict) act(m *model, a keys.Action) tea.Cmd {
	if a == keys.Cancel {
		m.overlay = nil
	}
	return nil
}

func (c *conflict) typed(m *model, k keys.Key) tea.Cmd {
	policy := map[string]string{"s": api.ConflictSkip, "r": api.ConflictReplace, "k": api.ConflictKeep}[k.Text]
	if policy == "" || k.Phase == keys.Release {
		return nil
	}
	m.overlay = nil
	c.in.Conflict = policy
	return m.transfer(c.in, false)
}

func (c *conflict) pasted(*model, string) tea.Cmd { return nil }

func (c *conflict) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	title := theseFiles(c.paths) + " is there already"
	if len(c.paths) > 1 {
		title = itoa(len(c.paths)) + " of these are there already"
	}
	hints := []panes.Hint{{Key: "s", Does: "skip"}, {Key: "r", Does: "replace"}, {Key: "k", Does: "keep both"}, {Key: "esc", Does: "cancel"}}
	lines := append(slices.Clone(c.facts), "What is replaced goes to the trash.")
	width := 48
	for _, l := range append(lines, title) {
		width = max(width, panes.Width(l))
	}
	width = min(width, screen.w-8)
	rows := []string{look.Strong.Text(panes.Fit(title, width))}
	for _, l := range lines {
		rows = append(rows, look.Dim.Text(panes.Fit(l, width)))
	}
	line, used := panes.Hints(hints, width, 1, look.Key, look.Text)
	return append(rows, panes.Spaces(width), line+panes.Spaces(width-used)), width, -1, 0
}
