package processes

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// metricsEvery is the interval between measurements while the view is shown.
const metricsEvery = time.Second

// A Pane is the view of processes: a table above the log of the process under its cursor.
type Pane struct {
	panes.NoInput
	env     panes.Env
	actions panes.Actions
	shown   bool
	w, h    int

	local       Table  // processes known from events
	table       *Table // the table on the screen: the local one, or the fleet's
	fleet       *Fleet
	log         *Log // of the process under the cursor; nil without one
	merged      *Log // shown in place of log; nil for none
	cancelFetch context.CancelFunc
	logFocused  bool  // the log has the keyboard
	zoomed      bool  // the focused part fills the view
	tableHeight int   // of the table, as set by the user; 0 for automatic
	charts      *bool // whether charts are shown; nil: if the view is tall enough
	dragged     bool  // the mouse drags the border

	metrics map[string]*api.Metrics
	polling bool

	search logSearch
}

func New(env panes.Env) *Pane {
	p := &Pane{env: env, fleet: newFleet(env)}
	p.table = &p.local
	p.actions = p.makeActions()
	return p
}

// HandleNews updates the table.
func (p *Pane) HandleNews(*panes.News) { p.refresh() }

func (p *Pane) Show() {
	p.shown = true
	p.refresh()
}

// Hide cancels the fleet's queries.
func (p *Pane) Hide() {
	p.shown, p.dragged = false, false
	p.fleet.stop()
	p.fleet.pending = nil
}

func (p *Pane) Resize(w, h int) {
	p.w, p.h = w, h
	p.refresh()
}

func (p *Pane) visible() bool { return p.shown && p.h > 0 }

// Fetch loads metrics and the log, or nothing while the view is hidden.
func (p *Pane) Fetch() tea.Cmd {
	if !p.visible() {
		return nil
	}
	if p.fleet.shown {
		return tea.Batch(p.fleet.fetchRows(p.computeLayout().table.H-1), p.fetchLog())
	}
	return tea.Batch(p.fetchMetrics(), p.fetchLog())
}

func (p *Pane) fetchMetrics() tea.Cmd {
	if p.polling || !p.env.News().Connected {
		return nil
	}
	p.polling = true
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.ProcessListOutput, error) {
		return api.ProcessList.Call(ctx, e, api.ProcessListInput{Metrics: true})
	}, p.storeMetrics)
}

// storeMetrics stores the metrics by process, and schedules the next measurement.
func (p *Pane) storeMetrics(out api.ProcessListOutput, err error) tea.Cmd {
	if err == nil {
		p.metrics = make(map[string]*api.Metrics, len(out.Processes))
		for i := range out.Processes {
			if one := &out.Processes[i]; one.Metrics != nil {
				p.metrics[one.ID] = one.Metrics
			}
		}
	}
	p.refresh()
	return panes.After(metricsEvery, func() tea.Cmd {
		p.polling = false
		return nil
	})
}

// refresh rebuilds the rows from the processes known from events and their last metrics.
func (p *Pane) refresh() {
	if !p.visible() {
		return
	}
	rows := slices.Clone(p.env.News().Processes)
	for i := range rows {
		if !rows[i].State.Ended() && !p.env.News().CanReach(rows[i].ID) {
			rows[i].State = states.StateAway
		}
		if metrics := p.metrics[rows[i].ID]; metrics != nil && !rows[i].State.Ended() {
			rows[i].Metrics = metrics
		}
	}
	p.local.SetRows(rows)
	if p.merged != nil {
		p.merged.UpdateProcesses(rows)
	}
	if p.env.News().Fleet == nil {
		p.fleet.hideTable()
	}
	if p.table = &p.local; p.fleet.shown {
		p.table = &p.fleet.table
	}
	p.table.Home = p.env.Home()
	p.table.ClearKey = p.env.Bindings().KeyOf(keymap.Clear, keymap.ScopeProcesses, keymap.ScopeList)
}

// Select puts the cursor on a process. If the filter hides it, the filter is cleared.
func (p *Pane) Select(id string) {
	p.logFocused = false
	p.fleet.hideTable()
	p.refresh()
	p.table.Reveal(id)
}

