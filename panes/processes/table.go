package processes

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A Table is the table of processes with a cursor, marks, an order and a
// filter. It keeps its place by process, not by position, when rows come, go
// and change their order.
type Table struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // clears the filter

	all      []api.Process
	projects []*project
	rows     []tableRow
	matching int             // how many match the filter
	folded   map[string]bool // by project file
	id       string
	cursor   int
	top      int
	marked   map[string]bool
	order    Column
	reversed bool
	filter   string

	held *held // where not all rows are held; nil: they are

	width  int              // of the last drawing
	widths [columnCount]int // of the widest cells drawn at this width
	places []place          // of the columns drawn last
	out    []string
}

// SetRows replaces the processes. The slice stays as it is.
func (t *Table) SetRows(all []api.Process) {
	t.all = all
	for id := range t.marked {
		if !slices.ContainsFunc(all, func(p api.Process) bool { return p.ID == id }) {
			delete(t.marked, id)
		}
	}
	t.arrange()
}

// arrange filters and sorts anew and puts the cursor back on its process.
func (t *Table) arrange() {
	if t.held != nil {
		return // the engine does
	}
	t.divide()
	t.matching = 0
	for _, g := range t.projects {
		t.matching += len(g.members)
	}
	t.layRows()
	t.cursor = max(min(t.cursor, len(t.rows)-1), 0)
	if !t.Select(t.id) {
		if t.Project() != nil && t.at(t.cursor+1) != nil { // a process has more to show than a header
			t.cursor++
		}
		t.keep()
	}
}

// keep remembers whose row the cursor is on.
func (t *Table) keep() { t.id = t.idAt(t.cursor) }

// idAt is what the cursor keeps its place by on a row; "" where none is.
func (t *Table) idAt(row int) string {
	if p := t.at(row); p != nil {
		return p.ID
	}
	if r := t.row(row); r != nil {
		return headerID(r.project.file)
	}
	return ""
}

// lines is how many rows there are, held or not.
func (t *Table) lines() int {
	if t.held != nil {
		return t.held.total
	}
	return len(t.rows)
}

// row is a row that is held; nil for others.
func (t *Table) row(at int) *tableRow {
	if t.held != nil {
		at -= t.held.base
	}
	if at < 0 || at >= len(t.rows) {
		return nil
	}
	return &t.rows[at]
}

// at is the process of a row; nil on a header and where no row is.
func (t *Table) at(row int) *api.Process {
	r := t.row(row)
	if r == nil || r.process == header {
		return nil
	}
	return &t.all[r.process]
}

// Len is the number of processes that match the filter, and that of all.
func (t *Table) Len() (matching, all int) {
	if t.held != nil {
		return t.matching, t.held.all
	}
	return t.matching, len(t.all)
}

// Selected is the process under the cursor; ok is false without one.
func (t *Table) Selected() (p api.Process, ok bool) {
	if p := t.at(t.cursor); p != nil {
		return *p, true
	}
	return api.Process{}, false
}

// Select puts the cursor on a process, if it is there.
func (t *Table) Select(id string) bool {
	first := 0
	if t.held != nil {
		first = t.held.base
	}
	for row := first; row < first+len(t.rows); row++ {
		if t.idAt(row) == id {
			t.cursor, t.id = row, id
			return true
		}
	}
	return false
}

// Move moves the cursor, as far as there are rows.
func (t *Table) Move(by int) {
	t.cursor = max(min(t.cursor+by, t.lines()-1), 0)
	t.keep()
}

// Mark marks the process under the cursor, or takes its mark away, and goes to
// the next row. On a header it does so with all of the project.
func (t *Table) Mark() {
	if t.marked == nil {
		t.marked = map[string]bool{}
	}
	switch g := t.Project(); {
	case g != nil && t.held != nil: // not all of it is held
	case g != nil:
		t.markAll(g)
		return
	case t.marked[t.id]:
		delete(t.marked, t.id)
	case t.id != "":
		t.marked[t.id] = true
		if t.held != nil {
			if t.held.marked == nil {
				t.held.marked = map[string]api.Process{}
			}
			t.held.marked[t.id] = *t.at(t.cursor)
		}
	}
	t.Move(1)
}

// Unmark takes all marks away and reports whether there were any.
func (t *Table) Unmark() bool {
	had := len(t.marked) > 0
	clear(t.marked)
	return had
}

// Marked is how many processes are marked.
func (t *Table) Marked() int { return len(t.marked) }

// Targets are the processes that an action is about: those that are marked, in
// the order of the rows, or else the one under the cursor, or all of the project
// whose header it is on.
func (t *Table) Targets() []api.Process {
	if t.held != nil && len(t.marked) > 0 {
		return t.markedFar()
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
	if p := t.at(t.cursor); p != nil {
		return []api.Process{*p}
	}
	var targets []api.Process
	if g := t.Project(); g != nil {
		for _, i := range g.members {
			targets = append(targets, t.all[i])
		}
	}
	return targets
}

// ended are the processes that have ended and match the filter.
func (t *Table) ended() (ended []api.Process) {
	for _, g := range t.projects {
		for _, i := range g.members {
			if t.all[i].State.Ended() {
				ended = append(ended, t.all[i])
			}
		}
	}
	return ended
}

// Filter is what rows have to match.
func (t *Table) Filter() string { return t.filter }

// SetFilter shows only processes whose name, project, command, folder, state,
// starter, pid or ports hold every word of text; "!" before a word means that they must
// not, and host: before one that it begins the name of their machine.
func (t *Table) SetFilter(text string) {
	t.filter = text
	if t.held != nil {
		t.narrow()
	}
	t.arrange()
	t.widths = [columnCount]int{}
}

func matchesFilter(p *api.Process, project, filter string) bool {
	if filter == "" {
		return true
	}
	host, filter := widget.CutHost(filter)
	if machine, _ := api.MachineOf(p.ID); !widget.OnHost(host, machine) {
		return false
	}
	text := strings.ToLower(strings.Join([]string{p.Name, project, projectFolder(p), hostText(p), p.Command, p.CWD, string(p.State), stateText(p), widget.WhoFrom(p.Actor, p.From),
		string(p.Kind), pidText(p), portsText(p)}, "\n"))
	return widget.Holds(text, strings.Fields(strings.ToLower(filter)))
}

// stateText returns the state as its column shows it, without the time left until
// a restart.
func stateText(p *api.Process) string {
	if p.State == api.StateBackoff {
		return "restarts"
	}
	return widget.StateWords(p, time.Time{})
}

// RowAt is the index of the row drawn at y, -1 for none.
func (t *Table) RowAt(y int) int {
	if row := t.top + y - 1; y >= 1 && row < t.lines() {
		return row
	}
	return -1
}

// Go puts the cursor on a row.
func (t *Table) Go(row int) { t.Move(row - t.cursor) }
