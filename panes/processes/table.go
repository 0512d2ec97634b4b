package processes

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// A table shows the processes in the news, with their metrics. It has a cursor, marks, an order and
// a filter. When rows appear, disappear or move, the cursor stays on its process, not on its row.
type table struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // key that clears the filter

	env      panes.Env
	all      []api.Process           // never changed in place
	metrics  map[string]*api.Metrics // by process
	polling  bool
	closed   map[string]bool // sessions whose failure the user has seen
	machines bool            // there are other machines

	filter   string
	order    order
	folded   map[string]bool // by project file, of agents' commands whether they are unfolded
	rows     []tableRow
	matching []*api.Process // those that match the filter, in the order of the rows, folded or not
	hidden   int            // number of one-shot commands in folded rows

	cursor  int             // a row
	id      string          // of that row
	top     int             // first row drawn
	marked  map[string]bool // by process
	columns columns
	out     []string
}

func newTable(env panes.Env) *table {
	return &table{env: env, folded: map[string]bool{}, marked: map[string]bool{}, order: order{by: columnName}}
}

func (t *table) actions() panes.Actions {
	sortBy := func(c column) func() tea.Cmd { return panes.ActionOf(func() { t.SortBy(c) }) }
	by := func(rows int) func() tea.Cmd { return panes.ActionOf(func() { t.Move(rows) }) }
	return panes.Actions{
		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.Filter: t.askFilter,
		keymap.Clear:  panes.ActionOf(t.clearMarksOrFilter),
		keymap.Mark:   panes.ActionOf(t.ToggleMark),

		keymap.ProcessFold:    panes.ActionOf(t.ToggleFold),
		keymap.ProcessSort:    panes.ActionOf(t.SortNext),
		keymap.ProcessReverse: panes.ActionOf(t.Reverse),

		keymap.ProcessSortState: sortBy(columnState), keymap.ProcessSortName: sortBy(columnName), keymap.ProcessSortPID: sortBy(columnPID),
		keymap.ProcessSortCPU: sortBy(columnCPU), keymap.ProcessSortMemory: sortBy(columnMemory), keymap.ProcessSortUp: sortBy(columnUp),
		keymap.ProcessSortRestarts: sortBy(columnRestarts),
	}
}

func (t *table) askFilter() tea.Cmd {
	var names []string
	for _, one := range t.env.News().Processes {
		names = append(names, text.Clean(one.Name))
	}
	t.env.Ask(dialog.NewFilter("Show processes with", "words of any column; !word: without it; host:NAME", t.filter, func(text string) tea.Cmd {
		t.SetFilter(text)
		return nil
	}).SuggestWords(names))
	return nil
}

// clearMarksOrFilter removes all marks or, if there are none, the filter.
func (t *table) clearMarksOrFilter() {
	if !t.ClearMarks() {
		t.SetFilter("")
	}
}

// row returns a row; nil if there is none.
func (t *table) row(row int) *tableRow {
	if row < 0 || row >= len(t.rows) {
		return nil
	}
	return &t.rows[row]
}

// rememberRow stores the id of the row under the cursor, so that the cursor can return to the row
// after a change.
func (t *table) rememberRow() {
	t.id = ""
	if r := t.row(t.cursor); r != nil {
		t.id = r.id()
	}
}

// SortBy sorts by column c. If the table is sorted by c already, it reverses the order.
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

// SetFilter shows only processes that contain every word of text in their name, project, command,
// folder, state, user, pid or ports. A process must not contain a word with "!" before it. host:
// before a word matches the start of the machine's name.
func (t *table) SetFilter(text string) {
	t.filter = text
	t.arrange()
}

// ToggleFold folds or unfolds the project under the cursor. The cursor goes to its header.
func (t *table) ToggleFold() {
	row := t.row(t.cursor)
	// With a filter every project is open.
	if row != nil && t.filter == "" && (row.project.commands || t.hasProjects()) {
		file := row.project.file
		t.folded[file] = !t.folded[file]
		t.id = headerID(file)
		t.arrange()
	}
}

func (t *table) Selected() (p api.Process, ok bool) {
	if r := t.row(t.cursor); r != nil && r.process != nil {
		return *r.process, true
	}
	return api.Process{}, false
}

// HeaderProject returns the project whose header is under the cursor; nil if the cursor is not on a
// header.
func (t *table) HeaderProject() *project {
	if r := t.row(t.cursor); r != nil && r.process == nil {
		return r.project
	}
	return nil
}

// Select moves the cursor to a process, and reports whether it has a row.
func (t *table) Select(id string) bool {
	row := slices.IndexFunc(t.rows, func(r tableRow) bool { return r.id() == id })
	if row >= 0 {
		t.cursor, t.id = row, id
	}
	return row >= 0
}

// reveal puts the cursor on a process. It clears the filter and unfolds the project if they hide
// it.
func (t *table) reveal(id string) {
	if t.Select(id) {
		return
	}
	if i := slices.IndexFunc(t.all, func(p api.Process) bool { return p.ID == id }); i >= 0 {
		if file := groupFile(&t.all[i]); t.all[i].IsOneShot() {
			t.folded[file] = true // unfolds its agent's commands
		} else {
			delete(t.folded, file)
		}
		t.SetFilter("")
		t.Select(id)
	}
}

// Move moves the cursor by a number of rows.
func (t *table) Move(by int) { t.MoveTo(t.cursor + by) }

func (t *table) MoveTo(row int) {
	t.cursor = max(min(row, len(t.rows)-1), 0)
	t.rememberRow()
}

// RowAt returns the row drawn at y, -1 for none.
func (t *table) RowAt(y int) int {
	if row := t.top + y - 1; y >= 1 && row < len(t.rows) {
		return row
	}
	return -1
}

// ToggleMark marks or unmarks the process under the cursor and moves to the next row. On a header
// it marks or unmarks all processes of the project.
func (t *table) ToggleMark() {
	if g := t.HeaderProject(); g != nil {
		t.toggleMarks(g.members)
	} else if r := t.row(t.cursor); r != nil {
		t.toggleMarks([]*api.Process{r.process})
		t.Move(1)
	}
}

// toggleMarks marks all given processes. If all of them are marked, it removes their marks.
func (t *table) toggleMarks(processes []*api.Process) {
	all := !slices.ContainsFunc(processes, func(p *api.Process) bool { return !t.marked[p.ID] })
	for _, p := range processes {
		if t.marked[p.ID] = true; all {
			delete(t.marked, p.ID)
		}
	}
}

// ClearMarks removes all marks and reports whether there were any.
func (t *table) ClearMarks() bool {
	had := len(t.marked) > 0
	clear(t.marked)
	return had
}

func (t *table) MarkCount() int { return len(t.marked) }

// Targets returns the processes to which an action applies: the marked ones, in the order of the
// rows. If none is marked, it is the process under the cursor or, on a header, all processes of the
// project.
func (t *table) Targets() (targets []api.Process) {
	for _, p := range t.matching {
		if t.marked[p.ID] {
			targets = append(targets, *p)
		}
	}
	if len(targets) > 0 {
		return targets
	}
	if p, ok := t.Selected(); ok {
		return []api.Process{p}
	}
	if g := t.HeaderProject(); g != nil {
		for _, p := range g.members {
			targets = append(targets, *p)
		}
	}
	return targets
}
