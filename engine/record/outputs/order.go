package outputs

import (
	"cmp"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
)

// Logs are searched in an order found again by the next call, which may be made after
// processes have started, exited or been deleted: a cursor names the last log, and continues with the
// next one if that log is gone. A process started or stopped since the search began would change its
// place in the order, and its log might be missed. Such logs come last, in the order of ids, so they
// may be searched a second time. After them comes the output kept of trimmed records. There may be
// a hundred thousand, so they are listed page by page.

// Groups of logs, in the order of a search.
const (
	groupRunning = iota
	groupExited
	groupChanged // started or exited since the search began
	groupKept    // without a record
)

// A Target is a session or process whose output to search.
type Target struct {
	Process api.Process
	Source  logs.Source
}

// A place is the log of one stream in the order of all.
type place struct {
	Target
	stream string
	group  int
	at     time.Time // start or exit, for the order
}

// listPlaces returns the logs from a cursor on, in order.
func listPlaces(targets []Target, c api.OutputCursor) (all []place) {
	for _, t := range targets {
		group, at := groupOf(t, c.Began)
		for _, stream := range t.Source.Streams() {
			p := place{t, stream, group, at}
			if c.ID == "" || p.compare(c) >= 0 {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return a.compare(b.cursor(c.Began, 0)) })
	return all
}

// groupOf returns the group of a process, and the time to order its logs by.
func groupOf(t Target, began time.Time) (group int, at time.Time) {
	p := t.Process
	if t.Source.Kept != nil {
		return groupKept, keptAt(p)
	}
	group, at = groupRunning, p.StartedAt
	if p.State.Ended() {
		group = groupExited
		if p.ExitedAt != nil {
			at = *p.ExitedAt
		}
	}
	if at.After(began) || p.StartedAt.After(began) {
		return groupChanged, time.Time{}
	}
	return group, at
}

// compare compares the place with that of a cursor. It is negative if the place comes first.
func (p place) compare(c api.OutputCursor) int {
	return cmp.Or(cmp.Compare(p.group, c.Group), c.At.Compare(p.at), cmp.Compare(p.Process.ID, c.ID), cmp.Compare(p.stream, c.Stream))
}

// cursor returns the cursor for the lines above an offset.
func (p place) cursor(began time.Time, offset int64) api.OutputCursor {
	return api.OutputCursor{Began: began, Group: p.group, At: p.at, ID: p.Process.ID, Stream: p.stream, Offset: offset}
}
