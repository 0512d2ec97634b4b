package history

import (
	"cmp"
	"slices"

	"tandem/engine/api"
)

// A run is one by its number, on a machine.
type run struct {
	host string
	id   int64
}

func runOf(row *api.HistoryRow) run { return run{row.Host, row.ID} }

// A markKey is what a mark is on: a run or, where equal commands are one row, a
// command line of a machine.
type markKey struct {
	run
	command string
}

// marks are the rows of the history that are marked. They are kept
// through a search and through scrolling, with all that is to be known of them.
type marks map[markKey]api.HistoryRow

func keyOf(row *api.HistoryRow, unique bool) markKey {
	if unique {
		return markKey{run{host: row.Host}, row.Command.Command}
	}
	return markKey{run: runOf(row)}
}

// regroup puts the marks on command lines, or on the runs that stood for them.
func (m marks) regroup(unique bool) {
	rows := m.sorted()
	clear(m)
	for _, row := range rows { // of equal ones the newest comes last
		m[keyOf(&row, unique)] = row
	}
}

// sorted are the marked rows, oldest first.
func (m marks) sorted() []api.HistoryRow {
	rows := make([]api.HistoryRow, 0, len(m))
	for _, row := range m {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b api.HistoryRow) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return rows
}

// Mark marks the row under the cursor, or takes its mark away, and goes to the
// next one.
func (l *List) Mark() {
	row := l.at(l.cursor)
	if row == nil {
		return
	}
	if l.marks == nil {
		l.marks = marks{}
	}
	key := keyOf(row, l.search.Unique)
	if _, marked := l.marks[key]; marked {
		delete(l.marks, key)
	} else {
		l.marks[key] = *row
	}
	l.Move(1)
}

// Unmark takes all marks away and reports whether there were any.
func (l *List) Unmark() bool {
	had := len(l.marks) > 0
	clear(l.marks)
	return had
}

// Marked are the marked rows, oldest first, those included that the search does
// not find.
func (l *List) Marked() []api.HistoryRow { return l.marks.sorted() }

// MarkedRows is how many rows are marked.
func (l *List) MarkedRows() int { return len(l.marks) }

func (l *List) isMarked(row *api.HistoryRow) bool {
	_, marked := l.marks[keyOf(row, l.search.Unique)]
	return marked
}
