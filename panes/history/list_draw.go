package history

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Widths of the columns, and the minimum widths of a list that shows them.
const (
	minExitCells = 6 // a stopped run takes more
	maxExitCells = 9
	elapsedCells = 6
	agoCells     = 4
	runsCells    = 5

	minElapsedWidth = 64
	minFolderWidth  = 74
	minRunsWidth    = 92
	minWhoWidth     = 104

	maxWhoCells    = 14
	maxHostCells   = 12
	minHostCells   = 4
	minFolderCells = 6
	historyLead    = 3 // cursor, mark and a blank
	historyGap     = 2
)

// columns has the width of each column; 0 if it is hidden.
type columns struct{ exit, elapsed, host, command, runs, folder, who int }

// Draw returns h rows of w cells: the heading and the commands. The slice is valid until the next
// call.
func (l *List) Draw(w, h int, now time.Time, look *look.Look) []string {
	l.out = l.out[:0]
	if h <= 0 {
		return l.out
	}
	l.height = h - 1
	l.top = list.Follow(l.top, l.cursor, l.total, l.height)
	l.measureColumns(w)
	l.out = append(l.out, l.drawHead(w, look))
	for i := l.top; len(l.out) < h; i++ {
		row := l.findRow(i)
		switch {
		case row != nil:
			l.out = append(l.out, l.drawRow(row, i == l.cursor, w, now, look))
		case i == 0 && l.settled && l.err == nil:
			l.out = append(l.out, look.Dim.Text(text.Fit("  nothing found", w)))
		case i == 0 && l.err != nil:
			l.out = append(l.out, look.Bad.Text(text.Fit("  "+text.Clean(api.AsError(l.err).Message), w)))
		default:
			l.out = append(l.out, text.Spaces(w))
		}
	}
	list.Scrollbar(l.out[1:], w, l.top, l.total, look)
	return l.out
}

// measureColumns computes the columns' widths. They never get narrower while the list keeps its
// width, so that nothing jumps during scrolling.
func (l *List) measureColumns(w int) {
	c := &l.columns
	if w != l.width {
		// At another width, other columns are shown.
		l.width, *c = w, columns{}
	}
	maxFolder := min(w/4, 40)
	c.exit = max(c.exit, minExitCells)
	if w >= minElapsedWidth {
		c.elapsed = elapsedCells
	}
	for i := l.top; i < l.top+l.height; i++ {
		row := l.findRow(i)
		if row == nil {
			continue
		}
		if row.Stopped && w >= minElapsedWidth {
			c.exit = maxExitCells
		}
		if l.Hosts && w >= minElapsedWidth {
			c.host = max(c.host, min(text.Width(text.Clean(row.Host)), maxHostCells), minHostCells)
		}
		if w >= minFolderWidth {
			c.folder = max(c.folder, min(text.Width(text.ShortPath(row.CWD, l.Home)), maxFolder), minFolderCells)
		}
		if w >= minWhoWidth {
			c.who = max(c.who, min(text.Width(states.Who(row.Actor)), maxWhoCells))
		}
	}
	c.runs = 0
	if w >= minRunsWidth && l.search.Unique {
		c.runs = runsCells
	}
	c.command = w - historyLead - c.exit - 1 - agoCells - historyGap - 1 // the last 1 is the margin
	for _, cells := range []int{c.elapsed, c.host, c.runs, c.folder, c.who} {
		if cells > 0 {
			c.command -= cells + historyGap
		}
	}
}

func (l *List) drawHead(w int, look *look.Look) string {
	c := &l.columns
	r := list.Row{}
	r.Add(text.Spaces(historyLead)+text.Fit("exit", c.exit), look.Dim)
	addCell(&r, c.elapsed, text.PadLeft("took", c.elapsed), look.Dim)
	r.Add(" "+text.PadLeft("age", agoCells), look.Dim)
	addCell(&r, c.host, text.Fit("host", c.host), look.Dim)
	addCell(&r, c.command, text.Fit("command", c.command), look.Dim)
	addCell(&r, c.runs, text.PadLeft("runs", c.runs), look.Dim)
	addCell(&r, c.folder, text.Fit("folder", c.folder), look.Dim)
	addCell(&r, c.who, text.Fit("who", c.who), look.Dim)
	return r.Finish(w, look)
}

// addCell adds the text of a column to a row, unless the column is hidden.
func addCell(r *list.Row, cells int, s string, ink look.Ink) {
	if cells > 0 {
		r.Add(text.Spaces(historyGap)+s, ink)
	}
}

// drawRow draws the row of a command. The row under the cursor has a single color.
func (l *List) drawRow(h *api.HistoryRow, cursor bool, w int, now time.Time, look *look.Look) string {
	c := &l.columns
	here, mark := " ", " "
	if cursor {
		here = look.Glyphs.Selected
	}
	if l.isMarked(h) {
		mark = look.Glyphs.Attached // a check mark would look like an exit status
	}
	r := list.Row{Plain: cursor && l.Focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	sign, words, ink := states.CommandStatus(&h.Command, l.IsRunning != nil && l.IsRunning(&h.Command), look)
	if h.Stopped && c.exit < maxExitCells {
		words = ""
	}
	r.Add(text.Fit(sign+" "+words, c.exit), ink)
	addCell(&r, c.elapsed, text.PadLeft(units.Elapsed(h.DurationMS), c.elapsed), look.Dim)
	r.Add(" "+text.PadLeft(units.Ago(now.Sub(h.StartedAt)), agoCells), look.Dim)
	addCell(&r, c.host, text.Fit(text.Clean(h.Host), c.host), look.Dim)
	r.Add(text.Spaces(historyGap), "")
	textInk := look.Text
	if cursor {
		textInk = look.Current
	}
	list.MarkText(h.Command.Command, h.Matched, look).Draw(&r, c.command, textInk, look.Match, look)
	runs := ""
	if h.Runs > 1 {
		runs = "×" + text.Itoa(h.Runs)
	}
	addCell(&r, c.runs, text.PadLeft(runs, c.runs), look.Dim)
	addCell(&r, c.folder, text.Pad(text.ClipPath(text.ShortPath(h.CWD, l.Home), c.folder), c.folder), look.Dim)
	addCell(&r, c.who, text.Fit(states.Who(h.Actor), c.who), look.Dim)
	return r.Finish(w, look)
}
