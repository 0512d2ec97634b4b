package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files/transfers"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// askRename asks for the new name of a file. For several files it opens a list of the names in the
// user's editor.
func (a *actions) askRename(targets []string) tea.Cmd {
	if len(targets) > 1 {
		return a.renameMany(targets)
	}
	old := filepath.Base(targets[0])
	shown, escaped := old, text.NeedsEscapes(old)
	if escaped {
		shown = text.EscapeName(old)
	}
	var p *dialog.Prompt
	p = dialog.NewPrompt("Rename "+text.Clip(text.FileName(old), 40)+" to", shown, func(text string) tea.Cmd {
		name, _ := parseTyped(text, escaped) // Check has accepted it
		if name == old {
			return nil
		}
		to := filepath.Join(filepath.Dir(targets[0]), name)
		in := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: targets[0], To: to}}}
		return tea.Batch(a.folder.selectName(name), a.transfers.Add(in, func(why string) {
			p.Fail(why)
			a.env.Ask(p)
		}))
	})
	p.Check = func(text string) error { return a.checkNewName(text, escaped) }
	if escaped {
		p.Note = text.EscapesNote
	}
	a.env.Ask(p)
	return nil
}

// checkNewName returns an error for an invalid name.
func (a *actions) checkNewName(text string, escaped bool) error {
	name, err := parseTyped(text, escaped)
	switch {
	case err != nil:
		return err
	case strings.ContainsRune(name, '/'):
		return errors.New("a name cannot contain /" + a.env.Bindings().WithKey("; press ", keymap.FilesMove, " to move the file", keymap.ScopeFiles))
	case name == "." || name == "..":
		return fmt.Errorf("not a valid name: %s stands for a folder", name)
	}
	return nil
}

// parseTyped parses an edited name.
func parseTyped(text string, escaped bool) (string, error) {
	if escaped {
		return api.ParseName(text)
	}
	return text, nil
}

// renameMany opens a list of names in the user's editor, which runs in a session. The list is a
// file in the engine's data directory.
func (a *actions) renameMany(targets []string) tea.Cmd {
	folder := a.folder.path
	names := relativeTo(folder, targets)
	escaped := slices.ContainsFunc(names, text.NeedsEscapes)
	if escaped {
		for i, name := range names {
			names[i] = text.EscapeName(name)
		}
	}
	list := filepath.Join(a.env.News().Info.DataDir, fmt.Sprintf("rename-%d-%d.txt", os.Getpid(), time.Now().UnixNano()))
	content := strings.Join(names, "\n") + "\n"
	return panes.AwaitAnswer(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (string, error) {
		return list, e.WriteFile(ctx, list, []byte(content), false)
	}, panes.ReportErrors(a.env.Say, func(list string) tea.Cmd {
		cmd := a.programs.runInSession("rename", renameEditor(list, panes.EditorCommand(list, 0, 0)), func() tea.Cmd { return a.readRenames(list, folder, targets, escaped) })
		if escaped {
			cmd = tea.Batch(cmd, a.env.Say("in these names "+text.EscapesNote, false))
		}
		return cmd
	}))
}

// renameEditor returns a command that runs an editor on a list of names, and empties the list if
// the editor fails. A space before the command keeps it out of the history.
func renameEditor(list string, editor []string) []string {
	words := make([]string, len(editor))
	for i, word := range editor {
		words[i] = shellWord(word)
	}
	return []string{"/bin/sh", "-c", " " + strings.Join(words, " ") + " || : >" + shellWord(list)}
}

func relativeTo(folder string, paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = path
		if rel, err := filepath.Rel(folder, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			names[i] = rel
		}
	}
	return names
}

// readRenames reads the edited list.
func (a *actions) readRenames(list, folder string, targets []string, escaped bool) tea.Cmd {
	return panes.Call(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) ([]api.FileMove, error) {
		out, err := e.ReadFile(ctx, list, 0, 0)
		_ = e.DeleteFile(ctx, list) // no longer needed; harmless if it stays
		if err != nil {
			return nil, err
		}
		return parseRenames(folder, targets, string(readBytes(out)), escaped)
	}, panes.ReportErrors(a.env.Say, a.confirmRenames))
}

// parseRenames parses an edited list: one line per target, in the same order.
func parseRenames(folder string, targets []string, text string, escaped bool) ([]api.FileMove, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	// Lines belong to files by their position.
	if len(lines) != len(targets) {
		return nil, api.Errorf(api.CodeInvalid, "rename files: %d lines for %d files", len(lines), len(targets)).
			WithHint("change names only, and keep one line per file")
	}
	var items []api.FileMove
	taken := make(map[string]bool, len(lines))
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if line == "" {
			return nil, api.Errorf(api.CodeInvalid, "rename files: line %d is empty", i+1)
		}
		to, err := parseTyped(line, escaped)
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "rename files: line %d: %v", i+1, err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(folder, to)
		}
		if taken[to] {
			return nil, api.Errorf(api.CodeInvalid, "rename files: two files would be called %s", line)
		}
		taken[to] = true
		if to != targets[i] {
			items = append(items, api.FileMove{Path: targets[i], To: to})
		}
	}
	return items, nil
}

// confirmRenames shows the renames and asks for confirmation.
func (a *actions) confirmRenames(items []api.FileMove) tea.Cmd {
	if len(items) == 0 {
		return a.env.Say("nothing renamed", false)
	}
	no := "keep their names"
	if len(items) == 1 {
		no = "keep its name"
	}
	short := func(path string) string {
		return text.Clip(text.FileName(relativeTo(a.folder.path, []string{path})[0]), 34)
	}
	a.env.Ask(&dialog.Question{
		Title: "Rename " + transfers.CountItems(len(items)) + "?",
		Lines: text.Some(items, 12, func(item api.FileMove) string { return short(item.Path) + " → " + short(item.To) }),
		Yes:   "rename",
		No:    no,
		Then: func() tea.Cmd {
			return a.transfers.Add(api.FilesTransferInput{Kind: api.TransferMove, Items: orderRenames(items)}, nil)
		},
	})
	return nil
}

// orderRenames orders renames so that each new name is free when it is needed. In a cycle, one file
// is first moved to a temporary name.
func orderRenames(items []api.FileMove) []api.FileMove {
	var out, free []api.FileMove
	byName := map[string]api.FileMove{}    // by current name
	byNewName := map[string]api.FileMove{} // by new name
	for _, item := range items {
		byName[item.Path], byNewName[item.To] = item, item
	}
	for _, item := range items {
		if _, taken := byName[item.To]; !taken {
			free = append(free, item)
		}
	}
	for _, item := range items {
		// Each rename frees a name, which another rename may need.
		for len(free) > 0 {
			next := free[0]
			free = free[1:]
			out = append(out, next)
			delete(byName, next.Path)
			if waiting, ok := byNewName[next.Path]; ok {
				free = append(free, waiting)
			}
		}
		if _, still := byName[item.Path]; still { // part of a cycle
			detour := filepath.Join(filepath.Dir(item.Path), fmt.Sprintf(".tandem-rename-%d", len(out)))
			out = append(out, api.FileMove{Path: item.Path, To: detour})
			delete(byName, item.Path)
			byNewName[item.To] = api.FileMove{Path: detour, To: item.To}
			free = append(free, byNewName[item.Path])
		}
	}
	return out
}
