package processes

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/processes/logview"
)

// A Pane is the view of processes: a table above the log of the process under its cursor.
type Pane struct {
	panes.NoInput
	env     panes.Env
	actions panes.Actions
	shown   bool
	dragged bool // the mouse drags the border

	arrangement arrangement
	table       *table
	logs        *logs
	commands    commands
}

func New(env panes.Env) *Pane {
	p := &Pane{env: env, table: newTable(env)}
	p.logs = newLogs(env, p.table.Selected, func() { p.focusLog(true) })
	p.commands = commands{env, p.table}
	p.arrangement.contents = p.contents
	p.actions = p.makeActions()
	return p
}

// HandleNews updates the table.
func (p *Pane) HandleNews(*panes.News) { p.refresh() }

func (p *Pane) Show() {
	p.shown = true
	p.refresh()
}

func (p *Pane) Hide() { p.shown, p.dragged = false, false }

func (p *Pane) Resize(w, h int) {
	p.arrangement.w, p.arrangement.h = w, h
	p.refresh()
}

func (p *Pane) visible() bool { return p.shown && p.arrangement.h > 0 }

// Fetch loads the metrics and the log. It loads nothing while the view is hidden.
func (p *Pane) Fetch() tea.Cmd {
	if !p.visible() {
		return nil
	}
	if p.logs.shown() == nil {
		p.arrangement.logFocused = false
	}
	parts := p.arrangement.layout()
	return tea.Batch(p.table.fetchMetrics(), p.logs.fetch(parts.log.W, parts.log.H))
}

func (p *Pane) refresh() {
	if p.visible() {
		p.table.refresh()
		if p.logs.merged {
			p.logs.log.UpdateProcesses(p.env.News().Processes)
		}
	}
}

// Select puts the cursor on a process. If the filter hides the process, the filter is cleared.
func (p *Pane) Select(id string) {
	p.arrangement.logFocused = false
	p.table.refresh()
	p.table.reveal(id)
}

// SelectLog puts the cursor on a process and gives the keyboard to its log.
func (p *Pane) SelectLog(id string) tea.Cmd {
	p.logs.closeMerged()
	p.Select(id)
	return p.focusLog(true)
}

// ShowLine puts the cursor on a process and gives the keyboard to its log, at the line at an offset.
// stream is stdout or stderr if they have separate logs, otherwise "". The matches of pattern are
// marked.
func (p *Pane) ShowLine(id, stream string, offset int64, pattern api.Pattern) tea.Cmd {
	cmd := p.SelectLog(id)
	if log := p.logs.shown(); log != nil && log.ID == id {
		if log.Stream != stream {
			log = logview.New(id, stream, api.KindProcess)
			p.logs.show(log)
		}
		re, _ := pattern.Compile() // it was searched for
		p.logs.search.pattern = pattern
		log.GoTo(offset, pattern.Text, re)
	}
	return cmd
}

func (p *Pane) Selected() (api.Process, bool) { return p.table.Selected() }

func (p *Pane) Scopes() []keymap.Scope {
	if p.arrangement.logFocused {
		return []keymap.Scope{keymap.ScopeLog}
	}
	return []keymap.Scope{keymap.ScopeProcesses, keymap.ScopeList}
}

// Note returns the state of a running search or, if there is none, the number of marked processes.
func (p *Pane) Note() (string, look.Ink) {
	note := p.logs.search.note()
	if n := p.table.MarkCount(); note == "" && n > 0 {
		note = text.Itoa(n) + " marked"
	}
	return note, p.env.Look().BarWarn
}

func (p *Pane) Actions() panes.Actions { return p.actions }

// makeActions returns the actions of the pane and of its parts.
func (p *Pane) makeActions() panes.Actions {
	all := panes.Actions{
		keymap.FocusUp:       func() tea.Cmd { return p.focusSide(false) },
		keymap.FocusDown:     func() tea.Cmd { return p.focusSide(true) },
		keymap.FocusNext:     func() tea.Cmd { return p.focusLog(!p.arrangement.logFocused) },
		keymap.FocusPrevious: func() tea.Cmd { return p.focusLog(!p.arrangement.logFocused) },
		keymap.PaneZoom:      panes.ActionOf(func() { p.arrangement.zoomed = !p.arrangement.zoomed }),
		keymap.ResizeUp:      panes.ActionOf(func() { p.arrangement.resizeTable(-2) }),
		keymap.ResizeDown:    panes.ActionOf(func() { p.arrangement.resizeTable(2) }),
		keymap.MovePageDown:  panes.ActionOf(func() { p.table.Move(p.arrangement.pageRows()) }),
		keymap.MovePageUp:    panes.ActionOf(func() { p.table.Move(-p.arrangement.pageRows()) }),

		keymap.Open:          p.openSelected,
		keymap.ProcessCharts: panes.ActionOf(p.arrangement.toggleCharts),
		keymap.ProcessLogs:   p.toggleMerged,
		keymap.ProcessSearch: p.logs.search.ask,
		keymap.LogLeave:      p.leaveLog,
	}
	maps.Copy(all, p.table.actions())
	maps.Copy(all, p.commands.actions())
	maps.Copy(all, p.logs.actions())
	return all
}

func (p *Pane) focusSide(log bool) tea.Cmd {
	if p.arrangement.zoomed {
		return nil
	}
	return p.focusLog(log)
}

func (p *Pane) focusLog(on bool) tea.Cmd {
	if !on || p.logs.shown() != nil {
		p.arrangement.logFocused = on
	}
	return nil
}

// openSelected shows the terminal of the process under the cursor or, if it has none, gives its log
// the keyboard. A session that has ended and has no pane any more is restored.
func (p *Pane) openSelected() tea.Cmd {
	selected, ok := p.table.Selected()
	switch {
	case p.table.HeaderProject() != nil:
		p.table.ToggleFold()
		return nil
	case !ok && len(p.table.all) == 0:
		return p.env.StartProcess()
	case !ok:
		return nil
	case selected.Kind == api.KindSession && selected.State.Ended() && !selected.Failed() && selected.Interrupted == nil:
		return p.env.RestoreSession(selected.ID)
	case selected.Kind == api.KindSession:
		return p.env.ShowSession(selected.ID)
	}
	p.logs.closeMerged()
	return p.focusLog(true)
}

// toggleMerged shows the merged logs of the marked processes or, if none is marked, of the project
// under the cursor. If merged logs are shown already, it returns to the log of one process.
func (p *Pane) toggleMerged() tea.Cmd {
	if p.logs.merged {
		p.logs.closeMerged()
		return p.focusLog(false)
	}
	targets := p.table.Targets()
	switch {
	case len(targets) == 0:
		return nil
	case p.table.MarkCount() > 0:
		p.logs.showMerged(mergeMarked(targets))
	case targets[0].Project == nil:
		return p.env.Say("mark processes to merge their logs"+p.env.Bindings().WithKey(": ", keymap.Mark, " marks the row", keymap.ScopeProcesses), false)
	default:
		all := p.env.News().Processes
		p.logs.showMerged(logview.NewProject(projectNames(all)[projectFile(&targets[0])], targets[0].Project.File, all))
	}
	return p.focusLog(true)
}

// leaveLog does the first of these that applies: it cancels a search, removes the highlights of
// one, ends the zoom, or returns to the table.
func (p *Pane) leaveLog() tea.Cmd {
	switch {
	case p.logs.search.leave():
	case p.arrangement.zoomed:
		p.arrangement.zoomed = false
	default:
		p.logs.closeMerged()
		return p.focusLog(false)
	}
	return nil
}
