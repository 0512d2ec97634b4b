package history

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"charm.land/bubbles/v2/viewport"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
	"tandem/panes/states"
)

// A Detail shows one command: how the run under the cursor went, the other runs of the same command
// line, and the end of the run's output.
type Detail struct {
	Focused bool
	Home    string // shown as "~"
	// IsRunning reports whether a command without an exit status is still running.
	IsRunning func(*api.Command) bool

	row       api.HistoryRow
	shown     bool // there is a row
	requested bool // more has been requested for row
	known     bool // the answer has arrived
	runs      []api.HistoryRow
	total     int
	output    []logtext.Line
	note      string // replaces output

	view      viewport.Model // of the output
	rows      []string       // of the output, wrapped and drawn
	firstRows []int          // of each line
	drawnFor  drawKey
	scrolled  bool // away from the end of the output
	search    outputSearch
	out       []string
}

// A drawKey has everything on which the drawn rows of an output depend.
type drawKey struct {
	w, search int
	ink       look.Ink
}

// An Output is the end of the output of a run.
type Output struct {
	Text     string
	Terminal bool   // output of a terminal
	Cut      bool   // its beginning is missing
	Note     string // why there is none
}

// ShowRow shows the details of a row. If the row shows the same run as before, the old details stay
// until the new ones arrive.
func (d *Detail) ShowRow(row api.HistoryRow) {
	same := d.shown && runIDOf(&row) == runIDOf(&d.row) && row.Runs == d.row.Runs && row.DurationMS == d.row.DurationMS && row.LogEnd == d.row.LogEnd
	if row.Command.Command != d.row.Command.Command || runIDOf(&row) != runIDOf(&d.row) {
		// Another run: nothing of the old details applies.
		d.runs, d.total, d.output, d.note, d.rows, d.scrolled, d.known = nil, 0, nil, "", nil, false, false
		d.search = outputSearch{serial: d.search.serial + 1}
	}
	d.row, d.shown = row, true
	if !same {
		d.requested = false
	}
}

// Hide shows nothing.
func (d *Detail) Hide() {
	*d = Detail{Focused: d.Focused, Home: d.Home, IsRunning: d.IsRunning}
}

// Reload loads the details again. The old ones stay until the new ones arrive.
func (d *Detail) Reload() { d.requested = false }

// NextRow returns the row whose details must be loaded; ok is false if there is none. It returns a
// row only once.
func (d *Detail) NextRow() (row api.HistoryRow, ok bool) {
	if !d.shown || d.requested {
		return row, false
	}
	d.requested = true
	return d.row, true
}

// StoreRuns stores the runs and the output of the command in row, unless another row is shown by
// now.
func (d *Detail) StoreRuns(row *api.HistoryRow, runs api.HistorySearchOutput, out Output) {
	if !d.shown || runIDOf(&d.row) != runIDOf(row) {
		return
	}
	d.runs, d.total, d.known = runs.Rows, runs.Total, true
	d.output, d.note, d.rows = parseOutput(out), out.Note, nil
	// The output may have grown since the search.
	d.search.lines = d.matchingLines(d.search.re)
	d.search.current = max(min(d.search.current, len(d.search.lines)-1), 0)
	switch {
	case d.note != "" || len(d.output) > 0:
	case out.Terminal && strings.Contains(out.Text, enterAltScreen):
		d.note = "full-screen program; no text to show"
	default:
		d.note = "no output"
	}
}

// enterAltScreen enters the alternate screen; output with it cannot be shown as lines.
const enterAltScreen = "\x1b[?1049h"

// parseOutput parses output into lines, without blank ones at both ends.
func parseOutput(out Output) []logtext.Line {
	text := strings.Trim(out.Text, "\r\n")
	if out.Cut {
		// The first line is incomplete.
		_, text, _ = strings.Cut(text, "\n")
	}
	if out.Terminal && strings.Contains(text, enterAltScreen) {
		return nil
	}
	var lines []logtext.Line
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, logtext.ReadLine(line, out.Terminal))
	}
	blank := func(t logtext.Line) bool { return strings.TrimSpace(t.Plain()) == "" }
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	return lines
}

// Total returns how often a row's command was run; 0 if that is unknown.
func (d *Detail) Total(of *api.HistoryRow) int {
	if d.shown && runIDOf(&d.row) == runIDOf(of) && d.known {
		return d.total
	}
	return 0
}

// Scroll scrolls the output by rows, up if negative.
func (d *Detail) Scroll(rows int) {
	d.view.ScrollUp(max(-rows, 0))
	d.view.ScrollDown(max(rows, 0))
	d.scrolled = !d.view.AtBottom()
}

func (d *Detail) PageRows() int { return max(d.view.Height()-1, 1) }

// minSideBySide is the minimum width of a detail that shows the output beside the rest instead of
// below it.
const minSideBySide = 96

// splitColumn returns the column of the rule between the command and its output; 0 if the output is
// below the command.
func (d *Detail) splitColumn(w, h int) int {
	if d.shown && w >= minSideBySide && h < 2*w/5 {
		return w*2/5 - 1
	}
	return 0
}