// SelectLog does the same and gives the process's log the keyboard.
func (p *Pane) SelectLog(id string) tea.Cmd {
	p.closeMerged()
	p.Select(id)
	// Fetch first: focusing needs the log of the newly selected process.
	log := p.fetchLog()
	return tea.Batch(log, p.focusLog(true))
}

func (p *Pane) Selected() (api.Process, bool) { return p.table.Selected() }

func (p *Pane) Scopes() []keymap.Scope {
	if p.logFocused {
		return []keymap.Scope{keymap.ScopeLog}
	}
	return []keymap.Scope{keymap.ScopeProcesses, keymap.ScopeList}
}

// Note returns the state of a search, or the number of marks.
func (p *Pane) Note() (string, look.Ink) {
	note := ""
	switch {
	case p.search.cancel != nil:
		note = "searching…" + p.env.Bindings().WithKey(" ", keymap.LogLeave, " ends it", keymap.ScopeLog)
	case p.search.pending != nil:
		note = "waiting for output to search"
	case p.table.MarkCount() > 0:
		note = text.Itoa(p.table.MarkCount()) + " marked"
	}
	return note, p.env.Look().BarWarn
}

func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) makeActions() panes.Actions {
	on := func(change func(*Table)) func() tea.Cmd { return actionOf(func() { change(p.table) }) }
	sortBy := func(c Column) func() tea.Cmd { return on(func(t *Table) { t.SortBy(c) }) }
	move := func(rows int) func() tea.Cmd { return on(func(t *Table) { t.Move(rows) }) }
	return panes.Actions{
		keymap.FocusUp:       func() tea.Cmd { return p.focusSide(false) },
		keymap.FocusDown:     func() tea.Cmd { return p.focusSide(true) },
		keymap.FocusNext:     func() tea.Cmd { return p.focusLog(!p.logFocused) },
		keymap.FocusPrevious: func() tea.Cmd { return p.focusLog(!p.logFocused) },
		keymap.PaneZoom:      actionOf(func() { p.zoomed = !p.zoomed }),
		keymap.ResizeUp:      actionOf(func() { p.resizeTable(-2) }),
		keymap.ResizeDown:    actionOf(func() { p.resizeTable(2) }),

		keymap.MoveDown:     move(1),
		keymap.MoveUp:       move(-1),
		keymap.MovePageDown: on(func(t *Table) { t.Move(p.pageRows()) }),
		keymap.MovePageUp:   on(func(t *Table) { t.Move(-p.pageRows()) }),
		keymap.MoveFirst:    move(-panes.AllRows),
		keymap.MoveLast:     move(panes.AllRows),
		keymap.Open:         p.openSelected,
		keymap.Filter:       p.askFilter,
		keymap.Clear:        actionOf(p.clearMarksOrFilter),
		keymap.Mark:         on((*Table).ToggleMark),

		keymap.ProcessFold:      actionOf(func() { foldRow(p) }),
		keymap.ProcessStart:     p.startTargets,
		keymap.ProcessRestart:   p.restartTargets,
		keymap.ProcessStop:      p.askStop,
		keymap.ProcessKill:      p.askKill,
		keymap.ProcessSignal:    p.askSignal,
		keymap.ProcessKeepAlive: p.toggleKeepAlive,
		keymap.ProcessDelete:    p.askDelete,
		keymap.ProcessDeleteAll: p.askDeleteExited,
		keymap.ProcessSort:      on((*Table).SortNext),
		keymap.ProcessReverse:   on((*Table).Reverse),

		keymap.ProcessSortState: sortBy(ColumnState), keymap.ProcessSortName: sortBy(ColumnName), keymap.ProcessSortPID: sortBy(ColumnPID),
		keymap.ProcessSortCPU: sortBy(ColumnCPU), keymap.ProcessSortMemory: sortBy(ColumnMemory), keymap.ProcessSortUp: sortBy(ColumnUp),
		keymap.ProcessSortRestarts: sortBy(ColumnRestarts),

		keymap.ProcessFleet:  func() tea.Cmd { return toggleFleet(p) },
		keymap.ProcessGroup:  func() tea.Cmd { return groupFleet(p) },
		keymap.ProcessCharts: actionOf(p.toggleCharts),

		keymap.ProcessLogs:   p.toggleMerged,
		keymap.ProcessSearch: p.askSearch,
		keymap.LogFollow:     p.onShownLog((*Log).ToggleFollow),
		keymap.LogWrap:       p.onShownLog((*Log).ToggleWrap),
		keymap.LogTimes:      p.onShownLog((*Log).ToggleTimes),
		keymap.LogPretty:     p.onShownLog((*Log).TogglePretty),
		keymap.LogLeft:       p.onShownLog(func(l *Log) { l.ScrollSideways(-1) }),
		keymap.LogRight:      p.onShownLog(func(l *Log) { l.ScrollSideways(1) }),
		keymap.LogSearch:     p.askSearch,
		keymap.LogNext:       func() tea.Cmd { return p.nextMatch(false) },
		keymap.LogPrevious:   func() tea.Cmd { return p.nextMatch(true) },
		keymap.LogStream:     p.switchStream,
		keymap.LogSave:       p.askSave,
		keymap.LogLeave:      p.leaveLog,

		keymap.ScrollDown:     p.onShownLog(func(l *Log) { l.Scroll(1) }),
		keymap.ScrollUp:       p.onShownLog(func(l *Log) { l.Scroll(-1) }),
		keymap.ScrollPageDown: p.onShownLog(func(l *Log) { l.ScrollHalfPages(2) }),
		keymap.ScrollPageUp:   p.onShownLog(func(l *Log) { l.ScrollHalfPages(-2) }),
		keymap.ScrollHalfDown: p.onShownLog(func(l *Log) { l.ScrollHalfPages(1) }),
		keymap.ScrollHalfUp:   p.onShownLog(func(l *Log) { l.ScrollHalfPages(-1) }),
		keymap.ScrollFirst:    p.onShownLog((*Log).ScrollToStart),
		keymap.ScrollLast:     p.onShownLog((*Log).ScrollToEnd),
	}
}

