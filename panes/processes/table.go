package processes

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A Table is the table of processes with a cursor, marks, an order and a filter. The cursor stays
// on its process, not on its row, when rows come, go and move.
type Table struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // key that clears the filter

	all      []api.Process
	projects []*project
	rows     []tableRow
	matching int             // how many processes match the filter
	folded   map[string]bool // by project file
	id       string
	cursor   int
	top      int
	marked   map[string]bool
	order    Column
	reversed bool
	filter   string

	window *fleetWindow // set if not all rows are loaded

	width   int              // of the last drawing
	widths  [columnCount]int // of the widest cells drawn at this width
	columns []placedColumn   // drawn last
	out     []string
}

// SetRows replaces the processes. The slice must not change afterwards.
func (t *Table) SetRows(all []api.Process) {
	t.all = all
	for id := range t.marked {
		if !slices.ContainsFunc(all, func(p api.Process) bool { return p.ID == id }) {
			delete(t.marked, id)
		}
	}
	t.arrangeRows()
}

// arrangeRows filters and sorts the rows and puts the cursor back on its process.
func (t *Table) arrangeRows() {
	if t.window != nil {
		return // the engine does it
	}
	t.groupByProject()
	t.matching = 0
	for _, g := range t.projects {
		t.matching += len(g.members)
	}
	t.buildRows()
	// If the process is gone, the cursor stays on the same row.
	t.cursor = max(min(t.cursor, len(t.rows)-1), 0)
	if !t.Select(t.id) {
		// Start on a process rather than on a header: it has more to show.
		if t.HeaderProject() != nil && t.processAt(t.cursor+1) != nil {
			t.cursor++
		}
		t.rememberRow()
	}
}

// rememberRow stores the id of the row under the cursor.
func (t *Table) rememberRow() { t.id = t.idAt(t.cursor) }

// idAt returns the id of a row; "" without one.
func (t *Table) idAt(row int) string {
	if p := t.processAt(row); p != nil {
		return p.ID
	}
	if r := t.findRow(row); r != nil {
		return headerID(r.project.file)
	}
	return ""
}

// rowCount returns the number of rows, loaded or not.
func (t *Table) rowCount() int {
	if t.window != nil {
		return t.window.total
	}
	return len(t.rows)
}

// findRow returns a row; nil if it is not loaded.
func (t *Table) findRow(at int) *tableRow {
	if t.window != nil {
		at -= t.window.base
	}
	if at < 0 || at >= len(t.rows) {
		return nil
	}
	return &t.rows[at]
}

// processAt returns the process of a row; nil for a header or a missing row.
func (t *Table) processAt(row int) *api.Process {
	r := t.findRow(row)
	if r == nil || r.process == header {
		return nil
	}
	return &t.all[r.process]
}

// Len returns the number of processes matching the filter, and of all.
func (t *Table) Len() (matching, all int) {
	if t.window != nil {
		return t.matching, t.window.all
	}
	return t.matching, len(t.all)
}

func (t *Table) Selected() (p api.Process, ok bool) {
	if p := t.processAt(t.cursor); p != nil {
		return *p, true
	}
	return api.Process{}, false
}

// Select moves the cursor to a process, and reports whether it has a row.
func (t *Table) Select(id string) bool {
	first := 0
	if t.window != nil {
		first = t.window.base
	}
	for row := first; row < first+len(t.rows); row++ {
		if t.idAt(row) == id {
			t.cursor, t.id = row, id
			return true
		}
	}
	return false
}

// Move moves the cursor by a number of rows.
func (t *Table) Move(by int) {
	t.cursor = max(min(t.cursor+by, t.rowCount()-1), 0)
	t.rememberRow()
}

// ToggleMark marks or unmarks the process under the cursor and moves to the next row. On a header
// it applies to all of the project.
func (t *Table) ToggleMark() {
	if t.marked == nil {
		t.marked = map[string]bool{}
	}
	switch g := t.HeaderProject(); {
	case g != nil && t.window != nil: // some of its rows may not be loaded
	case g != nil:
		t.toggleProjectMarks(g)
		return
	case t.marked[t.id]:
		delete(t.marked, t.id)
	case t.id != "":
		t.marked[t.id] = true
		if t.window != nil {
			if t.window.marked == nil {
				t.window.marked = map[string]api.Process{}
			}
			t.window.marked[t.id] = *t.processAt(t.cursor)
		}
	}
	t.Move(1)
}

// ClearMarks removes all marks and reports whether there were any.
func (t *Table) ClearMarks() bool {
	had := len(t.marked) > 0
	clear(t.marked)
	return had
}

func (t *Table) MarkCount() int { return len(t.marked) }

// Targets returns the processes an action applies to: the marked ones in the order of the rows,
// else the one under the cursor, or all of a project on its header.
func (t *Table) Targets() []api.Process {
	// A marked process may have scrolled out of the window.
	if t.window != nil && len(t.marked) > 0 {
		return t.listMarked()
	}
	var marked []api.Process
	for _, g := range t.projects {
		for _, i := range g.members {
			if t.marked[t.all[i].ID] {
				marked = append(marked, t.all[i])
			}
		}
	}
	if len(marked) > 0 {
		return marked
	}
	if p := t.processAt(t.cursor); p != nil {
		return []api.Process{*p}
	}
	var targets []api.Process
	if g := t.HeaderProject(); g != nil {
		for _, i := range g.members {
			targets = append(targets, t.all[i])
		}
	}
	return targets
}

// listExited returns the exited processes matching the filter.
func (t *Table) listExited() (ended []api.Process) {
	for _, g := range t.projects {
		for _, i := range g.members {
			if t.all[i].State.Ended() {
				ended = append(ended, t.all[i])
			}
		}
	}
	return ended
}

func (t *Table) Filter() string { return t.filter }

// SetFilter shows only processes with every word of text in their name, project, command, folder,
// state, user, pid or ports. "!" before a word excludes it, and host: before one matches the start
// of the machine's name.
func (t *Table) SetFilter(text string) {
	t.filter = text
	if t.window != nil {
		t.filterLoaded()
	}
	t.arrangeRows()
	// Other rows are shown now, so the columns may shrink.
	t.widths = [columnCount]int{}
}

func matchesFilter(p *api.Process, project, filter string) bool {
	if filter == "" {
		return true
	}
	host, filter := list.CutHost(filter)
	if machine, _ := api.MachineOf(p.ID); !list.OnHost(host, machine) {
		return false
	}
	s := strings.ToLower(strings.Join([]string{p.Name, project, projectFolder(p), hostText(p), p.Command, p.CWD, string(p.State), stateText(p), states.WhoFrom(p.Actor, p.From),
		string(p.Kind), pidText(p), portsText(p)}, "\n"))
	return text.Holds(s, strings.Fields(strings.ToLower(filter)))
}

// stateText returns the text of the state column, without the time left until a restart.
func stateText(p *api.Process) string {
	if p.State == api.StateBackoff {
		return "restarts"
	}
	return states.StateWords(p, time.Time{})
}

// RowAt returns the row drawn at y, -1 for none.
func (t *Table) RowAt(y int) int {
	if row := t.top + y - 1; y >= 1 && row < t.rowCount() {
		return row
	}
	return -1
}

func (t *Table) MoveTo(row int) { t.Move(row - t.cursor) }
