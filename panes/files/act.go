package files

import (
	"context"
	"path/filepath"
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
	return panes.Actions{
		keymap.FocusLeft: f.towards(false), keymap.FocusUp: f.towards(false), keymap.FocusRight: f.towards(true), keymap.FocusDown: f.towards(true),
		keymap.FocusNext: f.otherPart, keymap.FocusPrevious: f.otherPart, keymap.PaneZoom: f.zoomFiles,

		keymap.MoveDown: f.by(1), keymap.MoveUp: f.by(-1), keymap.MoveFirst: f.by(-allRows), keymap.MoveLast: f.by(allRows),
		keymap.MovePageDown: func() tea.Cmd { return f.by(f.list.Page())() },
		keymap.MovePageUp:   func() tea.Cmd { return f.by(-f.list.Page())() },
		keymap.Open:         f.openFileHere,
		keymap.Filter:       f.askFileFilter,
		keymap.Clear:        f.clearFiles,
		keymap.Mark:         f.markFile,

		keymap.FilesUp:       f.filesUp,
		keymap.FilesInto:     f.openFileHere,
		keymap.FilesEdit:     f.editFile,
		keymap.FilesTerminal: func() tea.Cmd { return f.startHere(nil) },
		keymap.FilesRun:      f.askRun,
		keymap.FilesPath:     f.copyPath,
		keymap.FilesHidden:   f.onOrder(func(o *Order) { o.Hidden = !o.Hidden }),
		keymap.FilesSort:     f.onOrder(func(o *Order) { o.By, o.Reversed = o.By.Next(), false }),
		keymap.FilesReverse:  f.onOrder(func(o *Order) { o.Reversed = !o.Reversed }),
		keymap.FilesReload:   f.reloadFiles,
		keymap.FilesHome:     func() tea.Cmd { f.GoFolder(f.env.Home(), ""); return nil },
		keymap.FilesBack:     f.folderBefore,
		keymap.FilesMarkAll:  f.markAllFiles,
		keymap.FilesNew:      f.askNewFile,
		keymap.FilesRename:   f.askRenameFile,
		keymap.FilesCopy:     func() tea.Cmd { return f.askTransfer(api.TransferCopy) },
		keymap.FilesMove:     func() tea.Cmd { return f.askTransfer(api.TransferMove) },
		keymap.FilesDelete:   f.trashFiles,
		keymap.FilesErase:    f.askErase,
		keymap.FilesUndo:     f.undoFiles,
		keymap.FilesGoTo:     f.askFolder,
		keymap.FilesMarks:    f.showBookmarks,
		keymap.FilesKeep:     f.keepBookmark,
		keymap.FilesFind:     func() tea.Cmd { return f.showFileFinder(false) },
		keymap.FilesSearch:   func() tea.Cmd { return f.showFileFinder(true) },

		keymap.PreviewDown:     f.whenPreviewed(func(p *preview.Preview) { p.Scroll(1) }),
		keymap.PreviewUp:       f.whenPreviewed(func(p *preview.Preview) { p.Scroll(-1) }),
		keymap.PreviewPageDown: f.whenPreviewed(func(p *preview.Preview) { p.Pages(2) }),
		keymap.PreviewPageUp:   f.whenPreviewed(func(p *preview.Preview) { p.Pages(-2) }),
		keymap.PreviewHalfDown: f.whenPreviewed(func(p *preview.Preview) { p.Pages(1) }),
		keymap.PreviewHalfUp:   f.whenPreviewed(func(p *preview.Preview) { p.Pages(-1) }),
		keymap.PreviewFirst:    f.whenPreviewed((*preview.Preview).Home),
		keymap.PreviewLast:     f.whenPreviewed((*preview.Preview).End),
		keymap.PreviewLeft:     f.whenPreviewed(func(p *preview.Preview) { p.Sideways(-1) }),
		keymap.PreviewRight:    f.whenPreviewed(func(p *preview.Preview) { p.Sideways(1) }),
		keymap.PreviewWrap:     f.whenPreviewed((*preview.Preview).Wrap),
		keymap.PreviewSearch:   f.askPreviewSearch,
		keymap.PreviewNext:     func() tea.Cmd { return f.nextHit(false) },
		keymap.PreviewPrevious: func() tea.Cmd { return f.nextHit(true) },
		keymap.PreviewLeave:    func() tea.Cmd { return f.focusPreview(false) },
	}
}

// onOrder changes what is shown of the folder and in which order.
func (f *Pane) onOrder(change func(*Order)) func() tea.Cmd {
	return func() tea.Cmd {
		change(&f.order)
		f.aboveOf = ""
		return f.rearrange()
	}
}

func (f *Pane) filesUp() tea.Cmd {
	if up := filepath.Dir(f.path); up != f.path {
		f.GoFolder(up, filepath.Base(f.path))
	}
	return nil
}

// openFileHere goes into the folder under the cursor, or shows the file there in
// full.
func (f *Pane) openFileHere() tea.Cmd {
	selected := f.list.Selected()
	switch {
	case selected == nil:
		return nil
	case widget.IsFolder(selected):
		f.GoFolder(f.list.SelectedPath(), "")
		return nil
	}
	f.onPreview, f.zoomed = true, true
	return nil
}

