package history

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// A query is what the user searches for: the typed words and the filters.
type query struct {
	env   panes.Env
	field field.Field

	here, session, failed, today, everyRun bool // filters; everyRun shows equal commands separately
	who                                    int  // index in actorFilters

	chips []filterChip // drawn last
}

// actorFilters returns the values of the filter by actor: for anyone, for the user, and for agents.
func actorFilters() []string { return []string{"", "person", "agent"} }

// buildInput returns the input of a search for the query, with the machines to search.
func (q *query) buildInput() api.HistorySearchInput {
	in := api.HistorySearchInput{Query: q.field.Text(), Failed: q.failed, Unique: !q.everyRun, Actor: actorFilters()[q.who]}
	in.From, in.Query = list.CutFrom(in.Query)
	session, folder := q.env.Session()
	if q.here {
		in.CWD = folder
	}
	if q.session {
		in.Process = session
	}
	if q.today {
		y, month, d := time.Now().Date()
		since := time.Date(y, month, d, 0, 0, 0, 0, time.Local)
		in.Since = &since
	}
	q.selectMachines(&in)
	return in
}

// selectMachines sets the machines to search, if there is more than this one: the machine of the
// folder or session in the filters, or the machines that match host: in the query.
func (q *query) selectMachines(in *api.HistorySearchInput) {
	n := q.env.News()
	if len(n.Machines) == 0 {
		return
	}
	var host string
	host, in.Query = list.CutHost(in.Query)
	machine, _ := api.MachineOf(in.Process)
	if on, there := api.PathOf(in.CWD); n.Machine(on) != nil {
		machine, in.CWD = on, there
	}
	// A folder or session is on one machine, whatever host: says.
	if in.CWD != "" || in.Process != "" {
		in.Hosts = []string{machine}
		return
	}
	if list.OnHost(host, "") {
		in.Hosts = append(in.Hosts, "")
	}
	for i := range n.Machines {
		if name := n.Machines[i].Name; list.OnHost(host, name) {
			in.Hosts = append(in.Hosts, name)
		}
	}
	in.Soon = true
	if len(in.Hosts) == 0 {
		in.Hosts = []string{host} // the search then reports the unknown machine
	}
}

// isFiltered reports whether there is any text or filter that may hide commands.
func (q *query) isFiltered() bool {
	return q.field.Text() != "" || q.here || q.session || q.failed || q.today || q.who != 0
}

// A filter is a filter as shown in its row.
type filter struct {
	action keymap.Action
	name   string // short; of the value if there are several
	on     bool
	next   func() // switches to the next value
}

// filters returns the filters in the order in which they are drawn.
func (q *query) filters() []filter {
	return []filter{
		{keymap.HistoryHere, "here", q.here, func() { q.here = !q.here }},
		{keymap.HistorySession, "session", q.session, func() { q.session = !q.session }},
		{keymap.HistoryFailed, "failed", q.failed, func() { q.failed = !q.failed }},
		{keymap.HistoryWho, [...]string{"anyone", "you", "agents"}[q.who], q.who != 0, func() { q.who = (q.who + 1) % len(actorFilters()) }},
		{keymap.HistoryToday, "today", q.today, func() { q.today = !q.today }},
		{keymap.HistoryUnique, "unique", !q.everyRun, func() { q.everyRun = !q.everyRun }},
	}
}

// toggle switches the filter that action a toggles to its next value. It returns false if a is not
// the action of a filter.
func (q *query) toggle(a keymap.Action) bool {
	for _, f := range q.filters() {
		if f.action == a {
			f.next()
			return true
		}
	}
	return false
}

// clear clears the text or, if there is none, the filters. It reports whether there was anything to
// clear.
func (q *query) clear() (had bool) {
	had = q.isFiltered()
	if q.field.Text() != "" {
		q.field.Set("")
	} else {
		q.here, q.session, q.failed, q.today, q.who = false, false, false, false, 0
	}
	return had
}

// A filterChip is the place of a filter in the row of filters.
type filterChip struct {
	action keymap.Action
	x, w   int
}

// draw returns the row with the text of the query and a note, w cells wide, and the column of the
// cursor in it.
func (q *query) draw(w int, typing bool, note string) (row string, x int) {
	look := q.env.Look()
	room := max(w-text.Width(note)-5, 8)
	ink := look.Key
	if typing {
		ink = look.Title
	}
	words, at := q.field.DrawIn(room, look)
	if q.field.Text() == "" {
		words = look.Faint.Text(text.Fit("search", room))
	}
	row = " " + ink.Text("/") + " " + words
	used := 3 + room
	return row + look.Dim.Text(text.Pad(text.Clip(" "+note, w-used), w-used)), 3 + at
}

// countText describes the number of commands found.
func (q *query) countText(n int) string {
	switch {
	case q.isFiltered():
		return text.Thousands(n) + " found"
	case q.everyRun:
		return text.Count(n, "run")
	}
	return text.Count(n, "command")
}

// drawFilters returns the row with the filters, w cells wide. An active filter differs by its sign,
// not only by its color.
func (q *query) drawFilters(w int, scope keymap.Scope) string {
	look := q.env.Look()
	all := q.filters()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = q.env.Bindings().KeyOf(f.action, scope)
	}
	before := commonModifier(names)
	line, used := " "+look.Dim.Text(before), 1+text.Width(before)
	q.chips = q.chips[:0]
	for i, f := range all {
		key := strings.TrimPrefix(names[i], before)
		sign, ink := look.Glyphs.Exited, look.Dim
		if f.on {
			sign, ink = look.Glyphs.Running, look.Title
		}
		cells := text.Width(key) + 3 + text.Width(f.name)
		gap := 2
		if i == 0 {
			gap = min(text.Width(before), 1)
		}
		if used+gap+cells > w {
			break
		}
		line += text.Spaces(gap) + look.Key.Text(key) + " " + ink.Text(sign+" "+f.name)
		q.chips = append(q.chips, filterChip{f.action, used + gap, cells})
		used += gap + cells
	}
	return line + text.Spaces(w-used)
}

// commonModifier returns the modifier with which all keys begin, such as "alt+", so that it can be
// drawn once; "" if they differ.
func commonModifier(names []string) string {
	modifier, _, ok := strings.Cut(names[0], "+")
	if modifier += "+"; !ok {
		return ""
	}
	for _, name := range names {
		if !strings.HasPrefix(name, modifier) || name == modifier {
			return ""
		}
	}
	return modifier
}

// filterAt returns the action of the filter drawn at column x; "" for none.
func (q *query) filterAt(x int) keymap.Action {
	for _, c := range q.chips {
		if x >= c.x && x < c.x+c.w {
			return c.action
		}
	}
	return ""
}
