package ui

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/preview"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// fileActions are those of the files view and its preview.
func fileActions() actionTable {
	return actionTable{
		keymap.FilesUp:       (*model).filesUp,
		keymap.FilesInto:     (*model).openFileHere,
		keymap.FilesEdit:     (*model).editFile,
		keymap.FilesTerminal: func(m *model) tea.Cmd { return m.startHere(nil) },
		keymap.FilesRun:      (*model).askRun,
		keymap.FilesPath:     (*model).copyPath,
		keymap.FilesHidden:   onOrder(func(o *files.Order) { o.Hidden = !o.Hidden }),
		keymap.FilesSort:     onOrder(func(o *files.Order) { o.By, o.Reversed = o.By.Next(), false }),
		keymap.FilesReverse:  onOrder(func(o *files.Order) { o.Reversed = !o.Reversed }),
		keymap.FilesReload:   (*model).reloadFiles,
		keymap.FilesHome:     func(m *model) tea.Cmd { m.goFolder(m.list.Home, ""); return nil },
		keymap.FilesBack:     (*model).folderBefore,
		keymap.FilesMarkAll:  (*model).markAllFiles,
		keymap.FilesNew:      (*model).askNewFile,
		keymap.FilesRename:   (*model).askRenameFile,
		keymap.FilesCopy:     func(m *model) tea.Cmd { return m.askTransfer(api.TransferCopy) },
		keymap.FilesMove:     func(m *model) tea.Cmd { return m.askTransfer(api.TransferMove) },
		keymap.FilesDelete:   (*model).trashFiles,
		keymap.FilesErase:    (*model).askErase,
		keymap.FilesUndo:     (*model).undoFiles,
		keymap.FilesGoTo:     (*model).askFolder,
		keymap.FilesMarks:    (*model).showBookmarks,
		keymap.FilesKeep:     (*model).keepBookmark,
		keymap.FilesFind:     func(m *model) tea.Cmd { return m.showFileFinder(false) },
		keymap.FilesSearch:   func(m *model) tea.Cmd { return m.showFileFinder(true) },

		keymap.PreviewDown:     onPreview(func(p *preview.Preview) { p.Scroll(1) }),
		keymap.PreviewUp:       onPreview(func(p *preview.Preview) { p.Scroll(-1) }),
		keymap.PreviewPageDown: onPreview(func(p *preview.Preview) { p.Pages(2) }),
		keymap.PreviewPageUp:   onPreview(func(p *preview.Preview) { p.Pages(-2) }),
		keymap.PreviewHalfDown: onPreview(func(p *preview.Preview) { p.Pages(1) }),
		keymap.PreviewHalfUp:   onPreview(func(p *preview.Preview) { p.Pages(-1) }),
		keymap.PreviewFirst:    onPreview((*preview.Preview).Home),
		keymap.PreviewLast:     onPreview((*preview.Preview).End),
		keymap.PreviewLeft:     onPreview(func(p *preview.Preview) { p.Sideways(-1) }),
		keymap.PreviewRight:    onPreview(func(p *preview.Preview) { p.Sideways(1) }),
		keymap.PreviewWrap:     onPreview((*preview.Preview).Wrap),
		keymap.PreviewSearch:   (*model).askPreviewSearch,
		keymap.PreviewNext:     func(m *model) tea.Cmd { return m.nextHit(false) },
		keymap.PreviewPrevious: func(m *model) tea.Cmd { return m.nextHit(true) },
		keymap.PreviewLeave:    func(m *model) tea.Cmd { return m.focusPreview(false) },
	}
}

// onOrder changes what is shown of the folder and in which order.
func onOrder(change func(*files.Order)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		change(&m.files.order)
		m.files.aboveOf = ""
		return m.rearrange()
	}
}

func (m *model) filesUp() tea.Cmd {
	f := &m.files
	if up := filepath.Dir(f.path); up != f.path {
		m.goFolder(up, filepath.Base(f.path))
	}
	return nil
}

// openFileHere goes into the folder under the cursor, or shows the file there in
// full.
func (m *model) openFileHere() tea.Cmd {
	f := &m.files
	selected := f.list.Selected()
	switch {
	case selected == nil:
		return nil
	case widget.IsFolder(selected):
		m.goFolder(f.list.SelectedPath(), "")
		return nil
	}
	f.onPreview, f.zoomed = true, true
	m.dirty = true
	return nil
}

// editFile opens the file under the cursor in the person's editor.
func (m *model) editFile() tea.Cmd {
	f := &m.files
	path := f.list.SelectedPath()
	if path == "" {
		return nil
	}
	return m.visit(editor(path, terminal.Target{}))
}

