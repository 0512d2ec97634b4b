package list

import (
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// The names in the tab bar share the available cells, within these limits.
const (
	maxTabName = 24
	minTabName = 6
)

// A tabCell is a tab in the tab bar.
type tabCell struct {
	number  string
	name    string // in full
	cells   int    // of the name in full; more than it has while it names what runs
	text    string // number and name, which may be shortened
	mark    string
	markInk look.Ink
	current bool
}

func (c *tabCell) shortenName(n int) {
	c.text = " " + c.number + " " + text.Fit(c.name, min(n, c.cells)) + " "
}

func (c *tabCell) width() int { return text.Width(c.text) + text.Width(c.mark) }

// DrawTabBar draws the tabs in a row of w cells, each with its number, name and mark. The current
// one is inverted and always visible.
func (p *Pane) DrawTabBar(w int) string {
	look := p.env.Look()
	cells, first, last := p.layoutTabs(w)
	var b strings.Builder
	used := 0
	if first > 0 {
		b.WriteString(look.Dim.Text(lessGlyph(look)))
		used++
	}
	for i := first; i < last; i++ {
		c := &cells[i]
		ink, markInk := look.Dim, c.markInk
		if c.current {
			ink, markInk = look.Tab, look.Tab
		}
		b.WriteString(ink.Text(c.text) + markInk.Text(c.mark))
		used += c.width()
	}
	if last < len(cells) {
		b.WriteString(text.Spaces(w-used-1) + look.Dim.Text(look.Glyphs.More))
		used = w
	}
	return b.String() + text.Spaces(w-used)
}

// TabAt returns the index of the tab at column x of a bar of w cells, or -1. On the sign for more
// tabs it returns the nearest hidden tab.
func (p *Pane) TabAt(x, w int) int {
	cells, first, last := p.layoutTabs(w)
	if first > 0 {
		if x == 0 {
			return first - 1
		}
		x--
		w--
	}
	if last < len(cells) && x == w-1 {
		return last
	}
	for i := first; i < last; i++ {
		if x -= cells[i].width(); x < 0 {
			return i
		}
	}
	return -1
}

// layoutTabs returns all tabs, and the range of the tabs to show in w cells. It shortens names
// before it leaves out tabs.
func (p *Pane) layoutTabs(w int) (cells []tabCell, first, last int) {
	cells = make([]tabCell, len(p.tabs))
	processes := p.env.News().ByID()
	for i, ids := range p.tabs {
		cells[i] = p.makeTabCell(i, ids, processes)
	}
	if totalWidth(cells) > w && shortenNames(cells, w) > w {
		first, last = aroundCurrent(cells, w)
		return cells, first, last
	}
	return cells, 0, len(cells)
}

// shortenNames shortens the longest names until all tabs fit into w cells, but no name to less than
// minTabName. It returns the width of all tabs, which may still be larger.
func shortenNames(cells []tabCell, w int) int {
	shortenTo := func(n int) int {
		for i := range cells {
			cells[i].shortenName(n)
		}
		return totalWidth(cells)
	}
	// Start with the shortest names: if there are many tabs, not even these fit.
	n := minTabName
	for shortenTo(n) <= w {
		n++
	}
	return shortenTo(max(n-1, minTabName))
}

// aroundCurrent returns the range of tabs shown in w cells: the current one, with neighbours on both
// sides while they fit.
func aroundCurrent(cells []tabCell, w int) (first, last int) {
	room := w - 2 // for the signs that there are more
	for i := range cells {
		if cells[i].current {
			first, last = i, i+1
		}
	}
	room -= totalWidth(cells[first:last])
	for grown := true; grown; {
		grown = false
		if first > 0 && cells[first-1].width() <= room {
			first--
			room -= cells[first].width()
			grown = true
		}
		if last < len(cells) && cells[last].width() <= room {
			room -= cells[last].width()
			last++
			grown = true
		}
	}
	return first, last
}

func totalWidth(cells []tabCell) (n int) {
	for i := range cells {
		n += cells[i].width()
	}
	return n
}

func (p *Pane) makeTabCell(i int, ids []string, processes map[string]*api.Process) (c tabCell) {
	look := p.env.Look()
	var sessions []string
	highest := 0
	c.cells = len(ids) - 1 // for the signs between
	for _, id := range ids {
		c.current = c.current || id == p.current
		session := processes[id]
		if session == nil {
			session = &api.Process{Name: "…"} // being started
		}
		name := states.ShownName(session)
		if isAutoNamed(session) {
			name = text.Clip(name, autoNameCells)
			c.cells += autoNameCells
		} else {
			c.cells += text.Width(name)
		}
		sessions = append(sessions, name)
		row := p.Agents.makeRow(*session)
		if mark, ink, urgency := tabMark(&row, look); urgency > highest {
			c.mark, c.markInk, highest = mark+" ", ink, urgency
		}
	}
	c.number, c.name = p.tabNumber(i), strings.Join(sessions, "+")
	if i < len(p.TabNames) && p.TabNames[i] != "" {
		c.name = text.Clean(p.TabNames[i])
		c.cells = text.Width(c.name)
	}
	c.shortenName(maxTabName)
	return c
}

// lessGlyph returns the sign for more tabs before the visible ones.
func lessGlyph(look *look.Look) string {
	if look.Glyphs.More == ">" { // ASCII
		return "<"
	}
	return "‹"
}
