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
	"tandem/panes/preview"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// makeActions are those of the files view and its preview.
func (f *Pane) makeActions() panes.Actions {
	list, order := &f.folder.list, f.folder.onOrder
	sortBy := func(c Column) func() tea.Cmd { return order(func(o *Order) { o.SortBy(c) }) }
	towards := func(on bool) func() tea.Cmd { return do(func() { f.focusPreview(on) }) }
	other := do(func() { f.focusPreview(!f.onPreview) })
	onRow := func(act func() tea.Cmd) func() tea.Cmd { return f.folder.whenListed(false, act) }
	move := func(rows func() int) func() tea.Cmd { return onRow(do(func() { list.Move(rows()) })) }
	by := func(rows int) func() tea.Cmd { return onRow(do(func() { list.Move(rows) })) }
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other, keymap.PaneZoom: do(func() { f.zoomed = !f.zoomed }),

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows),
		keymap.MoveLast:     f.folder.whenListed(true, do(func() { list.Move(panes.AllRows) })),
		keymap.MovePageDown: move(func() int { return list.Page() }),
		keymap.MovePageUp:   move(func() int { return -list.Page() }),
		keymap.Open:         onRow(do(f.open)),
		keymap.Filter:       f.folder.askFilter,
		keymap.Clear:        f.clear,
		keymap.Mark:         onRow(do(f.folder.mark)),

		keymap.FilesUp:       do(f.goUp),
		keymap.FilesInto:     onRow(do(f.open)),
		keymap.FilesEdit:     onRow(f.edit),
		keymap.FilesTrash:    func() tea.Cmd { return showTrash(f) },
		keymap.FilesExtract:  onRow(func() tea.Cmd { return askExtract(f) }),
		keymap.FilesPack:     onRow(func() tea.Cmd { return askPack(f) }),
		keymap.FilesOpenWith: onRow(func() tea.Cmd { return askOpenWith(f) }),
		keymap.FilesTab:      f.tabs.open,
		keymap.FilesTabClose: f.tabs.closeShown,
		keymap.FilesTabNext:  f.tabs.next(1),
		keymap.FilesTabBack:  f.tabs.next(-1),
		keymap.FilesTerminal: func() tea.Cmd { return f.startHere(nil) },
		keymap.FilesRun:      onRow(f.askRun),
		keymap.FilesPath:     onRow(f.copyPath),
		keymap.FilesHidden:   order(func(o *Order) { o.Hidden = !o.Hidden }),
		keymap.FilesSort:     order(func(o *Order) { o.By, o.Reversed = o.By.Next(), false }),
		keymap.FilesReverse:  order(func(o *Order) { o.Reversed = !o.Reversed }),
		keymap.FilesReload:   do(f.folder.begin),
		keymap.FilesHome:     do(func() { f.GoFolder(f.env.Home(), "") }),
		keymap.FilesBack:     do(f.goBack),
		keymap.FilesMarkAll:  f.folder.whenListed(true, do(f.folder.markAll)),
		keymap.FilesNew:      f.askNew,
		keymap.FilesRename:   onRow(f.askRename),
		keymap.FilesCopy:     onRow(func() tea.Cmd { return f.askTransfer(api.TransferCopy) }),
		keymap.FilesMove:     onRow(func() tea.Cmd { return f.askTransfer(api.TransferMove) }),
		keymap.FilesDelete:   onRow(f.onTargets(f.trash)),
		keymap.FilesErase:    onRow(f.onTargets(f.askErase)),
		keymap.FilesUndo:     f.transfers.undo,
		keymap.FilesGoTo:     f.askFolder,
		keymap.FilesMarks:    f.showBookmarks,
		keymap.FilesKeep:     f.keepBookmark,
		keymap.FilesFind:     do(func() { f.find(false) }),
		keymap.FilesSearch:   do(func() { f.find(true) }),

		keymap.FilesSortName: sortBy(ByName), keymap.FilesSortSize: sortBy(BySize),
		keymap.FilesSortTime: sortBy(ByTime), keymap.FilesSortExtension: sortBy(ByExtension),

		keymap.PreviewDown:     f.onPreviewed(func(p *preview.Preview) { p.Scroll(1) }),
		keymap.PreviewUp:       f.onPreviewed(func(p *preview.Preview) { p.Scroll(-1) }),
		keymap.PreviewPageDown: f.onPreviewed(func(p *preview.Preview) { p.Pages(2) }),
		keymap.PreviewPageUp:   f.onPreviewed(func(p *preview.Preview) { p.Pages(-2) }),
		keymap.PreviewHalfDown: f.onPreviewed(func(p *preview.Preview) { p.Pages(1) }),
		keymap.PreviewHalfUp:   f.onPreviewed(func(p *preview.Preview) { p.Pages(-1) }),
		keymap.PreviewFirst:    f.onPreviewed((*preview.Preview).Home),
		keymap.PreviewLast:     f.onPreviewed((*preview.Preview).End),
		keymap.PreviewLeft:     f.onPreviewed(func(p *preview.Preview) { p.Sideways(-1) }),
		keymap.PreviewRight:    f.onPreviewed(func(p *preview.Preview) { p.Sideways(1) }),
		keymap.PreviewWrap:     f.onPreviewed((*preview.Preview).Wrap),
		keymap.PreviewSearch:   f.viewer.askSearch,
		keymap.PreviewNext:     func() tea.Cmd { return f.viewer.nextHit(false) },
		keymap.PreviewPrevious: func() tea.Cmd { return f.viewer.nextHit(true) },
		keymap.PreviewLeave:    towards(false),
	}
	for a, act := range all {
		all[a] = f.whenBegun(act)
	}
	return all
}