// visit starts a command in a session in the folder that is shown; when it ends,
// the files are shown again.
func (m *model) visit(command []string) tea.Cmd {
	before := m.current
	cmd := m.startHere(command)
	if m.view == viewSessions && m.current != nil && m.current != before {
		m.files.visiting = m.current.focus.pane
	}
	return cmd
}

// backFromVisit shows the files again after the session that they were left for
// was put away.
func (m *model) backFromVisit() tea.Cmd {
	m.files.visiting = nil
	then := m.files.afterVisit
	m.files.afterVisit = nil
	var cmd tea.Cmd
	if m.view == viewSessions {
		cmd = m.setView(viewFiles)
	}
	if then != nil {
		return tea.Batch(cmd, then(m))
	}
	return cmd
}

func (m *model) askRun() tea.Cmd {
	f := &m.files
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
		return m.startHere([]string{"/bin/sh", "-c", line})
	})
	m.overlay = p
	return nil
}

// copyPath copies paths, each on its line; those that hold what cannot be shown
// as words for a shell.
func (m *model) copyPath() tea.Cmd {
	targets := m.files.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	for i, path := range targets {
		if widget.FileName(path) != path { // as it is, it could not be told from others, or not be pasted
			targets[i] = shellWord(path)
		}
	}
	return m.keepCopy(strings.Join(targets, "\n"), false)
}

func (m *model) reloadFiles() tea.Cmd {
	m.files.begin(m.ctx)
	return nil
}

func (m *model) folderBefore() tea.Cmd {
	f := &m.files
	if len(f.back) == 0 {
		return nil
	}
	last := f.back[len(f.back)-1]
	back := f.back[:len(f.back)-1]
	m.goFolder(last, "")
	f.back = back
	return nil
}

// markFile marks the entry under the cursor, or takes its mark away.
func (m *model) markFile() tea.Cmd {
	if m.view != viewFiles {
		return nil
	}
	f := &m.files
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

func (m *model) markAllFiles() tea.Cmd {
	f := &m.files
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
func (m *model) clearFiles() tea.Cmd {
	f := &m.files
	switch {
	case f.job != nil:
		return m.askCancelTransfer()
	case len(f.marked) > 0:
		clear(f.marked)
	default:
		f.order.Filter = ""
		return m.rearrange()
	}
	m.dirty = true
	return nil
}

// askNewFile makes a file, or a folder if the name ends in a slash.
func (m *model) askNewFile() tea.Cmd {
	f := &m.files
	p := overlay.NewPrompt("New file, or folder with / behind it", "", func(name string) tea.Cmd {
		if strings.Trim(name, "/") == "" {
			return nil
		}
		path := filepath.Join(f.path, name)
		folder := strings.HasSuffix(name, "/")
		show := m.willShow(strings.SplitN(strings.Trim(name, "/"), "/", 2)[0])
		return tea.Batch(show, m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			if err := makeFile(ctx, e, path, folder); err != nil {
				return changedFiles{err: err}
			}
			return changedFiles{undo: undoOfNew(path)}
		}, func(err error) tea.Msg { return changedFiles{err: err} }))
	})
	m.overlay = p
	return nil
}

// undoOfNew is how a file that was made is taken back.
func undoOfNew(path string) undo {
	return undo{"new " + widget.FileName(filepath.Base(path)), []api.FilesTransferInput{{Kind: api.TransferTrash, Items: itemsOf([]string{path})}}}
}

// willShow puts the cursor on a name when it is there, and shows hidden files if
// it is one.
func (m *model) willShow(name string) tea.Cmd {
	f := &m.files
	f.list.Select(name)
	if strings.HasPrefix(name, ".") && !f.order.Hidden {
		f.order.Hidden = true
		return m.rearrange()
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

func (m *model) takeChangedFiles(msg changedFiles) tea.Cmd {
	f := &m.files
	f.changed()
	if msg.err != nil {
		return m.say(panes.ErrorText(msg.err), true)
	}
	f.remember(msg.undo)
	return nil
}

// askErase asks before files are deleted for good.
func (m *model) askErase() tea.Cmd {
	targets := m.files.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	m.overlay = &overlay.Question{
		Title: "Delete " + theseFiles(targets) + " for good?",
		Lines: append(baseNames(targets), "This cannot be undone."),
		Yes:   "delete",
		No:    "keep",
		Then:  wantTransfer(api.FilesTransferInput{Kind: api.TransferDelete, Items: itemsOf(targets)}),
	}
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
	return itoa(n) + " files"
}
