package processes

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// metricsEvery is how often processes are measured while they are shown.
const metricsEvery = time.Second

// A Pane is the view of processes: a table above the log of the process under
// its cursor.
type Pane struct {
	panes.NoInput
	env     panes.Env
	actions panes.Actions
	shown   bool
	w, h    int

	own     Table  // of what is known from events
	table   *Table // that is shown: the own one, or the fleet's
	fleet   *Fleet
	log     *Log // of the process under the cursor; nil without one
	merged  *Log // in its place; nil for none
	stop    context.CancelFunc
	onLog   bool  // the log has the keyboard
	zoomed  bool  // what has the keyboard fills the view
	height  int   // of the table, where the person has set it
	charts  *bool // whether charts are shown; nil where there is room
	dragged bool  // the mouse holds the border

	metrics map[string]*api.Metrics
	polling bool

	search logSearch
}

// New makes the view.
func New(env panes.Env) *Pane {
	p := &Pane{env: env, fleet: newFleet(env)}
	p.table = &p.own
	p.actions = p.makeActions()
	return p
}

// News brings the table up to date.
func (p *Pane) HandleNews(*panes.News) { p.refresh() }

// Show brings the table up to date.
func (p *Pane) Show() {
	p.shown = true
	p.refresh()
}

// Hide has nothing more asked for.
func (p *Pane) Hide() {
	p.shown, p.dragged = false, false
	p.fleet.stop()
	p.fleet.asked = nil
}

// Resize gives the view its size.
func (p *Pane) Resize(w, h int) {
	p.w, p.h = w, h
	p.refresh()
}

func (p *Pane) visible() bool { return p.shown && p.h > 0 }

// Fetch asks for metrics and for the log; for nothing while the view is not
// shown.
func (p *Pane) Fetch() tea.Cmd {
	if !p.visible() {
		return nil
	}
	if p.fleet.on {
		return tea.Batch(p.fleet.fetch(p.parts().table.H-1), p.fetchLog())
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
	}, p.measured)
}

// measured takes what was measured; it is measured again after a while.
func (p *Pane) measured(out api.ProcessListOutput, err error) tea.Cmd {
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

// refresh makes the table's rows: all that is known from events, with what was
// measured last.
func (p *Pane) refresh() {
	if !p.visible() {
		return
	}
	rows := slices.Clone(p.env.News().Processes)
	for i := range rows {
		if !rows[i].State.Ended() && !p.env.News().CanReach(rows[i].ID) {
			rows[i].State = widget.StateAway
		}
		if metrics := p.metrics[rows[i].ID]; metrics != nil && !rows[i].State.Ended() {
			rows[i].Metrics = metrics
		}
	}
	p.own.SetRows(rows)
	if p.merged != nil {
		p.merged.News(rows)
	}
	if p.env.News().Fleet == nil {
		p.fleet.leave()
	}
	if p.table = &p.own; p.fleet.on {
		p.table = &p.fleet.table
	}
	p.table.Home = p.env.Home()
	p.table.ClearKey = panes.KeyOf(p.env.Bindings(), keymap.Clear, keymap.ScopeProcesses, keymap.ScopeList)
}

// Select puts the cursor on a process, whatever is filtered.
func (p *Pane) Select(id string) {
	p.onLog = false
	p.fleet.leave()
	p.refresh()
	p.table.Reveal(id)
}

// SelectLog puts the cursor on a process and gives its log the keyboard.
func (p *Pane) SelectLog(id string) tea.Cmd {
	p.closeMerged()
	p.Select(id)
	log := p.fetchLog() // it is another one from now on
	return tea.Batch(log, p.focusLog(true))
}

// Selected is the process under the cursor.
func (p *Pane) Selected() (api.Process, bool) { return p.table.Selected() }

// Scopes are those of the log or of the table.
func (p *Pane) Scopes() []keymap.Scope {
	if p.onLog {
		return []keymap.Scope{keymap.ScopeLog}
	}
	return []keymap.Scope{keymap.ScopeProcesses, keymap.ScopeList}
}

// Note says what is under way or marked.
func (p *Pane) Note() (string, widget.Ink) {
	note := ""
	switch {
	case p.search.stop != nil:
		note = "searching…" + panes.WithKey(p.env.Bindings(), " ", keymap.LogLeave, " ends it", keymap.ScopeLog)
	case p.search.pending != nil:
		note = "waiting for output to search"
	case p.table.Marked() > 0:
		note = widget.Itoa(p.table.Marked()) + " marked"
	}
	return note, p.env.Look().BarWarn
}

// Actions are what the keys of the table and the log do.
func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) makeActions() panes.Actions {
	on := func(change func(*Table)) func() tea.Cmd { return do(func() { change(p.table) }) }
	sortBy := func(c Column) func() tea.Cmd { return on(func(t *Table) { t.SortBy(c) }) }
	move := func(rows int) func() tea.Cmd { return on(func(t *Table) { t.Move(rows) }) }
	return panes.Actions{
		keymap.FocusUp:       func() tea.Cmd { return p.focusTowards(false) },
		keymap.FocusDown:     func() tea.Cmd { return p.focusTowards(true) },
		keymap.FocusNext:     func() tea.Cmd { return p.focusLog(!p.onLog) },
		keymap.FocusPrevious: func() tea.Cmd { return p.focusLog(!p.onLog) },
		keymap.PaneZoom:      do(func() { p.zoomed = !p.zoomed }),
		keymap.ResizeUp:      do(func() { p.resizeTable(-2) }),
		keymap.ResizeDown:    do(func() { p.resizeTable(2) }),

		keymap.MoveDown:     move(1),
		keymap.MoveUp:       move(-1),
		keymap.MovePageDown: on(func(t *Table) { t.Move(p.page()) }),
		keymap.MovePageUp:   on(func(t *Table) { t.Move(-p.page()) }),
		keymap.MoveFirst:    move(-panes.AllRows),
		keymap.MoveLast:     move(panes.AllRows),
		keymap.Open:         p.open,
		keymap.Filter:       p.askFilter,
		keymap.Clear:        do(p.clear),
		keymap.Mark:         on((*Table).Mark),

		keymap.ProcessFold:      do(func() { foldRow(p) }),
		keymap.ProcessStart:     p.start,
		keymap.ProcessRestart:   p.restart,
		keymap.ProcessStop:      p.askStop,
		keymap.ProcessKill:      p.askKill,
		keymap.ProcessSignal:    p.askSignal,
		keymap.ProcessKeepAlive: p.toggleKeepAlive,
		keymap.ProcessForget:    p.askForget,
		keymap.ProcessForgetAll: p.askForgetAll,
		keymap.ProcessSort:      on((*Table).SortNext),
		keymap.ProcessReverse:   on((*Table).Reverse),

		keymap.ProcessSortState: sortBy(ColumnState), keymap.ProcessSortName: sortBy(ColumnName), keymap.ProcessSortPID: sortBy(ColumnPID),
		keymap.ProcessSortCPU: sortBy(ColumnCPU), keymap.ProcessSortMemory: sortBy(ColumnMemory), keymap.ProcessSortUp: sortBy(ColumnUp),
		keymap.ProcessSortRestarts: sortBy(ColumnRestarts),

		keymap.ProcessFleet:  func() tea.Cmd { return toggleFleet(p) },
		keymap.ProcessGroup:  func() tea.Cmd { return groupFleet(p) },
		keymap.ProcessCharts: do(p.toggleCharts),

		keymap.ProcessLogs:   p.toggleMerged,
		keymap.ProcessSearch: p.askSearch,
		keymap.LogFollow:     p.onShownLog((*Log).Follow),
		keymap.LogWrap:       p.onShownLog((*Log).Wrap),
		keymap.LogTimes:      p.onShownLog((*Log).Clock),
		keymap.LogPretty:     p.onShownLog((*Log).Pretty),
		keymap.LogLeft:       p.onShownLog(func(l *Log) { l.Sideways(-1) }),
		keymap.LogRight:      p.onShownLog(func(l *Log) { l.Sideways(1) }),
		keymap.LogSearch:     p.askSearch,
		keymap.LogNext:       func() tea.Cmd { return p.nextMatch(false) },
		keymap.LogPrevious:   func() tea.Cmd { return p.nextMatch(true) },
		keymap.LogStream:     p.switchStream,
		keymap.LogSave:       p.askSave,
		keymap.LogLeave:      p.leaveLog,

		keymap.ScrollDown:     p.onShownLog(func(l *Log) { l.Scroll(1) }),
		keymap.ScrollUp:       p.onShownLog(func(l *Log) { l.Scroll(-1) }),
		keymap.ScrollPageDown: p.onShownLog(func(l *Log) { l.Pages(2) }),
		keymap.ScrollPageUp:   p.onShownLog(func(l *Log) { l.Pages(-2) }),
		keymap.ScrollHalfDown: p.onShownLog(func(l *Log) { l.Pages(1) }),
		keymap.ScrollHalfUp:   p.onShownLog(func(l *Log) { l.Pages(-1) }),
		keymap.ScrollFirst:    p.onShownLog((*Log).Home),
		keymap.ScrollLast:     p.onShownLog((*Log).End),
	}
}