// editFile opens the file under the cursor in the person's editor.
func (f *Pane) editFile() tea.Cmd {
	path := f.list.SelectedPath()
	if path == "" {
		return nil
	}
	return f.visit(panes.Editor(path, 0, 0), nil)
}

// visit starts a command in a session in the folder that is shown; when it ends,
// the files are shown again, and then is done.
func (f *Pane) visit(command []string, then func() tea.Cmd) tea.Cmd {
	command, folder, err := carried(command, f.path)
	if err != nil {
		return f.env.Say(err.Error(), true)
	}
	return f.env.Visit(command, folder, then)
}

func (f *Pane) askRun() tea.Cmd {
	selected := f.list.Selected()
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
	targets := f.list.Targets()
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

func (f *Pane) reloadFiles() tea.Cmd {
	f.begin(f.env.Context())
	return nil
}

func (f *Pane) folderBefore() tea.Cmd {
	if len(f.back) == 0 {
		return nil
	}
	last := f.back[len(f.back)-1]
	back := f.back[:len(f.back)-1]
	f.GoFolder(last, "")
	f.back = back
	return nil
}

// markFile marks the entry under the cursor, or takes its mark away.
func (f *Pane) markFile() tea.Cmd {
	if path := f.list.SelectedPath(); path != "" {
		if f.marked[path] {
			delete(f.marked, path)
		} else {
			f.marked[path] = true
		}
		f.list.Move(1)
	}
	return nil
}

func (f *Pane) markAllFiles() tea.Cmd {
	rows := f.list.Rows()
	for i := range rows.Len() {
		path := filepath.Join(f.path, rows.Name(i))
		if f.marked[path] {
			delete(f.marked, path)
		} else {
			f.marked[path] = true
		}
	}
	return nil
}

// clearFiles ends a transfer, or takes back the marks, or the filter.
func (f *Pane) clearFiles() tea.Cmd {
	switch {
	case f.job != nil:
		return f.askCancelTransfer()
	case len(f.marked) > 0:
		clear(f.marked)
	default:
		f.order.Filter = ""
		return f.rearrange()
	}
	return nil
}

// askNewFile makes a file, or a folder if the name ends in a slash.
func (f *Pane) askNewFile() tea.Cmd {
	p := overlay.NewPrompt("New file, or folder with / behind it", "", func(name string) tea.Cmd {
		if strings.Trim(name, "/") == "" {
			return nil
		}
		path := filepath.Join(f.path, name)
		folder := strings.HasSuffix(name, "/")
		show := f.willShow(strings.SplitN(strings.Trim(name, "/"), "/", 2)[0])
		return tea.Batch(show, panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			if err := makeFile(ctx, e, path, folder); err != nil {
				return changedFiles{err: err}
			}
			return changedFiles{undo: undoOfNew(path)}
		}, func(err error) tea.Msg { return changedFiles{err: err} }))
	})
	f.env.Ask(p)
	return nil
}

// undoOfNew is how a file that was made is taken back.
func undoOfNew(path string) undo {
	return undo{"new " + widget.FileName(filepath.Base(path)), []api.FilesTransferInput{{Kind: api.TransferTrash, Items: itemsOf([]string{path})}}}
}

// willShow puts the cursor on a name when it is there, and shows hidden files if
// it is one.
func (f *Pane) willShow(name string) tea.Cmd {
	f.list.Select(name)
	if strings.HasPrefix(name, ".") && !f.order.Hidden {
		f.order.Hidden = true
		return f.rearrange()
	}
	return nil
}

func makeFile(ctx context.Context, e panes.Engine, path string, folder bool) error {
	if folder {
		return e.MakeFolder(ctx, path)
	}
	return e.WriteFile(ctx, path, []byte{}, true)
}

// changedFiles is the outcome of a change that is done, and how to undo it.
type changedFiles struct {
	err  error
	undo undo
}

func (f *Pane) takeChangedFiles(msg changedFiles) tea.Cmd {
	f.changed()
	if msg.err != nil {
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	f.remember(msg.undo)
	return nil
}

// askErase asks before files are deleted for good.
func (f *Pane) askErase() tea.Cmd {
	targets := f.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	f.env.Ask(&overlay.Question{
		Title: "Delete " + theseFiles(targets) + " for good?",
		Lines: append(baseNames(targets), "This cannot be undone."),
		Yes:   "delete",
		No:    "keep",
		Then:  wantTransfer(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsOf(targets)}),
	})
	return nil
}

// theseFiles names files: one by its name, several by their number.
func theseFiles(paths []string) string {
	if len(paths) == 1 {
		return widget.Clip(widget.FileName(filepath.Base(paths[0])), 40)
	}
	return countOf(len(paths))
}

// countOf is a number of files.
func countOf(n int) string {
	if n == 1 {
		return "one file"
	}
	return widget.Itoa(n) + " files"
}

// allRows is more than any list has.
const allRows = 1 << 30

// Actions are what the keys of the list and of the preview do.
func (f *Pane) Actions() panes.Actions { return f.actions }

func (f *Pane) by(rows int) func() tea.Cmd {
	return func() tea.Cmd {
		f.list.Move(rows)
		return nil
	}
}

func (f *Pane) towards(preview bool) func() tea.Cmd {
	return func() tea.Cmd { return f.focusPreview(preview) }
}

func (f *Pane) otherPart() tea.Cmd { return f.focusPreview(!f.onPreview) }
