package files

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/files/transfers"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// actions change files: the targets, which are the marked files or, if none is marked, the current
// one.
type actions struct {
	env       panes.Env
	folder    *folder
	transfers *transfers.Queue
	programs  *programs
}

// onTargets returns an action that calls act with the targets. It does nothing if there are none.
func (a *actions) onTargets(act func([]string) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if targets := a.folder.list.Targets(); len(targets) > 0 {
			return act(targets)
		}
		return nil
	}
}

// askNew creates a file, or a folder if the name ends in a slash.
func (a *actions) askNew() tea.Cmd {
	var p *dialog.Prompt
	p = dialog.NewPrompt("New file, or folder with a trailing /", "", func(name string) tea.Cmd {
		if strings.Trim(name, "/") == "" {
			return nil
		}
		path := filepath.Join(a.folder.path, name)
		// For a/b/c, the new entry in this folder is a.
		first, _, _ := strings.Cut(strings.Trim(name, "/"), "/")
		show := a.folder.selectName(first)
		return tea.Batch(show, panes.AwaitAnswer(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (string, error) {
			if strings.HasSuffix(name, "/") {
				return path, e.MakeFolder(ctx, path)
			}
			return path, e.WriteFile(ctx, path, []byte{}, true)
		}, func(path string, err error) tea.Cmd {
			a.folder.NoteChange()
			if err != nil {
				p.Fail(panes.ErrorText(err))
				a.env.Ask(p)
				return nil
			}
			a.transfers.RecordNew(path)
			return nil
		}))
	})
	a.env.Ask(p)
	return nil
}

// trashFiles moves files to the trash.
func (a *actions) trashFiles(targets []string) tea.Cmd {
	return a.transfers.Trash(targets)
}

// askErase asks before deleting files for good.
func (a *actions) askErase(targets []string) tea.Cmd {
	a.transfers.AskDelete("Delete "+transfers.NameFiles(targets)+" permanently?", targets, targets)
	return nil
}

// copyPath puts the targets' paths on the clipboard, one per line. Paths with invisible characters
// are quoted for a shell.
func (a *actions) copyPath(targets []string) tea.Cmd {
	for i, path := range targets {
		if text.FileName(path) != path { // ambiguous as shown, or impossible to paste
			targets[i] = shellWord(path)
		}
	}
	return a.env.Copy(strings.Join(targets, "\n"), "")
}

// askTransfer returns an action that asks where to copy or move the targets: into a folder or, for
// a single target, to a new path.
func (a *actions) askTransfer(kind string) func([]string) tea.Cmd {
	return func(targets []string) tea.Cmd {
		verb := strings.ToUpper(kind[:1]) + kind[1:] + " "
		text := withSlash(a.folder.path)
		if len(targets) == 1 && filepath.Dir(targets[0]) == a.folder.path {
			text += filepath.Base(targets[0])
		}
		return a.folder.askPath(verb+transfers.NameFiles(targets)+" to", text, func(to string, refused func(string)) tea.Cmd {
			return a.transfers.AddTo(kind, targets, to, refused)
		})
	}
}
