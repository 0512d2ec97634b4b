package sessions

import (
	"strings"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// Names in the bar of tabs get as many cells as there is room for, within these.
const (
	longTabName  = 24
	shortTabName = 6
)

// A tabCell is a tab as the bar shows it.
type tabCell struct {
	number  string
	name    string // in full
	text    string // both, with the name shortened
	mark    string
	markInk widget.Ink
	current bool
}

// shorten gives the name at most n cells.
func (c *tabCell) shorten(n int) { c.text = " " + c.number + " " + widget.Clip(c.name, n) + " " }

func (c *tabCell) cells() int { return widget.Width(c.text) + widget.Width(c.mark) }

// TabBar is the tabs in a row of w cells: number, sessions and marks, the current
// one inverted and in view.
func (p *Pane) TabBar(w int) string {
	look := p.env.Look()
	cells, first, last := p.tabCells(w)
	var b strings.Builder
	used := 0
	if first > 0 {
		b.WriteString(look.Dim.Text(less(look)))
		used++
	}
	for i := first; i < last; i++ {
		c := &cells[i]
		ink, markInk := look.Dim, c.markInk
		if c.current {
			ink, markInk = look.Tab, look.Tab
		}
		b.WriteString(ink.Text(c.text) + markInk.Text(c.mark))
		used += c.cells()
	}
	if last < len(cells) {
		b.WriteString(widget.Spaces(w-used-1) + look.Dim.Text(look.Glyphs.More))
		used = w
	}
	return b.String() + widget.Spaces(w-used)
}

// TabAt is the index of the tab at column x of a bar of w cells: the one before
// or after those in view at the signs that there are more, -1 for none.
func (p *Pane) TabAt(x, w int) int {
	cells, first, last := p.tabCells(w)
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
		if x -= cells[i].cells(); x < 0 {
			return i
		}
	}
	return -1
}

// tabCells are the tabs, and which of them fit into w cells. Names are shortened
// before tabs are left out.
func (p *Pane) tabCells(w int) (cells []tabCell, first, last int) {
	cells = make([]tabCell, len(p.tabs))
	for i, ids := range p.tabs {
		cells[i] = p.tabCell(i, ids)
	}
	for names := longTabName; cellsOf(cells) > w && names > shortTabName; {
		names--
		for i := range cells {
			cells[i].shorten(names)
		}
	}
	if cellsOf(cells) <= w {
		return cells, 0, len(cells)
	}
	room := w - 2 // for the signs that there are more
	for i := range cells {
		if cells[i].current {
			first, last = i, i+1
		}
	}
	room -= cellsOf(cells[first:last])
	for grown := true; grown; {
		grown = false
		if first > 0 && cells[first-1].cells() <= room {
			first--
			room -= cells[first].cells()
			grown = true
		}
		if last < len(cells) && cells[last].cells() <= room {
			room -= cells[last].cells()
			last++
			grown = true
		}
	}
	return cells, first, last
}

func cellsOf(cells []tabCell) (n int) {
	for i := range cells {
		n += cells[i].cells()
	}
	return n
}

func (p *Pane) tabCell(i int, ids []string) (c tabCell) {
	look, news := p.env.Look(), p.env.News()
	var sessions []string
	most := 0
	for _, id := range ids {
		c.current = c.current || id == p.current
		session, ok := news.Process(id)
		if !ok {
			session = api.Process{Name: "…"} // on its way
		}
		sessions = append(sessions, widget.FullName(&session))
		row := p.Agents.row(session)
		if mark, ink, urgency := tabMark(&row, look); urgency > most {
			c.mark, c.markInk, most = mark+" ", ink, urgency
		}
	}
	c.number, c.name = widget.Itoa(i+1), strings.Join(sessions, "+")
	if p.floats(i) {
		c.number = "float"
	}
	c.shorten(longTabName)
	return c
}

// less is the sign that there are more before.
func less(look *widget.Look) string {
	if look.Glyphs.More == ">" { // of a terminal without others
		return "<"
	}
	return "‹"
}
