package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
)

// A table is a table of processes with a cursor, marks, an order and a filter. The cursor stays on
// its process, not on its row, when rows come, go and move.
type table struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // key that clears the filter

	source  source
	rows    rows
	order   order
	cursor  int                    // a row
	id      string                 // of that row
	top     int                    // first row drawn
	marked  map[string]api.Process // as they were when marked
	columns columns
	out     []string
}

// A source has the processes of a table.
type source interface {
	arrangeRows(filter string, o order) rows
	// toggleFold folds or unfolds the project of a row. It reports false if the row has none.
	toggleFold(row *tableRow) bool
	hasMachines() bool // rows may be of several machines
}

// arrange filters and sorts the rows.
func (t *table) arrange() { t.setRows(t.source.arrangeRows(t.rows.filter, t.order)) }

// setRows replaces the rows and puts the cursor back on its process. If that is gone, the cursor
// stays on the same row.
func (t *table) setRows(r rows) {
	t.rows = r
	if !t.Select(t.id) {
		t.cursor = max(min(t.cursor, r.total-1), 0)
		// Start on a process rather than on a header: it has more to show.
		if !r.window && t.HeaderProject() != nil && r.processAt(t.cursor+1) != nil {
			t.cursor++
		}
		t.rememberRow()
	}
}

// rememberRow stores the id of the row under the cursor.
func (t *table) rememberRow() {
	t.id = ""
	if r := t.rows.at(t.cursor); r != nil {
		t.id = r.id()
	}
}

// SortBy sorts by a column, or reverses the order if it is the current one.
func (t *table) SortBy(c column) {
	if c == t.order.by {
		t.Reverse()
		return
	}
	t.order = order{by: c}
	t.arrange()
}

// SortNext sorts by the next drawn column.
func (t *table) SortNext() {
	t.order = order{by: t.columns.after(t.order.by)}
	t.arrange()
}

func (t *table) Reverse() {
	t.order.reversed = !t.order.reversed
	t.arrange()
}

// SetFilter shows only processes with every word of text in their name, project, command, folder,
// state, user, pid or ports. "!" before a word excludes it, and host: before one matches the start
// of the machine's name.
func (t *table) SetFilter(text string) {
	t.setRows(t.source.arrangeRows(text, t.order))
}

// ToggleFold folds or unfolds the project under the cursor. The cursor goes to its header.
func (t *table) ToggleFold() {
	row := t.rows.at(t.cursor)
	// With a filter every project is open.
	if row != nil && t.rows.filter == "" && t.source.toggleFold(row) {
		t.id = headerID(row.project.file)
		t.arrange()
	}
}

func (t *table) Selected() (p api.Process, ok bool) {
	if p := t.rows.processAt(t.cursor); p != nil {
		return *p, true
	}
	return api.Process{}, false
}

// HeaderProject returns the project whose header is under the cursor; nil without one.
func (t *table) HeaderProject() *project {
	if r := t.rows.at(t.cursor); r != nil && r.process == nil {
		return r.project
	}
	return nil
}

// Select moves the cursor to a process, and reports whether it has a row.
func (t *table) Select(id string) bool {
	row := t.rows.find(id)
	if row >= 0 {
		t.cursor, t.id = row, id
	}
	return row >= 0
}

// Move moves the cursor by a number of rows.
func (t *table) Move(by int) { t.MoveTo(t.cursor + by) }

func (t *table) MoveTo(row int) {
	t.cursor = max(min(row, t.rows.total-1), 0)
	t.rememberRow()
}

// RowAt returns the row drawn at y, -1 for none.
func (t *table) RowAt(y int) int {
	if row := t.top + y - 1; y >= 1 && row < t.rows.total {
		return row
	}
	return -1
}

// ToggleMark marks or unmarks the process under the cursor and moves to the next row. On a header
// it applies to all of the project.
func (t *table) ToggleMark() {
	g := t.HeaderProject()
	if g != nil && g.group == nil {
		t.toggleMarks(g.members)
		return
	}
	// The rows of a fleet's group may not be loaded, so it cannot be marked.
	if p := t.rows.processAt(t.cursor); p != nil {
		t.toggleMarks([]*api.Process{p})
	}
	t.Move(1)
}

// toggleMarks marks processes, or removes their marks if all have one.
func (t *table) toggleMarks(processes []*api.Process) {
	if t.marked == nil {
		t.marked = map[string]api.Process{}
	}
	all := !slices.ContainsFunc(processes, func(p *api.Process) bool { return !t.isMarked(p) })
	for _, p := range processes {
		if t.marked[p.ID] = *p; all {
			delete(t.marked, p.ID)
		}
	}
}

func (t *table) isMarked(p *api.Process) bool {
	_, ok := t.marked[p.ID]
	return ok
}

// ClearMarks removes all marks and reports whether there were any.
func (t *table) ClearMarks() bool {
	had := len(t.marked) > 0
	clear(t.marked)
	return had
}

func (t *table) MarkCount() int { return len(t.marked) }

// Targets returns the processes an action applies to: the marked ones in the order of the rows,
// else the one under the cursor, or all of a project on its header.
func (t *table) Targets() (targets []api.Process) {
	if marked := t.listMarked(); len(marked) > 0 {
		return marked
	}
	if p := t.rows.processAt(t.cursor); p != nil {
		return []api.Process{*p}
	}
	if g := t.HeaderProject(); g != nil {
		for _, p := range g.members {
			targets = append(targets, *p)
		}
	}
	return targets
}

// listMarked returns the marked processes. Those of a fleet need not be loaded.
func (t *table) listMarked() (marked []api.Process) {
	for _, p := range t.rows.listed {
		if t.isMarked(p) {
			marked = append(marked, *p)
		}
	}
	if t.rows.window {
		for _, p := range t.marked {
			marked = append(marked, p)
		}
		o := t.order
		o.now = time.Now()
		slices.SortFunc(marked, func(a, b api.Process) int { return o.compare(&a, &b) })
	}
	return marked
}
