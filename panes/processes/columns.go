package processes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A columnKind describes a column.
type columnKind struct {
	column   column
	head     string
	right    bool
	usual    int // cells for usual values, which decide whether the column fits
	maxCells int // maximum width
	rank     int // columns of a high rank are dropped first; those of rank 0 stay
	text     func(p *api.Process, now time.Time) string
}

// plainCell adapts a function whose text does not depend on the time.
func plainCell(text func(*api.Process) string) func(*api.Process, time.Time) string {
	return func(p *api.Process, _ time.Time) string { return text(p) }
}

// columnKinds returns all columns except the command, for a table of w cells.
func columnKinds(w int) []columnKind {
	name, state := 28, 24
	if w < minSparkWidth {
		name, state = 16, 18
	}
	return []columnKind{
		{columnName, "name", false, 12, name, 0, plainCell(func(p *api.Process) string { return text.Clean(p.Name) })},
		{columnHost, "host", false, 8, 16, 0, plainCell(hostText)},
		{columnState, "state", false, 16, state, 0, states.StateWords},
		{columnPID, "pid", true, 7, 7, 7, plainCell(pidText)},
		{columnCPU, "cpu%", true, 5, 6, 1, plainCell(cpuText)},
		{columnMemory, "mem", true, 5, 5, 2, plainCell(memoryText)},
		{columnUp, "up", true, 5, 6, 3, upText},
		{columnRestarts, "rst", true, 4, 5, 6, plainCell(restartsText)},
		{columnPorts, "ports", true, 6, 17, 5, plainCell(portsText)},
		{columnWho, "who", false, 8, 24, 8, plainCell(func(p *api.Process) string { return states.WhoFrom(p.Actor, p.From) })},
	}
}

const (
	leadCells       = 7 // cursor, mark, state, kind and the gaps between them
	columnGap       = 2
	sparkCells      = 6
	sparkStep       = 5 * time.Second
	minSparkWidth   = 100 // width of a table from which it has sparklines
	minCommandCells = 20  // width that the command has at least
	positionCells   = 7   // width of the position in the heading row
)

// A placedColumn is a column with its position.
type placedColumn struct {
	columnKind
	x, w int
}

// columns are the columns of a table, as drawn last.
type columns struct {
	width  int              // of the table
	widths [columnCount]int // of the widest cells drawn at this width
	placed []placedColumn
}

func (c *columns) resetWidths() { c.widths = [columnCount]int{} }

// measure computes the widths of columns from the rows on the screen. w is the width of the table;
// as long as it stays the same, no column gets narrower, so that nothing jumps during scrolling.
func (c *columns) measure(kinds []columnKind, rows []tableRow, w int, now time.Time) {
	if w != c.width {
		c.width = w
		c.resetWidths()
	}
	for i := range kinds {
		k := &kinds[i]
		cells := max(c.widths[k.column], min(k.usual, k.maxCells), text.Width(k.head)+1)
		for _, row := range rows {
			cell := ""
			if row.process != nil {
				cell = k.text(row.process, now)
			} else if k.column == columnName {
				cell = row.project.name()
			}
			cells = max(cells, min(text.Width(cell), k.maxCells))
		}
		c.widths[k.column] = cells
	}
}

// choose returns the columns that fit beside the command, all in their usual widths. It ignores
// what the rows contain, so that columns do not come and go.
func (c *columns) choose(kinds []columnKind, sorted column) []columnKind {
	for {
		used, last := leadCells+minCommandCells, -1
		for i, k := range kinds {
			used += k.usual + c.sparkWidth(k) + columnGap
			if k.column != sorted && k.rank > 0 && (last < 0 || k.rank > kinds[last].rank) {
				last = i
			}
		}
		if used <= c.width || last < 0 {
			return kinds
		}
		kinds = slices.Delete(kinds, last, last+1)
	}
}