// actionOf makes an action without a command of a function.
func actionOf(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return nil
	}
}

// onShownLog returns an action on the log, doing nothing without one.
func (p *Pane) onShownLog(change func(*Log)) func() tea.Cmd {
	return actionOf(func() {
		if log := p.anyLog(); log != nil {
			change(log)
		}
	})
}

func (p *Pane) focusSide(log bool) tea.Cmd {
	if p.zoomed {
		return nil
	}
	return p.focusLog(log)
}

func (p *Pane) focusLog(on bool) tea.Cmd {
	if !on || p.anyLog() != nil {
		p.logFocused = on
	}
	return nil
}

// openSelected shows the terminal of the process under the cursor or, if it has none, gives its log
// the keyboard.
func (p *Pane) openSelected() tea.Cmd {
	selected, ok := p.table.Selected()
	switch {
	case p.table.HeaderProject() != nil:
		foldRow(p)
		return nil
	case !ok:
		if _, all := p.table.Len(); all == 0 {
			return p.env.StartProcess()
		}
		return nil
	case selected.Kind == api.KindSession && p.fleet.shown:
		return openRemote(p, selected)
	case selected.Kind == api.KindSession:
		return p.env.ShowSession(selected.ID)
	}
	p.closeMerged()
	return p.focusLog(true)
}

func (p *Pane) askFilter() tea.Cmd {
	var names []string
	for _, one := range p.env.News().Processes {
		names = append(names, text.Clean(one.Name))
	}
	p.env.Ask(dialog.NewFilter("Show processes with", filterNote(p), p.table.Filter(),
		func(text string) tea.Cmd {
			p.table.SetFilter(text)
			return nil
		}).SuggestWords(names))
	return nil
}

// filterNote describes the syntax of the filter.
func filterNote(p *Pane) string {
	if p.fleet.shown {
		return "words of any column; !word: without it; host:NAME, label:KEY=VALUE, state:failed, kind:session"
	}
	return "words of any column; !word: without it; host:NAME"
}

// clearMarksOrFilter removes the marks or, if there are none, the filter.
func (p *Pane) clearMarksOrFilter() {
	if !p.table.ClearMarks() {
		p.table.SetFilter("")
	}
}
