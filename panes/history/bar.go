package history

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// A chip is a filter with its key in the row of filters.
type chip struct {
	action keymap.Action
	x, w   int
}

// drawQuery gives the row in which the query is typed, w cells wide, and the
// column of the cursor.
func (f *finder) drawQuery(w int, typing bool) (row string, x int) {
	look := f.env.Look()
	note := f.count()
	if n := f.list.Total(); n > 0 {
		note = widget.Thousands(f.list.cursor+1) + "/" + note
	}
	if f.folder != "" {
		note += " in " + widget.ClipLeft(widget.ShortPath(f.folder, f.env.Home()), w/3)
	}
	room := max(w-widget.Width(note)-5, 8)
	ink := look.Key
	if typing {
		ink = look.Title
	}
	text, at := f.field.DrawIn(room, look)
	if f.field.Text() == "" {
		text = look.Faint.Text(widget.Fit("search", room))
	}
	row = " " + ink.Text("/") + " " + text
	used := 3 + room
	return row + look.Dim.Text(widget.Pad(widget.Clip(" "+note, w-used), w-used)), 3 + at
}

// count says how many commands are listed.
func (f *finder) count() string {
	n := f.list.Total()
	switch {
	case f.narrowed():
		return widget.Thousands(n) + " found"
	case f.every:
		return widget.Count(n, "run")
	}
	return widget.Count(n, "command")
}

// filters are the actions that switch filters, in the order of their row.
func filters() [6]keymap.Action {
	return [...]keymap.Action{keymap.HistoryHere, keymap.HistorySession, keymap.HistoryFailed, keymap.HistoryWho,
		keymap.HistoryToday, keymap.HistoryUnique}
}

// filterName is what a filter is called: short, so that all fit, and the value
// where it has one.
func (f *finder) filterName(a keymap.Action) (name string, on bool) {
	switch a {
	case keymap.HistoryHere:
		return "here", f.here
	case keymap.HistorySession:
		return "session", f.session
	case keymap.HistoryFailed:
		return "failed", f.failed
	case keymap.HistoryWho:
		return [...]string{"anyone", "you", "agents"}[f.who], f.who != 0
	case keymap.HistoryToday:
		return "today", f.today
	}
	return "unique", !f.every
}

// drawFilters gives the row of the filters, w cells wide. A filter that is on
// is told by its sign as well as by its colour.
func (f *finder) drawFilters(w int, scope keymap.Scope) string {
	look := f.env.Look()
	all := filters()
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = panes.KeyOf(f.env.Bindings(), a, scope)
	}
	before := sharedModifier(names)
	line, used := " "+look.Dim.Text(before), 1+widget.Width(before)
	f.chips = f.chips[:0]
	for i, a := range all {
		key := strings.TrimPrefix(names[i], before)
		name, on := f.filterName(a)
		sign, ink := look.Glyphs.Exited, look.Dim
		if on {
			sign, ink = look.Glyphs.Running, look.Title
		}
		cells := widget.Width(key) + 3 + widget.Width(name)
		gap := 2
		if i == 0 {
			gap = min(widget.Width(before), 1)
		}
		if used+gap+cells > w {
			break
		}
		line += widget.Spaces(gap) + look.Key.Text(key) + " " + ink.Text(sign+" "+name)
		f.chips = append(f.chips, chip{a, used + gap, cells})
		used += gap + cells
	}
	return line + widget.Spaces(w-used)
}

// sharedModifier is "alt+" or the like, where all keys begin with it: it need not
// be told more than once.
func sharedModifier(names []string) string {
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

// clickFilter switches the filter that is drawn at column x.
func (f *finder) clickFilter(x int) tea.Cmd {
	for _, c := range f.chips {
		if x >= c.x && x < c.x+c.w {
			f.toggle(c.action)
		}
	}
	return nil
}
