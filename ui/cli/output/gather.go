package output

import "sync"

// A Gather joins the tables that a command prints on several machines into one, with a column for
// the machine.
type Gather struct {
	mu    sync.Mutex
	whole *Table
}

// addTable appends a machine's table.
func (g *Gather) addTable(host string, t *Table) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.whole == nil {
		g.whole = &Table{header: append([]string{"HOST"}, t.header...), paint: t.paint, width: t.width, Whole: t.Whole, Spare: t.Spare}
	}
	for i, row := range t.rows {
		g.whole.Add(append([]Cell{Tinted(host, Strong)}, row...)...)
		for _, note := range t.notes[i+1] {
			g.whole.Note(note)
		}
	}
}

// String formats the table; it returns "" if there is none.
func (g *Gather) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.whole == nil {
		return ""
	}
	return g.whole.String()
}
