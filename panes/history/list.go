package history

import (
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A List is the list of commands that a search of the history finds,
// with a cursor. Of its rows it holds those around what is seen and asks for
// others as it is scrolled; it keeps its place by command when new ones come.
type List struct {
	Focused bool
	Home    string // shown as "~"
	// Runs tells whether a command that has no exit status still runs; nil if
	// that cannot be told.
	Runs func(*api.Command) bool
	// Hosts: rows may be of other machines.
	Hosts bool

	marks marks

	search     api.HistorySearchInput
	generation int           // of the search; answers to an earlier one are late
	delay      time.Duration // before the search is asked for
	settled    bool          // what is held answers the search
	stale      bool          // there may be newer rows
	asked      bool          // a request is under way
	err        error         // why the last one failed
	missing    []string      // what was not searched, and why

	rows   []api.HistoryRow // those from first on
	first  int
	total  int
	cursor int
	top    int
	height int // rows drawn last

	width   int // of the last drawing
	columns columns
	out     []string
}

// A Request asks for rows of the history.
type Request struct {
	Input api.HistorySearchInput
	Delay time.Duration // wait so long first: there may be another search soon

	generation int
	anew       bool // the cursor goes to the first row
}

const (
	historyMargin = 60                     // rows held above and below what is seen
	refreshDelay  = 100 * time.Millisecond // until newer rows are asked for
)

// Search begins another search; its window is not looked at. What is shown
// stays until it is answered.
func (l *List) Search(in api.HistorySearchInput, delay time.Duration) {
	in.Offset, in.Limit = 0, 0
	if in.Unique != l.search.Unique {
		l.marks.regroup(in.Unique)
	}
	l.search, l.delay = in, delay
	l.generation++
	l.settled, l.asked, l.stale, l.err = false, false, false, nil
}

// Refresh has the list look for newer rows.
func (l *List) Refresh() { l.stale, l.err = true, nil }

// Settled reports whether what is shown answers the last search.
func (l *List) Settled() bool { return l.settled }

// Err says why the rows cannot be told; nil while they can.
func (l *List) Err() error { return l.err }

// Total is the number of rows that the search finds.
func (l *List) Total() int { return l.total }

// Next is what has to be asked for now; ok is false for nothing. An answer goes
// to Take, an error to Fail. There is one request at a time, but that of an
// earlier search need not be waited for.
func (l *List) Next() (r Request, ok bool) {
	if l.asked || l.err != nil || l.settled && !l.stale && !l.lacks() {
		return r, false
	}
	r = Request{Input: l.search, generation: l.generation, anew: !l.settled}
	first := 0
	switch {
	case !l.settled:
		r.Delay = l.delay
	case l.stale:
		r.Delay = refreshDelay
		fallthrough
	default:
		first = max(l.top-historyMargin, 0)
	}
	l.asked, l.stale = true, false
	r.Input.Offset, r.Input.Limit = first, l.top-first+max(l.height, 1)+historyMargin
	if r.anew {
		r.Input.Limit = max(l.height, 1) + historyMargin
	}
	return r, true
}

// lacks reports whether rows are missing, or soon will be as the list is
// scrolled.
func (l *List) lacks() bool {
	from, to := max(l.top-historyMargin/3, 0), min(l.top+l.height+historyMargin/3, l.total)
	return from < to && (from < l.first || to > l.first+len(l.rows))
}

// Take takes in the answer to a request; it reports whether it changes anything.
func (l *List) Take(r Request, out api.HistorySearchOutput) bool {
	if r.generation != l.generation {
		return false
	}
	was := l.at(l.cursor)
	l.asked, l.settled = false, true
	l.rows, l.first, l.total, l.missing = out.Rows, r.Input.Offset, out.Total, out.Missing
	if r.anew {
		l.cursor, l.top = 0, 0
		return true
	}
	if was != nil {
		l.goBack(was)
	}
	l.Move(0)
	return true
}

// Fail takes in that a request was in vain. The list asks again after Refresh.
func (l *List) Fail(r Request, err error) {
	if r.generation == l.generation {
		l.asked, l.err = false, err
	}
}

// goBack puts the cursor on the command that it was on.
func (l *List) goBack(was *api.HistoryRow) {
	for i := range l.rows {
		row := &l.rows[i]
		if runOf(row) == runOf(was) || l.search.Unique && row.Host == was.Host && row.Command.Command == was.Command.Command {
			by := l.first + i - l.cursor
			l.cursor += by
			if l.top > 0 { // at the top, newer rows push the others down
				l.top = max(l.top+by, 0)
			}
			return
		}
	}
}

// at is a row; nil if it is not held.
func (l *List) at(row int) *api.HistoryRow {
	if i := row - l.first; i >= 0 && i < len(l.rows) {
		return &l.rows[i]
	}
	return nil
}

// Selected is the row under the cursor; ok is false while there is none.
func (l *List) Selected() (row api.HistoryRow, ok bool) {
	if r := l.at(l.cursor); r != nil {
		return *r, true
	}
	return api.HistoryRow{}, false
}

// Move moves the cursor, as far as there are rows.
func (l *List) Move(by int) {
	l.cursor = max(min(l.cursor+by, l.total-1), 0)
	l.top = widget.Follow(l.top, l.cursor, l.total, l.height)
}

// Go puts the cursor on a row.
func (l *List) Go(row int) { l.Move(row - l.cursor) }

// First puts the cursor on the first row.
func (l *List) First() { l.Move(-l.cursor) }

// Page is how many rows a page has.
func (l *List) Page() int { return max(l.height-1, 1) }

// RowAt is the index of the row drawn at y, -1 for none.
func (l *List) RowAt(y int) int {
	if row := l.top + y - 1; y >= 1 && (y <= l.height || l.height == 0) && row < l.total {
		return row
	}
	return -1
}
