package processes

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A Table is the table of processes with a cursor, marks, an order and a
// filter. It keeps its place by process, not by position, when rows come, go
// and change their order.
type Table struct {
	Focused bool
	Home    string // shown as "~"

	all      []api.Process
	shown    []int // indexes into all, in the order of the rows
	id       string
	cursor   int
	top      int
	marked   map[string]bool
	order    Column
	reversed bool
	filter   string

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
	t.shown = t.shown[:0]
	for i := range t.all {
		if matchesFilter(&t.all[i], t.filter) {
			t.shown = append(t.shown, i)
		}
	}
	slices.SortStableFunc(t.shown, func(a, b int) int { return t.compare(&t.all[a], &t.all[b]) })
	t.cursor = max(min(t.cursor, len(t.shown)-1), 0)
	if !t.Select(t.id) {
		t.keep()
	}
}

// keep remembers whose row the cursor is on.
func (t *Table) keep() {
	t.id = ""
	if p := t.at(t.cursor); p != nil {
		t.id = p.ID
	}
}

func (t *Table) at(row int) *api.Process {
	if row < 0 || row >= len(t.shown) {
		return nil
	}
	return &t.all[t.shown[row]]
}

// Len is the number of rows, and that of processes without the filter.
func (t *Table) Len() (shown, all int) { return len(t.shown), len(t.all) }

// Selected is the process under the cursor; ok is false without one.
func (t *Table) Selected() (p api.Process, ok bool) {
	if p := t.at(t.cursor); p != nil {
		return *p, true
	}
	return api.Process{}, false
}

// Select puts the cursor on a process, if it is there.
func (t *Table) Select(id string) bool {
	for row := range t.shown {
		if t.at(row).ID == id {
			t.cursor, t.id = row, id
			return true
		}
	}
	return false
}

// Move moves the cursor, as far as there are rows.
func (t *Table) Move(by int) {
	t.cursor = max(min(t.cursor+by, len(t.shown)-1), 0)
	t.keep()
}

// Mark marks the process under the cursor, or takes its mark away, and goes to
// the next row.
func (t *Table) Mark() {
	if t.marked == nil {
		t.marked = map[string]bool{}
	}
	if t.marked[t.id] {
		delete(t.marked, t.id)
	} else if t.id != "" {
		t.marked[t.id] = true
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
// the order of the rows, or else the one under the cursor.
func (t *Table) Targets() []api.Process {
	var targets []api.Process
	for row := range t.shown {
		if p := t.at(row); t.marked[p.ID] {
			targets = append(targets, *p)
		}
	}
	if p := t.at(t.cursor); p != nil && len(targets) == 0 {
		targets = append(targets, *p)
	}
	return targets
}

// Filter is what rows have to match.
func (t *Table) Filter() string { return t.filter }

// SetFilter shows only processes whose name, command, folder, state, starter,
// pid or ports hold every word of text; "!" before a word means that they must
// not.
func (t *Table) SetFilter(text string) {
	t.filter = text
	t.arrange()
	t.widths = [columnCount]int{}
}

func matchesFilter(p *api.Process, filter string) bool {
	if filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{p.Name, p.Command, p.CWD, string(p.State), p.Actor,
		string(p.Kind), pidText(p), portsText(p)}, "\n"))
	return widget.Holds(text, strings.Fields(strings.ToLower(filter)))
}

// RowAt is the index of the row drawn at y, -1 for none.
func (t *Table) RowAt(y int) int {
	if row := t.top + y - 1; y >= 1 && row < len(t.shown) {
		return row
	}
	return -1
}

// Go puts the cursor on a row.
func (t *Table) Go(row int) { t.Move(row - t.cursor) }
