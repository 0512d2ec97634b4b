package files

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/preview"
)

// makeActions returns the actions of the list and the preview.
func (f *Pane) makeActions() panes.Actions {
	list, order := &f.folder.list, f.folder.changeOrder
	sortBy := func(c Column) func() tea.Cmd { return order(func(o *Order) { o.SortBy(c) }) }
	towards := func(on bool) func() tea.Cmd { return asAction(func() { f.focusPreview(on) }) }
	other := asAction(func() { f.focusPreview(!f.onPreview) })
	onRow := func(act func() tea.Cmd) func() tea.Cmd { return f.folder.whenListed(false, act) }
	move := func(rows func() int) func() tea.Cmd { return onRow(asAction(func() { list.Move(rows()) })) }
	by := func(rows int) func() tea.Cmd { return onRow(asAction(func() { list.Move(rows) })) }
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other, keymap.PaneZoom: asAction(func() { f.zoomed = !f.zoomed }),

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows),
		keymap.MoveLast:     f.folder.whenListed(true, asAction(func() { list.Move(panes.AllRows) })),
		keymap.MovePageDown: move(func() int { return list.Page() }),
		keymap.MovePageUp:   move(func() int { return -list.Page() }),
		keymap.Open:         onRow(asAction(f.openSelected)),
		keymap.Filter:       f.folder.askFilter,
		keymap.Clear:        f.cancelOrClear,
		keymap.Mark:         onRow(asAction(f.folder.markEntry)),

		keymap.FilesUp:       asAction(f.goUp),
		keymap.FilesInto:     onRow(asAction(f.openSelected)),
		keymap.FilesEdit:     onRow(f.editFile),
		keymap.FilesTrash:    func() tea.Cmd { return showTrash(f) },
		keymap.FilesExtract:  onRow(func() tea.Cmd { return askExtract(f) }),
		keymap.FilesPack:     onRow(func() tea.Cmd { return askPack(f) }),
		keymap.FilesOpenWith: onRow(func() tea.Cmd { return askOpenWith(f) }),
		keymap.FilesTab:      f.tabs.openTab,
		keymap.FilesTabClose: f.tabs.closeCurrent,
		keymap.FilesTabNext:  f.tabs.switchTab(1),
		keymap.FilesTabBack:  f.tabs.switchTab(-1),
		keymap.FilesTerminal: func() tea.Cmd { return f.startSession(nil) },
		keymap.FilesRun:      onRow(f.askRun),
		keymap.FilesPath:     onRow(f.copyPath),
		keymap.FilesHidden:   order(func(o *Order) { o.Hidden = !o.Hidden }),
		keymap.FilesSort:     order(func(o *Order) { o.By, o.Reversed = o.By.Next(), false }),
		keymap.FilesReverse:  order(func(o *Order) { o.Reversed = !o.Reversed }),
		keymap.FilesReload:   asAction(f.folder.startVisit),
		keymap.FilesHome:     asAction(func() { f.GoFolder(f.env.Home(), "") }),
		keymap.FilesBack:     asAction(f.goBack),
		keymap.FilesMarkAll:  f.folder.whenListed(true, asAction(f.folder.markAll)),
		keymap.FilesNew:      f.askNew,
		keymap.FilesRename:   onRow(f.askRename),
		keymap.FilesCopy:     onRow(func() tea.Cmd { return f.askTransfer(api.TransferCopy) }),
		keymap.FilesMove:     onRow(func() tea.Cmd { return f.askTransfer(api.TransferMove) }),
		keymap.FilesDelete:   onRow(f.onTargets(f.trashFiles)),
		keymap.FilesErase:    onRow(f.onTargets(f.askErase)),
		keymap.FilesUndo:     f.transfers.undoLast,
		keymap.FilesGoTo:     f.askFolder,
		keymap.FilesMarks:    f.showBookmarks,
		keymap.FilesKeep:     f.bookmarkFolder,
		keymap.FilesFind:     asAction(func() { f.startFind(false) }),
		keymap.FilesSearch:   asAction(func() { f.startFind(true) }),

		keymap.FilesSortName: sortBy(ByName), keymap.FilesSortSize: sortBy(BySize),
		keymap.FilesSortTime: sortBy(ByTime), keymap.FilesSortExtension: sortBy(ByExtension),

		keymap.PreviewDown:     f.previewAction(func(p *preview.Preview) { p.Scroll(1) }),
		keymap.PreviewUp:       f.previewAction(func(p *preview.Preview) { p.Scroll(-1) }),
		keymap.PreviewPageDown: f.previewAction(func(p *preview.Preview) { p.Pages(2) }),
		keymap.PreviewPageUp:   f.previewAction(func(p *preview.Preview) { p.Pages(-2) }),
		keymap.PreviewHalfDown: f.previewAction(func(p *preview.Preview) { p.Pages(1) }),
		keymap.PreviewHalfUp:   f.previewAction(func(p *preview.Preview) { p.Pages(-1) }),
		keymap.PreviewFirst:    f.previewAction((*preview.Preview).Home),
		keymap.PreviewLast:     f.previewAction((*preview.Preview).End),
		keymap.PreviewLeft:     f.previewAction(func(p *preview.Preview) { p.Sideways(-1) }),
		keymap.PreviewRight:    f.previewAction(func(p *preview.Preview) { p.Sideways(1) }),
		keymap.PreviewWrap:     f.previewAction((*preview.Preview).Wrap),
		keymap.PreviewSearch:   f.viewer.askSearch,
		keymap.PreviewNext:     func() tea.Cmd { return f.viewer.goToHit(false) },
		keymap.PreviewPrevious: func() tea.Cmd { return f.viewer.goToHit(true) },
		keymap.PreviewLeave:    towards(false),
	}
	// Every action needs a folder, so all of them wait for the first one.
	for a, act := range all {
		all[a] = f.whenShown(act)
	}
	return all
}