// Draw returns h rows of w cells. The slice is valid until the next call.
func (d *Detail) Draw(w, h int, now time.Time, look *look.Look) []string {
	d.out = d.out[:0]
	switch left := d.splitColumn(w, h); {
	case !d.shown || h <= 0:
	case left > 0:
		about := d.drawAbout(left, h, now, look)
		output := d.drawOutput(w-left-3, h, look)
		for i := range h {
			row := text.Spaces(left)
			if i < len(about) {
				row = about[i]
			}
			d.out = append(d.out, row+look.Rule.Text("│")+" "+output[i]+" ")
		}
	default:
		d.out = append(d.out, d.drawAbout(w, max(h*3/5, min(h-1, 3)), now, look)...)
		if rest := h - len(d.out); rest > 1 {
			d.out = append(d.out, look.Heading("output", "", w, false))
			for _, row := range d.drawOutput(w-2, rest-1, look) {
				d.out = append(d.out, " "+row+" ")
			}
		}
	}
	d.out = text.PadRows(d.out, w, h)
	return d.out
}

// drawAbout draws at most h rows of w cells that describe the command and its runs.
func (d *Detail) drawAbout(w, h int, now time.Time, style *look.Look) []string {
	room := max(w-2, 1)
	var rows []string
	add := func(s string, ink look.Ink) { rows = append(rows, " "+ink.Text(text.Fit(s, room))+" ") }
	lines := commandLines(d.row.Command.Command, room)
	if maxLines := max(h/3, 1); len(lines) > maxLines {
		more := len(lines) - maxLines
		lines = lines[:maxLines]
		lines[maxLines-1] = text.Clip(lines[maxLines-1], max(room-14, 1)) + " … +" + text.Itoa(more) + " lines"
	}
	for _, line := range lines {
		add(line, style.Strong)
	}
	rows = append(rows, d.drawStatus(room, now, style))
	add(d.whereText(room), style.Dim)
	if len(rows) > h {
		return rows[:h]
	}
	rest := h - len(rows)
	if d.total < 2 || rest < 2 {
		return rows
	}
	title := text.Itoa(d.total) + " runs"
	if failed := d.failureText(); failed != "" {
		title += ", " + failed
	}
	if rest > 5 {
		rows = append(rows, text.Spaces(w))
		rest--
	}
	add(title, style.Dim)
	for i := range min(len(d.runs), rest-1) {
		rows = append(rows, d.drawRun(&d.runs[i], room, now, style))
	}
	return rows
}

// commandLines breaks a command into lines of at most w cells.
func commandLines(command string, w int) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(command, "\n"), "\n") {
		line = strings.TrimLeftFunc(text.CleanText(line), unicode.IsMark) // a leading mark would join the cell before it
		lines = append(lines, text.Fold(line, w)...)
	}
	return lines
}