// whenBegun makes an action wait for the first folder.
func (f *Pane) whenBegun(act func() tea.Cmd) func() tea.Cmd {
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

// goBack goes to the folder that was shown before.
func (f *Pane) goBack() {
	if last := len(f.folder.back) - 1; last >= 0 {
		back := f.folder.back[:last]
		f.GoFolder(f.folder.back[last], "")
		f.folder.back = back
	}
}

// goUp goes to the folder above.
func (f *Pane) goUp() {
	if up := folderAbove(f.folder.path); up != f.folder.path {
		f.GoFolder(up, filepath.Base(f.folder.path))
	}
}

// open goes into the folder under the cursor, or shows the file there in full.
func (f *Pane) open() {
	switch selected := f.folder.list.Selected(); {
	case selected == nil:
	case widget.IsFolder(selected):
		f.GoFolder(f.folder.list.SelectedPath(), "")
	default:
		f.onPreview, f.zoomed = true, true
	}
}

// edit opens the file under the cursor in the person's editor.
func (f *Pane) edit() tea.Cmd {
	path := f.folder.list.SelectedPath()
	if path == "" {
		return nil
	}
	return f.visit(panes.EditorCommand(path, 0, 0), nil)
}

// visit starts a command in a session in the folder that is shown; when it ends,
// the files are shown again, and then is done.
func (f *Pane) visit(command []string, then func() tea.Cmd) tea.Cmd {
	command, folder, err := carried(onItsMachine(command, f.folder.path), f.folder.path)
	if err != nil {
		return f.env.Say(panes.ErrorText(err), true)
	}
	return f.env.Visit(command, folder, then)
}

// onItsMachine is a command with the paths of a folder's machine as they are there,
// where it is to run.
func onItsMachine(command []string, folder string) []string {
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
	selected := f.folder.list.Selected()
	if selected == nil || widget.IsFolder(selected) {
		return nil
	}
	command := shellWord("./" + selected.Name)
	if !widget.IsExecutable(selected) {
		command = " " + shellWord(selected.Name)
	}
	p := overlay.NewPrompt("Run in a session", command, func(line string) tea.Cmd {
		if line == "" {
			return nil
		}
		return f.startHere([]string{"/bin/sh", "-c", line})
	})
	f.env.Ask(p)
	return nil
}

// copyPath copies paths, each on its line; those that hold what cannot be shown
// as words for a shell.
func (f *Pane) copyPath() tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	for i, path := range targets {
		if widget.FileName(path) != path { // as it is, it could not be told from others, or not be pasted
			targets[i] = shellWord(path)
		}
	}
	return f.env.Copy(strings.Join(targets, "\n"), "")
}

// clear ends a transfer, or takes back the filter, or last of all the marks, which
// cost more to make again.
func (f *Pane) clear() tea.Cmd {
	switch {
	case f.transfers.running != nil:
		f.transfers.cancel()
	case f.folder.order.Filter != "":
		f.folder.order.Filter = ""
		return f.folder.rearrange()
	default:
		clear(f.folder.marked)
	}
	return nil
}

// askNew makes a file, or a folder if the name ends in a slash.
func (f *Pane) askNew() tea.Cmd {
	f.env.Ask(overlay.NewPrompt("New file, or folder with a trailing /", "", func(name string) tea.Cmd {
		if strings.Trim(name, "/") == "" {
			return nil
		}
		path := filepath.Join(f.folder.path, name)
		first, _, _ := strings.Cut(strings.Trim(name, "/"), "/")
		show := f.folder.willShow(first)
		return tea.Batch(show, panes.Ask(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) (undo, error) {
			if strings.HasSuffix(name, "/") {
				return undoOfNew(path), e.MakeFolder(ctx, path)
			}
			return undoOfNew(path), e.WriteFile(ctx, path, []byte{}, true)
		}, func(back undo, err error) tea.Cmd {
			f.folder.changed()
			if err != nil {
				return f.env.Say(panes.ErrorText(err), true)
			}
			f.transfers.remember(back)
			return nil
		}))
	}))
	return nil
}

// undoOfNew is how a file that was made is taken back.
func undoOfNew(path string) undo {
	return undo{what: "new " + widget.FileName(filepath.Base(path)), steps: []api.FilesTransferInput{{Kind: api.TransferTrash, Items: itemsOf([]string{path})}}}
}

// onTargets is an action on the files that are marked or else the one under the
// cursor.
func (f *Pane) onTargets(act func([]string)) func() tea.Cmd {
	return do(func() {
		if targets := f.folder.list.Targets(); len(targets) > 0 {
			act(targets)
		}
	})
}

// trash moves files to the trash.
func (f *Pane) trash(targets []string) {
	f.transfers.add(api.FilesTransferInput{Kind: api.TransferTrash, Items: itemsOf(targets)})
}

// askErase asks before files are deleted for good.
func (f *Pane) askErase(targets []string) {
	f.env.Ask(&overlay.Question{
		Title: "Delete " + theseFiles(targets) + " permanently?",
		Lines: append(widget.Some(targets, 10, func(path string) string { return widget.Clip(widget.FileName(filepath.Base(path)), 60) }),
			"This cannot be undone."),
		Yes:  "delete",
		No:   "keep",
		Then: f.transfers.adding(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsOf(targets)}),
	})
}

// theseFiles names files: one by its name, several by their number.
func theseFiles(paths []string) string {
	if len(paths) == 1 {
		return widget.Clip(widget.FileName(filepath.Base(paths[0])), 40)
	}
	return countOf(len(paths))
}

// countOf returns a number of files and folders.
func countOf(n int) string { return widget.Count(n, "item") }

// Actions are what the keys of the list and of the preview do.
func (f *Pane) Actions() panes.Actions { return f.actions }
