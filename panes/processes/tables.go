package processes

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// tables are the tables the view can show: the local processes and those of the fleet.
type tables struct {
	env   panes.Env
	local *local
	fleet *fleet
}

// shown returns the table on the screen.
func (t *tables) shown() *table {
	if t.fleet.shown {
		return &t.fleet.table
	}
	return &t.local.table
}

func (t *tables) selected() (api.Process, bool) { return t.shown().Selected() }

func (t *tables) actions() panes.Actions {
	on := t.onShown
	sortBy := func(c column) func() tea.Cmd { return on(func(t *table) { t.SortBy(c) }) }
	by := func(rows int) func() tea.Cmd { return on(func(t *table) { t.Move(rows) }) }
	return panes.Actions{
		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.Filter: t.askFilter,
		keymap.Clear:  panes.ActionOf(t.clearMarksOrFilter),
		keymap.Mark:   on((*table).ToggleMark),

		keymap.ProcessFold:    on((*table).ToggleFold),
		keymap.ProcessGroup:   t.fleet.askGroup,
		keymap.ProcessSort:    on((*table).SortNext),
		keymap.ProcessReverse: on((*table).Reverse),

		keymap.ProcessSortState: sortBy(columnState), keymap.ProcessSortName: sortBy(columnName), keymap.ProcessSortPID: sortBy(columnPID),
		keymap.ProcessSortCPU: sortBy(columnCPU), keymap.ProcessSortMemory: sortBy(columnMemory), keymap.ProcessSortUp: sortBy(columnUp),
		keymap.ProcessSortRestarts: sortBy(columnRestarts),
	}
}

func (t *tables) onShown(change func(*table)) func() tea.Cmd {
	return panes.ActionOf(func() { change(t.shown()) })
}

// refresh updates the rows, and shows the local ones if the fleet is gone.
func (t *tables) refresh() {
	t.local.refresh()
	if t.env.News().Fleet == nil {
		t.fleet.show(false)
	}
}

// fetch loads what is missing in h rows.
func (t *tables) fetch(h int) tea.Cmd {
	if t.fleet.shown {
		return t.fleet.fetchRows(h)
	}
	return t.local.fetchMetrics()
}

func (t *tables) askFilter() tea.Cmd {
	var names []string
	for _, one := range t.env.News().Processes {
		names = append(names, text.Clean(one.Name))
	}
	syntax := "words of any column; !word: without it; host:NAME"
	if t.fleet.shown {
		syntax += ", label:KEY=VALUE, state:failed, kind:session"
	}
	t.env.Ask(dialog.NewFilter("Show processes with", syntax, t.shown().rows.filter, func(text string) tea.Cmd {
		t.shown().SetFilter(text)
		return nil
	}).SuggestWords(names))
	return nil
}

// clearMarksOrFilter removes the marks or, if there are none, the filter.
func (t *tables) clearMarksOrFilter() {
	if table := t.shown(); !table.ClearMarks() {
		table.SetFilter("")
	}
}

// tabRows returns the height of the tabs above the tables; 0 without a fleet.
func (t *tables) tabRows() int { return panes.FleetTabRows(t.env.News()) }
