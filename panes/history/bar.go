package history

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/text"
)

// A filterChip is a filter as drawn in the filter row.
type filterChip struct {
	action keymap.Action
	x, w   int
}

// drawQuery returns the row with the query, w cells wide, and the column of the cursor.
func (f *finder) drawQuery(w int, typing bool) (row string, x int) {
	look := f.env.Look()
	note := f.countText()
	if n := f.list.Total(); n > 0 {
		note = text.Thousands(f.list.cursor+1) + "/" + note
	}
	if f.folder != "" {
		note += " in " + text.ClipLeft(text.ShortPath(f.folder, f.env.Home()), w/3)
	}
	room := max(w-text.Width(note)-5, 8)
	ink := look.Key
	if typing {
		ink = look.Title
	}
	query, at := f.field.DrawIn(room, look)
	if f.field.Text() == "" {
		query = look.Faint.Text(text.Fit("search", room))
	}
	row = " " + ink.Text("/") + " " + query
	used := 3 + room
	return row + look.Dim.Text(text.Pad(text.Clip(" "+note, w-used), w-used)), 3 + at
}

// countText returns how many commands are listed.
func (f *finder) countText() string {
	n := f.list.Total()
	switch {
	case f.isFiltered():
		return text.Thousands(n) + " found"
	case f.everyRun:
		return text.Count(n, "run")
	}
	return text.Count(n, "command")
}

// filterActions returns the actions for the filters, in the order of their row.
func filterActions() [6]keymap.Action {
	return [...]keymap.Action{keymap.HistoryHere, keymap.HistorySession, keymap.HistoryFailed, keymap.HistoryWho,
		keymap.HistoryToday, keymap.HistoryUnique}
}

// filterName returns the short name of a filter, or its value if it has several.
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
	return "unique", !f.everyRun
}

// drawFilters returns the row with the filters, w cells wide. An active filter has another sign,
// not only another color.
func (f *finder) drawFilters(w int, scope keymap.Scope) string {
	look := f.env.Look()
	all := filterActions()
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = f.env.Bindings().KeyOf(a, scope)
	}
	before := commonModifier(names)
	line, used := " "+look.Dim.Text(before), 1+text.Width(before)
	f.chips = f.chips[:0]
	for i, a := range all {
		key := strings.TrimPrefix(names[i], before)
		name, on := f.filterName(a)
		sign, ink := look.Glyphs.Exited, look.Dim
		if on {
			sign, ink = look.Glyphs.Running, look.Title
		}
		cells := text.Width(key) + 3 + text.Width(name)
		gap := 2
		if i == 0 {
			gap = min(text.Width(before), 1)
		}
		if used+gap+cells > w {
			break
		}
		line += text.Spaces(gap) + look.Key.Text(key) + " " + ink.Text(sign+" "+name)
		f.chips = append(f.chips, filterChip{a, used + gap, cells})
		used += gap + cells
	}
	return line + text.Spaces(w-used)
}

// commonModifier returns the modifier all keys begin with, such as "alt+", so that it is drawn
// once.
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

// clickFilter switches the filter drawn at column x.
func (f *finder) clickFilter(x int) tea.Cmd {
	for _, c := range f.chips {
		if x >= c.x && x < c.x+c.w {
			f.toggleFilter(c.action)
		}
	}
	return nil
}
