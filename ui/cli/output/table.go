package output

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"tandem/engine/cellwidth"
)

// A Cell is one field of a table.
type Cell struct {
	text string
	tint Tint
}

// Text is a cell without a colour.
func Text(s string) Cell { return Cell{text: s} }

// Tinted is a cell in a colour.
func Tinted(s string, t Tint) Cell { return Cell{s, t} }

// A Table is rows of cells under a header. Its columns are as wide as their
// widest cell, measured in cells of the terminal.
type Table struct {
	header []string
	rows   [][]Cell
	notes  map[int][]string // below the row with this number
	paint  func(Tint, string) string
	width  int      // of the terminal; 0 for no limit. The last column is cut to fit
	Whole  bool     // the last column is not cut; the terminal wraps it
	Spare  []string // columns that a narrow terminal does without, the first one first

	host   string
	gather *Gather // draws it, with those of other machines
}

const (
	columnGap = "  "
	// leastCut is how wide a last column at least is that is cut.
	leastCut = 8
)

// Table begins a table for standard output.
func (p Printer) Table(header ...string) *Table {
	t := &Table{header: header, paint: p.Painter(), host: p.Host, gather: p.Gather}
	if f, ok := Terminal(p.Stdout); ok {
		t.width, _, _ = term.GetSize(f.Fd()) // 0, no limit, where it cannot be told
	}
	return t
}

func (t *Table) Add(cells ...Cell) { t.rows = append(t.rows, cells) }

// Note adds a line below the last row.
func (t *Table) Note(text string) {
	if t.notes == nil {
		t.notes = make(map[int][]string)
	}
	t.notes[len(t.rows)] = append(t.notes[len(t.rows)], text)
}

// String draws the table, each line ended.
func (t *Table) String() string {
	if t.gather != nil {
		t.gather.add(t.host, t)
		return ""
	}
	header := make([]Cell, len(t.header))
	for i, h := range t.header {
		header[i] = Cell{h, Faint}
	}
	rows := append([][]Cell{header}, t.rows...)
	widths := make([]int, len(t.header))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], cellwidth.Of(c.text))
		}
	}
	shown := t.shown(widths)
	var b strings.Builder
	for i, row := range rows {
		t.writeRow(&b, row, widths, shown)
		for _, note := range t.notes[i] {
			t.writeNote(&b, note)
		}
	}
	return b.String()
}

// shown are the columns for which the terminal is wide enough.
func (t *Table) shown(widths []int) []int {
	shown := make([]int, len(widths))
	for i := range shown {
		shown[i] = i
	}
	for _, name := range t.Spare {
		last := shown[len(shown)-1]
		least := min(widths[last], leastCut)
		for _, i := range shown[:len(shown)-1] {
			least += widths[i] + len(columnGap)
		}
		if t.width == 0 || least <= t.width {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return t.header[i] == name })
	}
	return shown
}

func (t *Table) writeRow(b *strings.Builder, row []Cell, widths, shown []int) {
	used := 0
	for n, i := range shown {
		c, last := row[i], n == len(shown)-1
		if last && t.width > 0 && !t.Whole {
			c.text = ansi.Truncate(c.text, max(t.width-used, leastCut), "…")
		}
		b.WriteString(t.paint(c.tint, c.text))
		if !last {
			b.WriteString(strings.Repeat(" ", widths[i]-cellwidth.Of(c.text)))
			b.WriteString(columnGap)
		}
		used += widths[i] + len(columnGap)
	}
	b.WriteByte('\n')
}

func (t *Table) writeNote(b *strings.Builder, note string) {
	note = "  " + note
	if t.width > 0 {
		note = ansi.Truncate(note, t.width, "…")
	}
	b.WriteString(t.paint(Faint, note) + "\n")
}
