package history

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/widget"
)

// Widths of the columns of the history, and the widths of the list from which
// on they are shown.
const (
	exitCells    = 6 // at least; a row that was stopped takes more
	mostExit     = 9
	elapsedCells = 6
	agoCells     = 4
	runsCells    = 5

	elapsedFrom = 64
	folderFrom  = 74
	runsFrom    = 92
	whoFrom     = 104

	mostWho     = 14
	mostHost    = 12
	leastHost   = 4
	leastFolder = 6
	historyLead = 3 // cursor, mark and a space
	historyGap  = 2
)

// columns are the widths of the columns; 0 for one that is left out.
type columns struct{ exit, elapsed, host, command, runs, folder, who int }

// Draw gives h rows of w cells: the names of the columns and the commands. The
// slice is valid until the next call.
func (l *List) Draw(w, h int, now time.Time, look *widget.Look) []string {
	l.out = l.out[:0]
	if h <= 0 {
		return l.out
	}
	l.height = h - 1
	l.top = widget.Follow(l.top, l.cursor, l.total, l.height)
	l.measure(w)
	l.out = append(l.out, l.drawHead(w, look))
	for i := l.top; len(l.out) < h; i++ {
		row := l.at(i)
		switch {
		case row != nil:
			l.out = append(l.out, l.drawRow(row, i == l.cursor, w, now, look))
		case i == 0 && l.settled && l.err == nil:
			l.out = append(l.out, look.Dim.Text(widget.Fit("  nothing found", w)))
		case i == 0 && l.err != nil:
			l.out = append(l.out, look.Bad.Text(widget.Fit("  "+widget.Clean(api.AsError(l.err).Message), w)))
		default:
			l.out = append(l.out, widget.Spaces(w))
		}
	}
	widget.Scrollbar(l.out[1:], w, l.top, l.total, look)
	return l.out
}

// measure gives columns their widths. They never get narrower as long as the
// list keeps its width, so that nothing jumps while it is scrolled.
func (l *List) measure(w int) {
	c := &l.columns
	if w != l.width {
		l.width, *c = w, columns{}
	}
	mostFolder := min(w/4, 40)
	c.exit = max(c.exit, exitCells)
	if w >= elapsedFrom {
		c.elapsed = elapsedCells
	}
	for i := l.top; i < l.top+l.height; i++ {
		row := l.at(i)
		if row == nil {
			continue
		}
		if row.Stopped && w >= elapsedFrom {
			c.exit = mostExit
		}
		if l.Hosts && w >= elapsedFrom {
			c.host = max(c.host, min(widget.Width(widget.Clean(row.Host)), mostHost), leastHost)
		}
		if w >= folderFrom {
			c.folder = max(c.folder, min(widget.Width(widget.ShortPath(row.CWD, l.Home)), mostFolder), leastFolder)
		}
		if w >= whoFrom {
			c.who = max(c.who, min(widget.Width(widget.Who(row.Actor)), mostWho))
		}
	}
	c.runs = 0
	if w >= runsFrom && l.search.Unique {
		c.runs = runsCells
	}
	c.command = w - historyLead - c.exit - 1 - agoCells - historyGap - 1 // the last is the margin
	for _, cells := range []int{c.elapsed, c.host, c.runs, c.folder, c.who} {
		if cells > 0 {
			c.command -= cells + historyGap
		}
	}
}

func (l *List) drawHead(w int, look *widget.Look) string {
	c := &l.columns
	r := widget.Row{}
	r.Add(widget.Spaces(historyLead)+widget.Fit("exit", c.exit), look.Dim)
	addCell(&r, c.elapsed, widget.PadLeft("took", c.elapsed), look.Dim)
	r.Add(" "+widget.PadLeft("age", agoCells), look.Dim)
	addCell(&r, c.host, widget.Fit("host", c.host), look.Dim)
	addCell(&r, c.command, widget.Fit("command", c.command), look.Dim)
	addCell(&r, c.runs, widget.PadLeft("runs", c.runs), look.Dim)
	addCell(&r, c.folder, widget.Fit("folder", c.folder), look.Dim)
	addCell(&r, c.who, widget.Fit("who", c.who), look.Dim)
	r.Add(widget.Spaces(w-r.Cells), "")
	return r.Text.String()
}

// addCell adds a cell of a column, if that is shown.
func addCell(r *widget.Row, cells int, text string, ink widget.Ink) {
	if cells > 0 {
		r.Add(widget.Spaces(historyGap)+text, ink)
	}
}

// drawRow draws a command. The row with the cursor is one colour.
func (l *List) drawRow(h *api.HistoryRow, cursor bool, w int, now time.Time, look *widget.Look) string {
	c := &l.columns
	here, mark := " ", " "
	if cursor {
		here = look.Glyphs.Selected
	}
	if l.isMarked(h) {
		mark = look.Glyphs.Attached // a check mark would stand beside that of the exit status
	}
	r := widget.Row{Plain: cursor && l.Focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	sign, words, ink := widget.CommandStatus(&h.Command, l.Runs != nil && l.Runs(&h.Command), look)
	if h.Stopped && c.exit < mostExit {
		words = ""
	}
	r.Add(widget.Fit(sign+" "+words, c.exit), ink)
	addCell(&r, c.elapsed, widget.PadLeft(units.Elapsed(h.DurationMS), c.elapsed), look.Dim)
	r.Add(" "+widget.PadLeft(units.Ago(now.Sub(h.StartedAt)), agoCells), look.Dim)
	addCell(&r, c.host, widget.Fit(widget.Clean(h.Host), c.host), look.Dim)
	r.Add(widget.Spaces(historyGap), "")
	text := look.Text
	if cursor {
		text = look.Current
	}
	widget.MarkText(h.Command.Command, h.Matched, look).Draw(&r, c.command, text, look.Match, look)
	runs := ""
	if h.Runs > 1 {
		runs = "×" + widget.Itoa(h.Runs)
	}
	addCell(&r, c.runs, widget.PadLeft(runs, c.runs), look.Dim)
	addCell(&r, c.folder, widget.Pad(widget.ClipPath(widget.ShortPath(h.CWD, l.Home), c.folder), c.folder), look.Dim)
	addCell(&r, c.who, widget.Fit(widget.Who(h.Actor), c.who), look.Dim)
	r.Add(widget.Spaces(w-r.Cells), "")
	if r.Plain {
		return look.Selected.Text(r.Text.String())
	}
	return r.Text.String()
}