// failureText says how many of the known runs have failed.
func (d *Detail) failureText() string {
	n := 0
	for i := range d.runs {
		if c := &d.runs[i]; !c.Stopped && (c.ExitSignal != "" || c.ExitCode != nil && *c.ExitCode != 0) {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case d.total > len(d.runs):
		return text.Itoa(n) + " of the last " + text.Itoa(len(d.runs)) + " failed"
	}
	return text.Itoa(n) + " failed"
}

// hasStopped reports whether someone stopped one of the runs.
func (d *Detail) hasStopped() bool {
	return slices.ContainsFunc(d.runs, func(r api.HistoryRow) bool { return r.Stopped })
}

// drawStatus draws how the run went.
func (d *Detail) drawStatus(w int, now time.Time, look *look.Look) string {
	c := &d.row.Command
	running := d.IsRunning != nil && d.IsRunning(c)
	sign, words, ink := states.CommandStatus(c, running, look)
	switch {
	case c.Stopped:
		words += stopText(c)
	case c.ExitSignal != "":
		words = "terminated by SIG" + words
	case c.ExitCode != nil:
		words = "exit " + strconv.Itoa(*c.ExitCode)
	case running:
		words = "running"
	default:
		sign, words = look.Glyphs.Unknown, "exit unknown"
	}
	facts := ""
	if elapsed := units.Elapsed(c.DurationMS); elapsed != "" {
		facts += " · took " + elapsed
	}
	facts += " · " + whenText(c.StartedAt, now)
	r := list.Row{}
	r.Add(" ", "")
	status := text.Clip(sign+" "+words, w)
	r.Add(status, ink)
	r.Add(text.Clip(facts, w-text.Width(status)), look.Dim)
	return r.Finish(w+2, look)
}

// stopText describes the exit of a run that someone stopped.
func stopText(c *api.Command) string {
	switch {
	case c.ExitSignal != "":
		return " by " + text.Clean(c.ExitSignal)
	case c.ExitCode != nil:
		return ", exit " + strconv.Itoa(*c.ExitCode)
	}
	return ""
}

// whenText returns a time in words.
func whenText(at, now time.Time) string {
	at = at.Local()
	clock := at.Format("15:04:05")
	switch days := daysBetween(at, now.Local()); {
	case days == 0:
		return clock
	case days == 1:
		return "yesterday " + clock
	case days > 1 && days < 300:
		return at.Format("Mon 2 Jan ") + clock
	}
	return at.Format("2 Jan 2006 ") + clock
}

// daysBetween returns the number of midnights between two times of one zone.
func daysBetween(a, b time.Time) int {
	day := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(day(b).Sub(day(a)) / (24 * time.Hour))
}

// whereText returns the directory of a run, and who started the run.
func (d *Detail) whereText(w int) string {
	c := &d.row.Command
	by := "by " + states.WhoFrom(c.Actor, c.From)
	if c.Host != "" {
		by += " on " + text.Clean(c.Host)
	}
	switch c.Kind {
	case "session":
		by += ", typed"
	case "exec":
		by += ", one command"
	case "process":
		by += ", in the background"
	case "added":
		by += ", added"
	}
	if c.CWD == "" {
		return by
	}
	where := "in "
	return where + text.ClipLeft(text.ShortPath(c.CWD, d.Home), max(w-text.Width(by)-text.Width(where)-3, 8)) + " · " + by
}

func (d *Detail) drawRun(h *api.HistoryRow, w int, now time.Time, look *look.Look) string {
	r := list.Row{}
	r.Add(" ", "")
	sign, words, ink := states.CommandStatus(&h.Command, d.IsRunning != nil && d.IsRunning(&h.Command), look)
	exit := minExitCells
	if d.hasStopped() {
		exit = maxExitCells
	}
	r.Add(text.Fit(sign+" "+words, min(exit, w)), ink)
	if w < exit+elapsedCells+agoCells+2 {
		return r.Finish(w+2, look)
	}
	r.Add(text.PadLeft(units.Elapsed(h.DurationMS), elapsedCells+1)+text.PadLeft(units.Ago(now.Sub(h.StartedAt)), agoCells+1), look.Dim)
	who := ""
	if h.Actor != d.row.Actor {
		who = "  " + text.Clip(states.Who(h.Actor), maxWhoCells)
	}
	if room := w + 1 - r.Cells - text.Width(who) - 2; room > 4 {
		r.Add("  "+text.ClipLeft(text.ShortPath(h.CWD, d.Home), room), look.Dim)
		r.Add(who, look.Dim)
	}
	return r.Finish(w+2, look)
}

// drawOutput draws h rows of w cells with the end of the output, unless the user has scrolled.
func (d *Detail) drawOutput(w, h int, look *look.Look) []string {
	rows := make([]string, 0, h)
	if w <= 0 {
		return append(rows, make([]string, h)...)
	}
	if d.note != "" || len(d.output) == 0 {
		d.view = viewport.Model{}
		rows = append(rows, look.Dim.Text(text.Fit(d.note, w)))
	} else {
		d.wrapOutput(w, h, look)
		first := d.view.YOffset()
		rows = append(rows, d.rows[first:min(first+h, len(d.rows))]...)
	}
	return text.PadRows(rows, w, h)[:h]
}

// wrapOutput wraps and draws the output, with h rows visible.
func (d *Detail) wrapOutput(w, h int, look *look.Look) {
	// Fast path: wrap again only if the width, the matches or the colors have changed.
	if of := (drawKey{w, d.search.serial, look.Faint}); d.rows == nil || d.drawnFor != of {
		d.rows, d.firstRows, d.drawnFor = nil, nil, of
		for i := range d.output {
			d.firstRows = append(d.firstRows, len(d.rows))
			marks := d.textMarks(i, look)
			breaks := append(d.output[i].Wrap(w), d.output[i].Cells+w)
			for j, from := range breaks[:len(breaks)-1] {
				draw := logtext.LineDrawing{From: from, To: min(breaks[j+1], from+w), Look: look}
				draw.Draw(&d.output[i], marks)
				d.rows = append(d.rows, string(draw.Dst)+text.Spaces(w-draw.Used))
			}
		}
		// The zero viewport has no settings yet.
		if d.view.Height() == 0 {
			d.view = viewport.New()
		}
		d.view.SetContentLines(d.rows)
	}
	d.view.SetHeight(h)
	if !d.scrolled {
		d.view.GotoBottom()
	}
}

// DrawHeading draws the row above the detail. It names the position in the output: the current
// match, or how far the user has scrolled up. w is the width of the row, and h the height of the
// detail below it.
func (d *Detail) DrawHeading(w, h int, look *look.Look) string {
	position := ""
	if at, n := d.MatchNumber(); n > 0 {
		position = "match " + text.Itoa(at) + " of " + text.Itoa(n)
	} else if n := len(d.rows) - d.view.YOffset() - d.view.Height(); d.scrolled && n > 0 {
		position = text.Itoa(n) + " rows up"
	}
	left := d.splitColumn(w, h)
	if left == 0 { // the output is below the details
		return look.Heading("details", position, w, d.Focused)
	}
	return look.Heading("details", "", left, d.Focused) + look.Edge("┬", d.Focused) + look.Heading("output", position, w-left-1, d.Focused)
}
