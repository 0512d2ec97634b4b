package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// askRenameFile asks for a new name, or has several renamed in the person's
// editor.
func (f *Pane) askRenameFile() tea.Cmd {
	targets := f.list.Targets()
	switch len(targets) {
	case 0:
		return nil
	case 1:
	default:
		return f.renameMany(targets)
	}
	old := filepath.Base(targets[0])
	shown, escaped := editable(old)
	p := overlay.NewPrompt("Rename "+widget.Clip(widget.FileName(old), 40)+" to", shown, func(text string) tea.Cmd {
		name, err := typedName(text, escaped)
		if err != nil || name == "" || name == old {
			return nil
		}
		to := filepath.Join(filepath.Dir(targets[0]), name)
		show := f.willShow(name)
		in := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: targets[0], To: to}}}
		return tea.Batch(show, f.transfer(in))
	})
	p.Check = func(text string) error { return checkNewName(text, escaped) }
	if escaped {
		p.Note = widget.EscapesNote
	}
	f.env.Ask(p)
	return nil
}

// checkNewName tells what is wrong with a name that was typed.
func checkNewName(text string, escaped bool) error {
	name, err := typedName(text, escaped)
	switch {
	case err != nil:
		return err
	case strings.ContainsRune(name, '/'):
		return errors.New("a name has no / in it; M moves a file")
	case name == "." || name == "..":
		return fmt.Errorf("%s is not a valid name; it stands for a folder", name)
	}
	return nil
}

// editable is a name or path as it is shown where it can be edited; one that
// holds what cannot be shown is written with escapes.
func editable(name string) (text string, escaped bool) {
	if widget.NeedsEscapes(name) {
		return widget.EscapeName(name), true
	}
	return name, false
}

// typedName is the name that editable showed, after it was edited.
func typedName(text string, escaped bool) (string, error) {
	if escaped {
		return api.ParseName(text)
	}
	return text, nil
}

// renameMany has names changed in the editor, in a session. The list is a file
// in the engine's data folder.
func (f *Pane) renameMany(targets []string) tea.Cmd {
	names := relativeTo(f.path, targets)
	escaped := slices.ContainsFunc(names, widget.NeedsEscapes)
	if escaped {
		for i, name := range names {
			names[i] = widget.EscapeName(name)
		}
	}
	list := filepath.Join(f.env.News().Info.DataDir, fmt.Sprintf("rename-%d-%d.txt", os.Getpid(), f.serial))
	text := strings.Join(names, "\n") + "\n"
	return panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		return renameList{list, targets, escaped, e.WriteFile(ctx, list, []byte(text), false)}
	}, func(err error) tea.Msg { return renameList{err: err} })
}

// renameList is the file in which names are changed.
type renameList struct {
	path    string
	targets []string
	escaped bool // names are written with escapes
	err     error
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

func (f *Pane) editRenameList(msg renameList) tea.Cmd {
	if msg.err != nil {
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	folder := f.path
	cmd := f.visit(panes.Editor(msg.path, 0, 0), func() tea.Cmd { return f.readRenames(msg, folder) })
	if msg.escaped {
		cmd = tea.Batch(cmd, f.env.Say("in these names "+widget.EscapesNote, false))
	}
	return cmd
}

// readRenames reads what became of the list.
func (f *Pane) readRenames(msg renameList, folder string) tea.Cmd {
	return panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.ReadFile(ctx, msg.path, 0, 0)
		_ = e.DeleteFile(ctx, msg.path) // it is of no more use, and harmless
		if err != nil {
			return renamesRead{err: err}
		}
		items, err := renames(folder, msg.targets, textOf(out), msg.escaped)
		return renamesRead{items, err}
	}, func(err error) tea.Msg { return renamesRead{err: err} })
}

// renamesRead are the renames that were asked for.
type renamesRead struct {
	items []api.FileMove
	err   error
}

// textOf is what was read of a file, which the API carries in one of two ways.
func textOf(out api.FilesReadOutput) string {
	if out.Data != nil {
		return string(out.Data)
	}
	return out.Text
}

// renames reads the list with new names: a line for each target, in the same
// order.
func renames(folder string, targets []string, text string, escaped bool) ([]api.FileMove, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) != len(targets) {
		return nil, api.Errorf(api.CodeInvalid, "rename files: %d lines for %d files", len(lines), len(targets)).
			WithHint("change lines, and leave their number and order")
	}
	var items []api.FileMove
	taken := make(map[string]bool, len(lines))
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if line == "" {
			return nil, api.Errorf(api.CodeInvalid, "rename files: line %d is empty", i+1)
		}
		to, err := typedName(line, escaped)
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "rename files: line %d: %v", i+1, err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(folder, to)
		}
		if taken[to] {
			return nil, api.Errorf(api.CodeInvalid, "rename files: two would be %s", line)
		}
		taken[to] = true
		if to != targets[i] {
			items = append(items, api.FileMove{Path: targets[i], To: to})
		}
	}
	return items, nil
}

// takeRenames shows what is to be renamed and asks.
func (f *Pane) takeRenames(msg renamesRead) tea.Cmd {
	switch {
	case msg.err != nil:
		return f.env.Say(panes.ErrorText(msg.err), true)
	case len(msg.items) == 0:
		return f.env.Say("no name was changed", false)
	}
	const most = 12
	var lines []string
	for i, item := range msg.items {
		if i == most {
			lines = append(lines, "and "+widget.Itoa(len(msg.items)-most)+" more")
			break
		}
		lines = append(lines, widget.Clip(widget.FileName(filepath.Base(item.Path)), 34)+" → "+widget.Clip(widget.FileName(filepath.Base(item.To)), 34))
	}
	what, no := widget.Itoa(len(msg.items))+" files", "leave their names"
	if len(msg.items) == 1 {
		what, no = "one file", "leave its name"
	}
	f.env.Ask(&overlay.Question{
		Title: "Rename " + what + "?",
		Lines: lines,
		Yes:   "rename",
		No:    no,
		Then:  wantTransfer(api.FilesTransferInput{Kind: api.TransferMove, Items: swapped(msg.items)}),
	})
	return nil
}

// swapped orders renames so that a name is free before it is taken; where names
// go round, one takes a detour.
func swapped(items []api.FileMove) []api.FileMove {
	var out, free []api.FileMove
	at := map[string]api.FileMove{}   // by the name that an item still has
	into := map[string]api.FileMove{} // by the name that it will have
	for _, item := range items {
		at[item.Path], into[item.To] = item, item
	}
	for _, item := range items {
		if _, taken := at[item.To]; !taken {
			free = append(free, item)
		}
	}
	for _, item := range items {
		for len(free) > 0 {
			next := free[0]
			free = free[1:]
			out = append(out, next)
			delete(at, next.Path)
			if waits, ok := into[next.Path]; ok {
				free = append(free, waits)
			}
		}
		if _, still := at[item.Path]; still { // one of a round
			detour := filepath.Join(filepath.Dir(item.Path), fmt.Sprintf(".tandem-rename-%d", len(out)))
			out = append(out, api.FileMove{Path: item.Path, To: detour})
			delete(at, item.Path)
			into[item.To] = api.FileMove{Path: detour, To: item.To}
			free = append(free, into[item.Path])
		}
	}
	return out
}