// whenShown delays an action until the first folder is known.
func (f *Pane) whenShown(act func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		return f.env.Await(panes.Pending{
			Ready: func() bool { return f.folder.path != "" || !f.shown },
			Then: func() tea.Cmd {
				if f.folder.path == "" {
					return nil
				}
				return act()
			},
		})
	}
}

// goBack goes to the previous folder.
func (f *Pane) goBack() {
	if last := len(f.folder.previous) - 1; last >= 0 {
		// GoFolder adds the current folder, which must not be on the way back.
		back := f.folder.previous[:last]
		f.GoFolder(f.folder.previous[last], "")
		f.folder.previous = back
	}
}

// goUp goes to the folder above.
func (f *Pane) goUp() {
	if up := parentFolder(f.folder.path); up != f.folder.path {
		f.GoFolder(up, filepath.Base(f.folder.path))
	}
}

// openSelected opens the folder under the cursor, or zooms the preview of the file.
func (f *Pane) openSelected() {
	switch selected := f.folder.list.CursorEntry(); {
	case selected == nil:
	case selected.IsFolder():
		f.GoFolder(f.folder.list.CursorPath(), "")
	default:
		f.onPreview, f.zoomed = true, true
	}
}

// editFile opens the current file in the user's editor.
func (f *Pane) editFile() tea.Cmd {
	path := f.folder.list.CursorPath()
	if path == "" {
		return nil
	}
	return f.runInSession(panes.EditorCommand(path, 0, 0), nil)
}

// runInSession runs a command in a session in the current folder. When it exits, the view returns
// and then runs.
func (f *Pane) runInSession(command []string, then func() tea.Cmd) tea.Cmd {
	command, folder, err := encodeCommand(toLocalPaths(command, f.folder.path), f.folder.path)
	if err != nil {
		return f.env.Say(panes.ErrorText(err), true)
	}
	return f.env.Visit(command, folder, then)
}

// toLocalPaths replaces a remote machine's paths in a command by its local ones, because the
// command runs there.
func toLocalPaths(command []string, folder string) []string {
	machine, _ := api.PathOf(folder)
	if machine == "" {
		return command
	}
	command = slices.Clone(command)
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], api.PathOn(machine, "/")+"/", "/")
	}
	return command
}