// do is an action that asks for nothing.
func do(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return nil
	}
}

// onShownLog is an action on the log, where there is one.
func (p *Pane) onShownLog(change func(*Log)) func() tea.Cmd {
	return do(func() {
		if log := p.anyLog(); log != nil {
			change(log)
		}
	})
}

func (p *Pane) focusTowards(log bool) tea.Cmd {
	if p.zoomed {
		return nil
	}
	return p.focusLog(log)
}

func (p *Pane) focusLog(on bool) tea.Cmd {
	if !on || p.anyLog() != nil {
		p.onLog = on
	}
	return nil
}

// open shows the terminal of the process under the cursor or, if it has none,
// gives its log the keyboard.
func (p *Pane) open() tea.Cmd {
	selected, ok := p.table.Selected()
	switch {
	case p.table.Project() != nil:
		foldRow(p)
		return nil
	case !ok:
		if _, all := p.table.Len(); all == 0 {
			return p.env.StartProcess()
		}
		return nil
	case selected.Kind == api.KindSession && p.fleet.on:
		return openFar(p, selected)
	case selected.Kind == api.KindSession:
		return p.env.ShowSession(selected.ID)
	}
	p.closeMerged()
	return p.focusLog(true)
}

func (p *Pane) askFilter() tea.Cmd {
	var names []string
	for _, one := range p.env.News().Processes {
		names = append(names, widget.Clean(one.Name))
	}
	p.env.Ask(overlay.NewFilter("Show processes with", filterNote(p), p.table.Filter(),
		func(text string) tea.Cmd {
			p.table.SetFilter(text)
			return nil
		}).SuggestWords(names))
	return nil
}

// filterNote says what can be typed to filter.
func filterNote(p *Pane) string {
	if p.fleet.on {
		return "words of any column; !word: without it; host:NAME, label:KEY=VALUE, state:failed, kind:session"
	}
	return "words of any column; !word: without it; host:NAME"
}

// clear takes back the marks or, if there are none, the filter.
func (p *Pane) clear() {
	if !p.table.Unmark() {
		p.table.SetFilter("")
	}
}
