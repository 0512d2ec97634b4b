package processes

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// knownRuns returns the runs of a process, oldest first. The engine may have dropped early ones.
func knownRuns(p *api.Process) []api.ProcessRun {
	if p.Supervision != nil && len(p.Supervision.Runs) > 0 {
		return p.Supervision.Runs
	}
	if p.StartedAt.IsZero() {
		return nil
	}
	return []api.ProcessRun{{StartedAt: p.StartedAt, EndedAt: p.ExitedAt, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal}}
}

// drawTimeline draws the runs and exits of a process in a row of w cells. The first known run
// begins on the left; the right end is now.
func drawTimeline(p *api.Process, w int, now time.Time, look *look.Look) string {
	all := knownRuns(p)
	if len(all) == 0 || w < 20 {
		return text.Spaces(max(w, 0))
	}
	from := all[0].StartedAt
	span := max(now.Sub(from), time.Second)
	name, since := "runs ", " "+units.Age(span)+" ago to now"
	cells := w - text.Width(name) - text.Width(since)
	if cells < 10 {
		since = ""
		cells = w - text.Width(name)
	}
	row := make([]runCell, cells)
	at := func(t time.Time) int {
		return max(min(int(float64(t.Sub(from))/float64(span)*float64(cells)), cells-1), 0)
	}
	for i := range all {
		drawRun(row, &all[i], at, now)
		// A run does not say whether it was stopped. That is known only for the last run, from the
		// state of the process.
		if end := all[i].EndedAt; end != nil && i == len(all)-1 && p.State == api.StateStopped {
			row[at(*end)] = runStopped
		}
	}
	var b strings.Builder
	for i := 0; i < cells; {
		j := i + 1
		for j < cells && row[j] == row[i] {
			j++
		}
		text, ink := row[i].glyph(look)
		b.WriteString(ink.Text(strings.Repeat(text, j-i)))
		i = j
	}
	return look.Dim.Text(name) + b.String() + look.Faint.Text(since)
}

// A runCell is a symbol of a timeline. If several fall on one cell, the one with the largest value
// is drawn.
type runCell int

const (
	runNothing runCell = iota
	runGoing
	runEnded   // with success
	runStopped // by a user's request
	runFailed  // with a status, a signal or in an unknown way
)

func (c runCell) glyph(look *look.Look) (string, look.Ink) {
	switch c {
	case runGoing:
		return "─", look.Good
	case runEnded:
		return look.Glyphs.Exited, look.Dim
	case runStopped:
		return look.Glyphs.Stopped, look.Dim
	case runFailed:
		return look.Glyphs.Failed, look.Bad
	}
	return " ", look.Faint
}

// drawRun draws a run and its exit. Another run does not hide the exit.
func drawRun(row []runCell, run *api.ProcessRun, at func(time.Time) int, now time.Time) {
	end := now
	if run.EndedAt != nil {
		end = *run.EndedAt
	}
	for i := at(run.StartedAt); i <= at(end); i++ {
		row[i] = max(row[i], runGoing)
	}
	switch {
	case run.EndedAt == nil:
	case run.ExitCode != nil && *run.ExitCode == 0:
		row[at(end)] = max(row[at(end)], runEnded)
	default:
		row[at(end)] = runFailed
	}
}
