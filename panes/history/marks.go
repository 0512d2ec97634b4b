package history

import (
	"cmp"
	"slices"

	"tandem/engine/api"
)

// A runID identifies a run of a command on a machine.
type runID struct {
	host string
	id   int64
}

func runIDOf(row *api.HistoryRow) runID { return runID{row.Host, row.ID} }

// A markKey identifies a marked row: a run or, if equal commands share a row, a command line on a
// machine.
type markKey struct {
	runID
	command string
}

// marks are the marked rows. They survive searching and scrolling, so they keep complete rows.
type marks map[markKey]api.HistoryRow

func markKeyOf(row *api.HistoryRow, unique bool) markKey {
	if unique {
		return markKey{runID{host: row.Host}, row.Command.Command}
	}
	return markKey{runID: runIDOf(row)}
}

// regroup converts the marks when the list changes between rows for runs and rows for command
// lines. With unique, marks of runs become marks of their command lines. Otherwise the mark of a
// command line becomes that of its newest run.
func (m marks) regroup(unique bool) {
	rows := m.sortRows()
	clear(m)
	for _, row := range rows { // oldest first, so that the newest of equal ones remains
		m[markKeyOf(&row, unique)] = row
	}
}

// sortRows returns the marked rows, oldest first.
func (m marks) sortRows() []api.HistoryRow {
	rows := make([]api.HistoryRow, 0, len(m))
	for _, row := range m {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b api.HistoryRow) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return rows
}

// ToggleMark marks or unmarks the row under the cursor and moves to the next one.
func (l *List) ToggleMark() {
	row := l.findRow(l.cursor)
	if row == nil {
		return
	}
	if l.marks == nil {
		l.marks = marks{}
	}
	key := markKeyOf(row, l.search.Unique)
	if _, marked := l.marks[key]; marked {
		delete(l.marks, key)
	} else {
		l.marks[key] = *row
	}
	l.Move(1)
}

// ClearMarks removes all marks and reports whether there were any.
func (l *List) ClearMarks() bool {
	had := len(l.marks) > 0
	clear(l.marks)
	return had
}

// unmark removes the marks of rows, both as single runs and as command lines.
func (l *List) unmark(rows []api.HistoryRow) {
	for i := range rows {
		delete(l.marks, markKeyOf(&rows[i], true))
		delete(l.marks, markKeyOf(&rows[i], false))
	}
}

func (l *List) isMarked(row *api.HistoryRow) bool {
	_, marked := l.marks[markKeyOf(row, l.search.Unique)]
	return marked
}