func (f *Pane) askRun() tea.Cmd {
	selected := f.folder.list.CursorEntry()
	if selected == nil || selected.IsFolder() {
		return nil
	}
	command := shellWord("./" + selected.Name)
	if !selected.IsExecutable() {
		command = " " + shellWord(selected.Name)
	}
	p := dialog.NewPrompt("Run in a session", command, func(line string) tea.Cmd {
		if line == "" {
			return nil
		}
		return f.startSession([]string{"/bin/sh", "-c", line})
	})
	f.env.Ask(p)
	return nil
}

// copyPath copies the targets' paths, one per line. Paths with invisible characters are quoted for
// a shell.
func (f *Pane) copyPath() tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	for i, path := range targets {
		if text.FileName(path) != path { // ambiguous as shown, or impossible to paste
			targets[i] = shellWord(path)
		}
	}
	return f.env.Copy(strings.Join(targets, "\n"), "")
}

// cancelOrClear cancels a transfer, or clears the filter, or the marks. Marks come last, because
// they are the hardest to redo.
func (f *Pane) cancelOrClear() tea.Cmd {
	switch {
	case f.transfers.running != nil:
		f.transfers.cancelRunning()
	case f.folder.order.Filter != "":
		f.folder.order.Filter = ""
		return f.folder.applyOrder()
	default:
		clear(f.folder.marked)
	}
	return nil
}

// askNew creates a file, or a folder if the name ends in a slash.
func (f *Pane) askNew() tea.Cmd {
	f.env.Ask(dialog.NewPrompt("New file, or folder with a trailing /", "", func(name string) tea.Cmd {
		if strings.Trim(name, "/") == "" {
			return nil
		}
		path := filepath.Join(f.folder.path, name)
		// For a/b/c, the new entry in this folder is a.
		first, _, _ := strings.Cut(strings.Trim(name, "/"), "/")
		show := f.folder.selectName(first)
		return tea.Batch(show, panes.Ask(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) (undo, error) {
			if strings.HasSuffix(name, "/") {
				return undoOfNew(path), e.MakeFolder(ctx, path)
			}
			return undoOfNew(path), e.WriteFile(ctx, path, []byte{}, true)
		}, func(back undo, err error) tea.Cmd {
			f.folder.noteChange()
			if err != nil {
				return f.env.Say(panes.ErrorText(err), true)
			}
			f.transfers.pushUndo(back)
			return nil
		}))
	}))
	return nil
}

// undoOfNew returns the undo of a new file.
func undoOfNew(path string) undo {
	return undo{description: "new " + text.FileName(filepath.Base(path)), steps: []api.FilesTransferInput{{Kind: api.TransferTrash, Items: itemsFor([]string{path})}}}
}

// onTargets returns an action on the targets, if there are any.
func (f *Pane) onTargets(act func([]string)) func() tea.Cmd {
	return asAction(func() {
		if targets := f.folder.list.Targets(); len(targets) > 0 {
			act(targets)
		}
	})
}

// trashFiles moves files to the trash.
func (f *Pane) trashFiles(targets []string) {
	f.transfers.enqueueTransfer(api.FilesTransferInput{Kind: api.TransferTrash, Items: itemsFor(targets)})
}

// askErase asks before deleting files for good.
func (f *Pane) askErase(targets []string) {
	f.env.Ask(&dialog.Question{
		Title: "Delete " + nameFiles(targets) + " permanently?",
		Lines: append(text.Some(targets, 10, func(path string) string { return text.Clip(text.FileName(filepath.Base(path)), 60) }),
			"This cannot be undone."),
		Yes:  "delete",
		No:   "keep",
		Then: f.transfers.enqueueCmd(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsFor(targets)}),
	})
}

// nameFiles names one file, or the number of several.
func nameFiles(paths []string) string {
	if len(paths) == 1 {
		return text.Clip(text.FileName(filepath.Base(paths[0])), 40)
	}
	return countItems(len(paths))
}

// countItems returns a number of files and folders in words.
func countItems(n int) string { return text.Count(n, "item") }

// Actions returns the actions for the keys of the list and the preview.
func (f *Pane) Actions() panes.Actions { return f.actions }