// fit narrows the columns that are wider than usual until the command column has its minimum width.
func (c *columns) fit(kinds []columnKind) {
	used := leadCells + minCommandCells
	for _, k := range kinds {
		used += c.widthOf(k) + columnGap
	}
	for used > c.width {
		widest := -1
		for i, k := range kinds {
			if over := c.widths[k.column] - k.usual; over > 0 && (widest < 0 || over > c.widths[kinds[widest].column]-kinds[widest].usual) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		c.widths[kinds[widest].column]--
		used--
	}
}

// place sets the positions of the columns. The command column gets the rest of the width, without
// the scrollbar. A very narrow table has no room for that column.
func (c *columns) place(kinds []columnKind, scrollbar int) {
	for len(kinds) > 1 {
		used := leadCells + positionCells - columnGap
		for _, k := range kinds {
			used += c.widthOf(k) + columnGap
		}
		if used <= c.width {
			break
		}
		kinds = kinds[:len(kinds)-1]
	}
	c.placed = c.placed[:0]
	x := leadCells
	for _, k := range kinds {
		cells := min(c.widthOf(k), max(c.width-x, 0))
		c.placed = append(c.placed, placedColumn{k, x, cells})
		x += cells + columnGap
	}
	if rest := c.width - scrollbar - x; rest >= minCommandCells/2 {
		command := columnKind{column: columnCommand, head: "command", text: plainCell(states.CommandText)}
		c.placed = append(c.placed, placedColumn{command, x, rest})
	}
}

func (c *columns) widthOf(k columnKind) int { return c.widths[k.column] + c.sparkWidth(k) }

// sparkWidth returns the width of the sparkline in a column; 0 if it has none.
func (c *columns) sparkWidth(k columnKind) int {
	if k.column == columnCPU && c.width >= minSparkWidth {
		return 1 + sparkCells
	}
	return 0
}

// find returns the position of a column; nil if the column is not drawn.
func (c *columns) find(wanted column) *placedColumn {
	i := slices.IndexFunc(c.placed, func(p placedColumn) bool { return p.column == wanted })
	if i < 0 {
		return nil
	}
	return &c.placed[i]
}

// after returns the next drawn column after current, to sort by. After the last one it returns the
// state.
func (c *columns) after(current column) column {
	for _, p := range c.placed {
		if p.column > current {
			return p.column
		}
	}
	return columnState
}

// at returns the column at x of the heading row.
func (c *columns) at(x int) (column, bool) {
	if x < leadCells {
		return columnState, true
	}
	for _, p := range c.placed {
		if x >= p.x && x < p.x+p.w {
			return p.column, true
		}
	}
	return 0, false
}

// idleCells returns the range of columns that are empty because a process does not run; to is less
// than from if there are none. If there is no command column, the reason why the process does not
// run is drawn across them.
func (c *columns) idleCells(p *api.Process, now time.Time) (from, to int) {
	from, to = len(c.placed), -1
	if p.PID != 0 || !p.Failed() && p.State != api.StateBackoff && p.State != api.StateWaiting {
		return from, to
	}
	for i := range c.placed {
		switch one := &c.placed[i]; one.column {
		case columnState:
			if text.Width(states.StateWords(p, now)) > one.w {
				from, to = i, i
			}
		case columnPID, columnCPU, columnMemory, columnUp:
			from, to = min(from, i), i
		case columnCommand:
			return len(c.placed), -1
		}
	}
	return from, to
}

func (c *columns) drawCells(r *list.Row, p *api.Process, cursor bool, now time.Time, look *look.Look) {
	from, to := c.idleCells(p, now)
	for i := range c.placed {
		switch one := &c.placed[i]; {
		case i == from:
			span := c.placed[to].x + c.placed[to].w - one.x
			if to == len(c.placed)-1 {
				span = c.width - 1 - one.x
			}
			r.Add(text.Spaces(one.x-r.Cells), "")
			if reason := c.reasonText(p, now); reason != "" {
				r.AddKept(text.Fit(reason, span), states.StateInk(states.InCrashLoop(p, now), look), look.Selected)
				continue
			}
			r.Add(text.Fit(states.CommandText(p), span), look.Dim)
		case i < from || i > to:
			c.drawCell(r, p, one, cursor, now, look)
		}
	}
}

// minCommandPrefix is how many cells of the command are kept before the reason of a failure, if
// there is room for both.
const minCommandPrefix = 12

// drawCommand draws the command of a process and, if it is not running, the reason.
func (c *columns) drawCommand(r *list.Row, p *api.Process, w int, now time.Time, look *look.Look) {
	reason, ink := c.reasonText(p, now), states.StateInk(states.InCrashLoop(p, now), look)
	command := states.CommandText(p)
	if reason == "" {
		r.Add(text.Fit(command, w), look.Dim)
		return
	}
	if w < 2*minCommandCells {
		r.AddKept(text.Fit(reason, w), ink, look.Selected)
		return
	}
	command = text.Clip(command, max(w-text.Width(reason)-columnGap, minCommandPrefix))
	r.Add(command, look.Dim)
	r.AddKept(text.Fit(text.Spaces(columnGap)+reason, w-text.Width(command)), ink, look.Selected)
}

// reasonText returns why a process is not running. It leaves out what the state column says
// already.
func (c *columns) reasonText(p *api.Process, now time.Time) string {
	if state := c.find(columnState); state != nil && text.Width(states.StateWords(p, now)) <= state.w {
		return states.BesideState(states.InCrashLoop(p, now))
	}
	return states.Reason(p, now)
}

func (c *columns) drawCell(r *list.Row, p *api.Process, in *placedColumn, cursor bool, now time.Time, look *look.Look) {
	r.Add(text.Spaces(in.x-r.Cells), "")
	ink := look.Dim
	switch {
	case in.column == columnName && cursor:
		ink = look.Current
	case p.State.Ended() && !p.Failed(), p.State == states.StateAway:
	case in.column == columnName && p.Kind == api.KindProcess, in.column == columnCPU, in.column == columnMemory:
		ink = look.Text
	}
	value := in.text(p, now)
	switch {
	case in.column == columnState:
		r.AddKept(text.Fit(value, in.w), states.StateInk(p, look), look.Selected)
		return
	case in.column == columnCommand:
		c.drawCommand(r, p, in.w, now, look)
		return
	case in.column == columnCPU && in.w > sparkCells:
		r.Add(text.PadLeft(text.Clip(value, in.w-sparkCells-1), in.w-sparkCells-1), ink)
		r.Add(" ", "")
		for _, part := range sparkParts(p, look) {
			r.Add(part.bars, part.ink)
		}
		return
	}
	value = text.Clip(value, in.w)
	if in.right {
		value = text.PadLeft(value, in.w)
	}
	r.Add(text.Pad(value, in.w), ink)
}

func pidText(p *api.Process) string { return countText(p.PID) }

func restartsText(p *api.Process) string { return countText(restarts(p)) }

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func cpuText(p *api.Process) string {
	switch {
	case !isMeasured(p):
		return ""
	case p.Metrics.CPUPercent >= 99.95:
		return strconv.FormatFloat(p.Metrics.CPUPercent, 'f', 0, 64)
	}
	return strconv.FormatFloat(p.Metrics.CPUPercent, 'f', 1, 64)
}

func memoryText(p *api.Process) string {
	if !isMeasured(p) {
		return ""
	}
	return units.Bytes(p.Metrics.RSSBytes)
}

func upText(p *api.Process, now time.Time) string {
	if p.State.Ended() || p.State == api.StateBackoff || p.State == api.StateWaiting || p.StartedAt.IsZero() {
		return ""
	}
	return units.Age(now.Sub(p.StartedAt))
}

func portsText(p *api.Process) string {
	if !isMeasured(p) {
		return ""
	}
	var ports []string
	for _, port := range p.Metrics.Ports {
		ports = append(ports, strconv.Itoa(port))
	}
	return strings.Join(ports, ",")
}

// hostText returns the name of a process's machine; "" for this machine.
func hostText(p *api.Process) string {
	machine, _ := api.MachineOf(p.ID)
	return machine
}
