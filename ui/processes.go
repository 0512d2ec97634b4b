package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/processes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// metricsEvery is how often processes are measured while their view is shown.
const metricsEvery = time.Second

// processes is the state of the processes view: a table above the log of the
// process under its cursor.
type processesView struct {
	table   processes.Table
	log     *processes.Log // of the process under the cursor; nil without one
	stop    context.CancelFunc
	onLog   bool  // the log has the keyboard
	zoomed  bool  // what has the keyboard fills the view
	height  int   // of the table, where the person has set it
	charts  *bool // whether charts are shown; nil where there is room
	dragged bool  // the mouse holds the border

	metrics map[string]*api.Metrics
	polling bool

	told map[string]bool // processes that have failed and were told of

	find    context.CancelFunc // ends the search under way; nil without one
	finding processes.LogSearch
	turn    bool           // look above when there is nothing below
	pending *processes.Log // to be searched as soon as there is something in it
}

// metricsMsg is what was measured; metricsDue comes when it is time to measure
// again.
type (
	metricsMsg struct {
		processes []api.Process
		err       error
	}
	metricsDue struct{}
)

// onProcesses reports whether the processes view is shown.
func (m *model) onProcesses() bool { return m.view == viewProcesses && !m.layout.tooSmall() }

// pumpProcesses asks for what the processes view needs now. Nothing is asked
// for while it is not shown.
func (m *model) pumpProcesses() tea.Cmd {
	if !m.onProcesses() {
		return nil
	}
	return tea.Batch(m.pumpMetrics(), m.pumpLog())
}

func (m *model) pumpMetrics() tea.Cmd {
	p := &m.processes
	if p.polling || !m.news.Connected {
		return nil
	}
	p.polling = true
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		all, err := e.Measure(ctx)
		return metricsMsg{all, err}
	}, func(err error) tea.Msg { return metricsMsg{err: err} })
}

func (m *model) takeMetrics(msg metricsMsg) tea.Cmd {
	if msg.err == nil {
		metrics := make(map[string]*api.Metrics, len(msg.processes))
		for i := range msg.processes {
			if p := &msg.processes[i]; p.Metrics != nil {
				metrics[p.ID] = p.Metrics
			}
		}
		m.processes.metrics = metrics
	}
	m.refreshProcesses()
	return tea.Tick(metricsEvery, func(time.Time) tea.Msg { return metricsDue{} })
}

// refreshProcesses makes the table's rows: all that is known from events, with
// what was measured last.
func (m *model) refreshProcesses() {
	if !m.onProcesses() {
		return
	}
	rows := slices.Clone(m.news.Processes)
	for i := range rows {
		if metrics := m.processes.metrics[rows[i].ID]; metrics != nil && !rows[i].State.Ended() {
			rows[i].Metrics = metrics
		}
	}
	m.processes.table.SetRows(rows)
	m.processes.table.Home = m.list.Home
	m.dirty = true
}

// processParts are where the parts of the processes view are on the screen.
type processParts struct{ table, charts, heading, log rect }

// Least heights of the view's parts, with their headings.
const (
	minTableHeight = 3
	minLogHeight   = 4
	// chartsFrom is the height of a view from which it shows charts unasked.
	chartsFrom = 40
)

func (m *model) processParts() (parts processParts) {
	p, body := &m.processes, m.layout.body
	_, rows := p.table.Len()
	h := min(max(rows+1, minTableHeight+1), body.h*9/20)
	if p.height > 0 {
		h = p.height
	}
	h = max(min(h, body.h-minLogHeight), minTableHeight)
	switch {
	case p.zoomed && !p.onLog:
		h = body.h
	case p.zoomed:
		h = 0
	}
	parts.table, parts.log = body, body
	parts.table.h = h
	if h == body.h {
		return processParts{table: body}
	}
	if m.wantsCharts() && body.h-h-1-processes.ChartRows >= minLogHeight {
		parts.charts = rect{body.x, body.y + h, body.w, processes.ChartRows}
		h += processes.ChartRows
	}
	parts.heading = rect{body.x, body.y + h, body.w, 1}
	parts.log.y += h + 1
	parts.log.h -= h + 1
	return parts
}

// wantsCharts reports whether the process under the cursor is shown with charts.
func (m *model) wantsCharts() bool {
	_, ok := m.processes.table.Selected()
	switch {
	case !ok || m.processes.zoomed:
		return false
	case m.processes.charts != nil:
		return *m.processes.charts
	}
	return m.layout.body.h >= chartsFrom
}

// toggleCharts shows charts, or shows none.
func (m *model) toggleCharts() tea.Cmd {
	show := !m.wantsCharts()
	m.processes.charts = &show
	m.dirty = true
	return nil
}

