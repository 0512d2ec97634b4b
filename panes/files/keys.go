package files

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/preview"
)

// makeActions returns the actions of the list and the preview.
func (f *Pane) makeActions() panes.Actions {
	list, order := &f.folder.list, f.folder.changeOrder
	sortBy := func(c entries.Column) func() tea.Cmd { return order(func(o *entries.Order) { o.SortBy(c) }) }
	towards := func(on bool) func() tea.Cmd { return panes.ActionOf(func() { f.focusPreview(on) }) }
	other := panes.ActionOf(func() { f.focusPreview(!f.onPreview) })
	onRow := func(act func() tea.Cmd) func() tea.Cmd { return f.folder.whenListed(false, act) }
	move := func(rows func() int) func() tea.Cmd { return onRow(panes.ActionOf(func() { list.Move(rows()) })) }
	on := func(act func([]string) tea.Cmd) func() tea.Cmd { return onRow(f.act.onTargets(act)) }
	by := func(rows int) func() tea.Cmd { return onRow(panes.ActionOf(func() { list.Move(rows) })) }
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other, keymap.PaneZoom: panes.ActionOf(func() { f.zoomed = !f.zoomed }),

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows),
		keymap.MoveLast:     f.folder.whenListed(true, panes.ActionOf(func() { list.Move(panes.AllRows) })),
		keymap.MovePageDown: move(func() int { return list.Page() }),
		keymap.MovePageUp:   move(func() int { return -list.Page() }),
		keymap.Open:         onRow(panes.ActionOf(f.openSelected)),
		keymap.Filter:       f.folder.askFilter,
		keymap.Clear:        f.cancelOrClear,
		keymap.Mark:         onRow(panes.ActionOf(f.folder.markEntry)),

		keymap.FilesUp:       panes.ActionOf(f.folder.goUp),
		keymap.FilesInto:     onRow(panes.ActionOf(f.openSelected)),
		keymap.FilesEdit:     onRow(f.programs.editFile),
		keymap.FilesTrash:    f.trash.show,
		keymap.FilesExtract:  on(f.act.askExtract),
		keymap.FilesPack:     on(f.act.askPack),
		keymap.FilesOpenWith: on(f.programs.askOpenWith),
		keymap.FilesTab:      f.tabs.openTab,
		keymap.FilesTabClose: f.tabs.closeCurrent,
		keymap.FilesTabNext:  f.tabs.switchTab(1),
		keymap.FilesTabBack:  f.tabs.switchTab(-1),
		keymap.FilesTerminal: func() tea.Cmd { return f.programs.startSession(nil) },
		keymap.FilesRun:      onRow(f.programs.askRun),
		keymap.FilesPath:     on(f.act.copyPath),
		keymap.FilesHidden:   order(func(o *entries.Order) { o.Hidden = !o.Hidden }),
		keymap.FilesSort:     order(func(o *entries.Order) { o.By, o.Reversed = o.By.Next(), false }),
		keymap.FilesReverse:  order(func(o *entries.Order) { o.Reversed = !o.Reversed }),
		keymap.FilesReload:   panes.ActionOf(f.folder.startVisit),
		keymap.FilesHome:     panes.ActionOf(func() { f.folder.goTo(f.env.Home(), "") }),
		keymap.FilesBack:     panes.ActionOf(f.folder.goBack),
		keymap.FilesMarkAll:  f.folder.whenListed(true, panes.ActionOf(f.folder.markAll)),
		keymap.FilesNew:      f.act.askNew,
		keymap.FilesRename:   on(f.act.askRename),
		keymap.FilesCopy:     on(f.act.askTransfer(api.TransferCopy)),
		keymap.FilesMove:     on(f.act.askTransfer(api.TransferMove)),
		keymap.FilesDelete:   on(f.act.trashFiles),
		keymap.FilesErase:    on(f.act.askErase),
		keymap.FilesUndo:     f.transfers.UndoLast,
		keymap.FilesGoTo:     f.folder.askFolder,
		keymap.FilesMarks:    f.bookmarks.show,
		keymap.FilesKeep:     f.bookmarks.toggleCurrent,
		keymap.FilesFind:     panes.ActionOf(func() { f.startFind(false) }),
		keymap.FilesSearch:   panes.ActionOf(func() { f.startFind(true) }),

		keymap.FilesSortName: sortBy(entries.ByName), keymap.FilesSortSize: sortBy(entries.BySize),
		keymap.FilesSortTime: sortBy(entries.ByTime), keymap.FilesSortExtension: sortBy(entries.ByExtension),

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
	// Every action needs a folder, so all actions wait until the first folder is known.
	for a, act := range all {
		all[a] = f.whenShown(act)
	}
	return all
}

// whenShown delays an action until the first folder is known. If the view is hidden before, the
// action is dropped.
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

func (f *Pane) Actions() panes.Actions { return f.keys }
