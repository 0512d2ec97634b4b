package panes

import (
	"time"

	"tandem/engine/api"
)

// Widths of the columns of the history, and the widths of the list from which
// on they are shown.
const (
	exitCells = 6 // at least; a row that was stopped takes more
	mostExit  = 9
	tookCells = 6
	agoCells  = 4
	runsCells = 5

	tookFrom   = 64
	folderFrom = 74
	runsFrom   = 92
	whoFrom    = 104

	mostWho     = 14
	leastFolder = 6
	historyLead = 3 // cursor, mark and a space
	historyGap  = 2
)

// historyColumns are the widths of the columns; 0 for one that is left out.
type historyColumns struct{ exit, took, command, runs, folder, who int }

// Draw gives h rows of w cells: the names of the columns and the commands. The
// slice is valid until the next call.
func (l *HistoryList) Draw(w, h int, now time.Time, look *Look) []string {
	l.out = l.out[:0]
	if h <= 0 {
		return l.out
	}
	l.height = h - 1
	l.follow(l.height)
	l.measure(w)
	l.out = append(l.out, l.drawHead(w, look))
	for i := l.top; len(l.out) < h; i++ {
		row := l.at(i)
		switch {
		case row != nil:
			l.out = append(l.out, l.drawRow(row, i == l.cursor, w, now, look))
		case i == 0 && l.settled && l.err == nil:
			l.out = append(l.out, look.Dim.Text(Fit("  nothing was found", w)))
		case i == 0 && l.err != nil:
			l.out = append(l.out, look.Bad.Text(Fit("  "+Clean(api.AsError(l.err).Message), w)))
		default:
			l.out = append(l.out, Spaces(w))
		}
	}
	return l.out
}

// measure gives columns their widths. They never get narrower as long as the
// list keeps its width, so that nothing jumps while it is scrolled.
func (l *HistoryList) measure(w int) {
	c := &l.columns
	if w != l.width {
		l.width, *c = w, historyColumns{}
	}
	mostFolder := min(w/4, 40)
	c.exit = max(c.exit, exitCells)
	if w >= tookFrom {
		c.took = tookCells
	}
	for i := l.top; i < l.top+l.height; i++ {
		row := l.at(i)
		if row == nil {
			continue
		}
		if row.Stopped && w >= tookFrom {
			c.exit = mostExit
		}
		if w >= folderFrom {
			c.folder = max(c.folder, min(Width(ShortPath(row.CWD, l.Home)), mostFolder), leastFolder)
		}
		if w >= whoFrom {
			c.who = max(c.who, min(Width(Who(row.Actor)), mostWho))
		}
	}
	c.runs = 0
	if w >= runsFrom && l.search.Unique {
		c.runs = runsCells
	}
	c.command = w - historyLead - c.exit - 1 - agoCells - historyGap - 1 // the last is the margin
	for _, cells := range []int{c.took, c.runs, c.folder, c.who} {
		if cells > 0 {
			c.command -= cells + historyGap
		}
	}
}

func (l *HistoryList) drawHead(w int, look *Look) string {
	c := &l.columns
	r := row{}
	r.add(Spaces(historyLead), "")
	r.add(Fit("exit", c.exit), look.Dim)
	if c.took > 0 {
		r.add(Spaces(historyGap)+padLeft("took", c.took), look.Dim)
	}
	r.add(Spaces(1)+padLeft("age", agoCells)+Spaces(historyGap), look.Dim)
	r.add(Fit("command", c.command), look.Dim)
	if c.runs > 0 {
		r.add(Spaces(historyGap)+padLeft("runs", c.runs), look.Dim)
	}
	if c.folder > 0 {
		r.add(Spaces(historyGap)+Fit("folder", c.folder), look.Dim)
	}
	if c.who > 0 {
		r.add(Spaces(historyGap)+Fit("who", c.who), look.Dim)
	}
	r.add(Spaces(w-r.cells), "")
	return r.text.String()
}

// drawRow draws a command. The row with the cursor is one colour.
func (l *HistoryList) drawRow(h *api.HistoryRow, cursor bool, w int, now time.Time, look *Look) string {
	c := &l.columns
	here, mark := " ", " "
	if cursor {
		here = look.Glyphs.Selected
	}
	if l.isMarked(h) {
		mark = look.Glyphs.Attached // a check mark would stand beside that of the exit status
	}
	r := row{plain: cursor && l.Focused}
	r.add(here, look.Accent)
	r.add(mark+" ", look.Warn)
	sign, words, ink := CommandStatus(&h.Command, l.Runs != nil && l.Runs(&h.Command), look)
	if h.Stopped && c.exit < mostExit {
		words = ""
	}
	r.add(Fit(sign+" "+words, c.exit), ink)
	if c.took > 0 {
		r.add(Spaces(historyGap)+padLeft(Took(h.DurationMS), c.took), look.Dim)
	}
	r.add(Spaces(1)+padLeft(Ago(now.Sub(h.StartedAt)), agoCells)+Spaces(historyGap), look.Dim)
	text := look.Text
	if cursor {
		text = look.Current
	}
	markText(h.Command.Command, h.Matched, look).draw(&r, c.command, text, look.Match, look)
	if c.runs > 0 {
		runs := ""
		if h.Runs > 1 {
			runs = "×" + itoa(h.Runs)
		}
		r.add(Spaces(historyGap)+padLeft(runs, c.runs), look.Dim)
	}
	if c.folder > 0 {
		r.add(Spaces(historyGap)+Pad(clipPath(ShortPath(h.CWD, l.Home), c.folder), c.folder), look.Dim)
	}
	if c.who > 0 {
		r.add(Spaces(historyGap)+Fit(Who(h.Actor), c.who), look.Dim)
	}
	r.add(Spaces(w-r.cells), "")
	if r.plain {
		return look.Selected.Text(r.text.String())
	}
	return r.text.String()
}

// mark adds text that a search has matched; it is told in a plain row too.
func (r *row) mark(text string, ink Ink) {
	if r.plain {
		const underline, noUnderline = "\x1b[4m", "\x1b[24m"
		r.text.WriteString(underline + text + noUnderline)
	} else {
		r.text.WriteString(ink.Text(text))
	}
	r.cells += Width(text)
}
