package output

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"tandem/engine/base/cellwidth"
)

// A Cell is one field of a table.
type Cell struct {
	text string
	tint Tint
}

func Text(s string) Cell { return Cell{text: s} }

func Tinted(s string, t Tint) Cell { return Cell{s, t} }

// A Table is rows of cells under a header. Columns are as wide as their widest cell, in cells of
// the terminal.
type Table struct {
	header []string
	rows   [][]Cell
	notes  map[int][]string // below the row with this number
	paint  func(Tint, string) string
	width  int      // of the terminal; 0 means no limit. The last column is cut to fit
	Whole  bool     // do not cut the last column; the terminal wraps it
	Spare  []string // columns to omit on a narrow terminal, first one first

	host   string
	gather *Gather // prints this table with those of other machines
}

const (
	columnGap = "  "
	// minCutWidth is the minimum width of a cut last column.
	minCutWidth = 8
)

// Table returns an empty table for standard output.
func (p Printer) Table(header ...string) *Table {
	t := &Table{header: header, paint: p.Painter(), host: p.Host, gather: p.Gather}
	if f, ok := Terminal(p.Stdout); ok {
		t.width, _, _ = term.GetSize(f.Fd()) // on error 0, for no limit
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

// String formats the table, with a newline after each line. It returns "" if a Gather prints the
// table.
func (t *Table) String() string {
	if t.gather != nil {
		t.gather.addTable(t.host, t)
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
	visible := t.visibleColumns(widths)
	var b strings.Builder
	for i, row := range rows {
		t.writeRow(&b, row, widths, visible)
		for _, note := range t.notes[i] {
			t.writeNote(&b, note)
		}
	}
	return b.String()
}

// visibleColumns returns the indexes of the columns that fit the terminal's width.
func (t *Table) visibleColumns(widths []int) []int {
	visible := make([]int, len(widths))
	for i := range visible {
		visible[i] = i
	}
	for _, name := range t.Spare {
		last := visible[len(visible)-1]
		// Only the last column can be cut, so the others need their full width.
		minWidth := min(widths[last], minCutWidth)
		for _, i := range visible[:len(visible)-1] {
			minWidth += widths[i] + len(columnGap)
		}
		if t.width == 0 || minWidth <= t.width {
			break
		}
		visible = slices.DeleteFunc(visible, func(i int) bool { return t.header[i] == name })
	}
	return visible
}

func (t *Table) writeRow(b *strings.Builder, row []Cell, widths, visible []int) {
	used := 0
	for n, i := range visible {
		c, last := row[i], n == len(visible)-1
		if last && t.width > 0 && !t.Whole {
			c.text = ansi.Truncate(c.text, max(t.width-used, minCutWidth), "…")
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
