package history

import (
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
)

// A List shows the commands that a search has found, with a cursor. It holds only the rows around
// the view, and requests others while it is scrolled. When new rows arrive, the cursor stays on its
// command.
type List struct {
	Focused bool
	Home    string // shown as "~"
	// IsRunning reports whether a command without an exit status is still running; nil if unknown.
	IsRunning func(*api.Command) bool
	// Hosts is set if rows may be of other machines.
	Hosts bool

	marks marks

	search     api.HistorySearchInput
	generation int           // of the search; answers to earlier ones are ignored
	delay      time.Duration // before the search is requested
	settled    bool          // the rows held answer the search
	stale      bool          // newer rows may exist
	pending    bool          // a request is running
	err        error         // of the last request
	missing    []string      // machines not searched, and why

	rows   []api.HistoryRow // from first on
	first  int
	total  int
	cursor int
	top    int
	height int // rows drawn last

	width   int // of the last drawing
	columns columns
	out     []string
}

// A Request is a request for rows of the history.
type Request struct {
	Input api.HistorySearchInput
	Delay time.Duration // wait before the request, because another may follow

	generation int
	reset      bool // the cursor goes to the first row
}

const (
	marginRows   = 60                     // rows held above and below the view
	refreshDelay = 100 * time.Millisecond // before newer rows are requested
)

// StartSearch starts another search. It ignores Offset and Limit of in. The old rows stay until the
// search is answered.
func (l *List) StartSearch(in api.HistorySearchInput, delay time.Duration) {
	in.Offset, in.Limit = 0, 0
	if in.Unique != l.search.Unique {
		l.marks.regroup(in.Unique)
	}
	l.search, l.delay = in, delay
	l.generation++
	l.settled, l.pending, l.stale, l.err = false, false, false, nil
}

// Refresh makes the list load newer rows.
func (l *List) Refresh() { l.stale, l.err = true, nil }

// IsSettled reports whether the rows answer the last search.
func (l *List) IsSettled() bool { return l.settled }

// Total returns the number of rows found by the search.
func (l *List) Total() int { return l.total }

// NextRequest returns the request to make now; ok is false if there is none. Pass its answer to
// StoreAnswer, or its error to StoreError. Only one request runs at a time, but a new search does
// not wait for it.
func (l *List) NextRequest() (r Request, ok bool) {
	if l.pending || l.err != nil || (l.settled && !l.stale && !l.needsRows()) {
		return r, false
	}
	r = Request{Input: l.search, generation: l.generation, reset: !l.settled}
	first := 0
	switch {
	// A new search starts at the top. Newer rows of the same search do not move the view.
	case !l.settled:
		r.Delay = l.delay
	case l.stale:
		r.Delay = refreshDelay
		fallthrough
	default:
		first = max(l.top-marginRows, 0)
	}
	l.pending, l.stale = true, false
	r.Input.Offset, r.Input.Limit = first, l.top-first+max(l.height, 1)+marginRows
	if r.reset {
		r.Input.Limit = max(l.height, 1) + marginRows
	}
	return r, true
}

// needsRows reports whether rows near the view are not held, so that they would be missing when the
// user scrolls.
func (l *List) needsRows() bool {
	from, to := max(l.top-marginRows/3, 0), min(l.top+l.height+marginRows/3, l.total)
	return from < to && (from < l.first || to > l.first+len(l.rows))
}

// StoreAnswer stores the answer to a request. It reports false if the answer is for an earlier
// search.
func (l *List) StoreAnswer(r Request, out api.HistorySearchOutput) bool {
	if r.generation != l.generation {
		return false
	}
	// Look up the row before rows is replaced.
	selected := l.findRow(l.cursor)
	l.pending, l.settled = false, true
	l.rows, l.first, l.total, l.missing = out.Rows, r.Input.Offset, out.Total, nil
	for _, m := range out.Missing {
		l.missing = append(l.missing, m.Message)
	}
	if r.reset {
		l.cursor, l.top = 0, 0
		return true
	}
	if selected != nil {
		l.restoreCursor(selected)
	}
	l.Move(0)
	return true
}

// StoreError records the failure of a request. The list tries again after Refresh.
func (l *List) StoreError(r Request, err error) {
	if r.generation == l.generation {
		l.pending, l.err = false, err
	}
}

// restoreCursor moves the cursor to selected, the row on which it was before new rows arrived.
func (l *List) restoreCursor(selected *api.HistoryRow) {
	for i := range l.rows {
		row := &l.rows[i]
		// With Unique, equal commands share a row, which may show another run of the command by now.
		if runIDOf(row) == runIDOf(selected) || l.search.Unique && row.Host == selected.Host && row.Command.Command == selected.Command.Command {
			by := l.first + i - l.cursor
			l.cursor += by
			if l.top > 0 { // at the top, newer rows push the others down
				l.top = max(l.top+by, 0)
			}
			return
		}
	}
}

// findRow returns a row; nil if it is not held.
func (l *List) findRow(row int) *api.HistoryRow {
	if i := row - l.first; i >= 0 && i < len(l.rows) {
		return &l.rows[i]
	}
	return nil
}

func (l *List) Selected() (row api.HistoryRow, ok bool) {
	if r := l.findRow(l.cursor); r != nil {
		return *r, true
	}
	return api.HistoryRow{}, false
}

// Move moves the cursor by a number of rows.
func (l *List) Move(by int) {
	l.cursor = max(min(l.cursor+by, l.total-1), 0)
	l.top = list.Follow(l.top, l.cursor, l.total, l.height)
}

func (l *List) MoveTo(row int) { l.Move(row - l.cursor) }

func (l *List) PageRows() int { return max(l.height-1, 1) }

// RowAt returns the index of the row drawn at y; -1 if there is none.
func (l *List) RowAt(y int) int {
	if row := l.top + y - 1; y >= 1 && (y <= l.height || l.height == 0) && row < l.total {
		return row
	}
	return -1
}