// drawProcesses gives the rows of the view.
func (m *model) drawProcesses() []string {
	p, body := &m.processes, m.layout.body
	if _, all := p.table.Len(); all == 0 {
		return m.noProcesses().Draw(body.w, body.h, &m.look)
	}
	p.table.Focused = !p.onLog
	parts, now := m.processParts(), time.Now()
	rows := slices.Clone(p.table.Draw(parts.table.w, parts.table.h, now, &m.look))
	if parts.heading.h == 0 {
		return rows
	}
	selected, ok := p.table.Selected()
	if parts.charts.h > 0 {
		rows = append(rows, processes.DrawCharts(&selected, parts.charts.w, parts.charts.h, now, &m.look)...)
	}
	if !ok || p.log == nil {
		rows = append(rows, widget.Heading("log", "", body.w, false, &m.look))
		for len(rows) < body.h {
			rows = append(rows, widget.Spaces(body.w))
		}
		return rows
	}
	p.log.Focused = p.onLog
	log := p.log.Draw(parts.log.w, parts.log.h, &m.look)
	rows = append(rows, p.log.Heading(&selected, widget.Reason(&selected, now), body.w, &m.look))
	return append(rows, log...)
}

func (m *model) noProcesses() *widget.Page {
	if !m.news.Connected {
		return &widget.Page{Title: "Connecting to the engine…"}
	}
	return &widget.Page{
		Title: "No process yet",
		Lines: []string{"What is started here goes on without the dashboard,", "and its output is kept."},
		Hints: []widget.Hint{m.hintFor(keymap.ProcessNew, "start one"), m.hintFor(keymap.Help, "keys"), m.hintFor(keymap.Quit, "leave")},
	}
}

// moves

func (m *model) focusLog(on bool) tea.Cmd {
	if on && m.log() == nil {
		return nil
	}
	m.processes.onLog = on
	m.dirty = true
	return nil
}

// openProcess shows the terminal of the process under the cursor or, if it has
// none, gives its log the keyboard.
func (m *model) openProcess() tea.Cmd {
	p, ok := m.processes.table.Selected()
	switch {
	case !ok:
		if _, all := m.processes.table.Len(); all == 0 {
			return m.showStartForm()
		}
		return nil
	case p.Kind == api.KindSession:
		cmd := m.setView(viewSessions)
		return tea.Batch(cmd, m.openSession(p.ID))
	}
	return m.focusLog(true)
}

func (m *model) askProcessFilter() tea.Cmd {
	m.overlay = overlay.NewFilter("Show processes with", "words of any column; !word: without it", m.processes.table.Filter(),
		func(text string) tea.Cmd {
			m.processes.table.SetFilter(text)
			return nil
		})
	return nil
}

// clearProcesses takes back the marks or, if there are none, the filter.
func (m *model) clearProcesses() tea.Cmd {
	t := &m.processes.table
	if !t.Unmark() {
		t.SetFilter("")
	}
	return nil
}

// resizeTable moves the border between the table and the log.
func (m *model) resizeTable(by int) tea.Cmd {
	parts := m.processParts()
	if !m.processes.zoomed {
		m.setTableHeight(parts.table.h + by)
	}
	return nil
}

func (m *model) setTableHeight(h int) {
	m.processes.height = max(min(h, m.layout.body.h-minLogHeight), minTableHeight)
	m.dirty = true
}

// onTable changes the table, where that is what is shown.
func onTable(change func(*processes.Table)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		change(&m.processes.table)
		return nil
	}
}

// onLog changes the log that is shown.
func onLog(change func(*processes.Log)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if log := m.log(); log != nil {
			change(log)
		}
		return nil
	}
}

// processNote is what the status bar says of the view.
func (m *model) processNote() string {
	t := &m.processes.table
	switch shown, all := t.Len(); {
	case m.processes.find != nil:
		return "searching…" + m.withKey(" ", keymap.LogLeave, " ends it", keymap.ScopeLog)
	case m.processes.pending != nil:
		return "searches as soon as something is printed"
	case t.Marked() > 0:
		return itoa(t.Marked()) + " marked"
	case t.Filter() != "":
		return itoa(shown) + " of " + itoa(all) + " with “" + widget.Clean(t.Filter()) + "”"
	}
	return ""
}

// mouseOnProcesses handles the mouse in the view.
func (m *model) mouseOnProcesses(e keys.Mouse) tea.Cmd {
	p, parts := &m.processes, m.processParts()
	if p.dragged {
		m.setTableHeight(e.Y - parts.table.y)
		return nil
	}
	down := leftDown(e)
	switch {
	case parts.heading.contains(e.X, e.Y) && down:
		p.dragged = !p.zoomed
		return m.focusLog(true)
	case parts.table.contains(e.X, e.Y):
		return m.mouseOnTable(e, e.Y-parts.table.y)
	case p.log == nil || !parts.log.contains(e.X, e.Y):
		return nil
	case isWheel(e):
		p.log.Scroll(wheelRows(e))
	case down:
		return m.focusLog(true)
	default:
		return nil
	}
	m.dirty = true
	return nil
}

func wheelRows(e keys.Mouse) int {
	if e.Button == keys.WheelUp {
		return -3
	}
	return 3
}

func (m *model) mouseOnTable(e keys.Mouse, y int) tea.Cmd {
	t := &m.processes.table
	switch {
	case isWheel(e):
		t.Move(wheelRows(e) / 3)
	case !leftDown(e):
		return nil
	case y == 0:
		if c, ok := t.ColumnAt(e.X); ok {
			t.SortBy(c)
		}
	default:
		if row := t.RowAt(y); row >= 0 {
			t.Go(row)
		}
		m.focusLog(false)
	}
	m.dirty = true
	return nil
}
