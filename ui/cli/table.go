package cli

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"tandem/engine/cellwidth"
)

// A cell is one field of a table.
type cell struct {
	text string
	tint tint
}

// A table is rows of cells under a header. Its columns are as wide as their
// widest cell, measured in cells of the terminal.
type table struct {
	header []string
	rows   [][]cell
	notes  map[int][]string // below the row with this number
	paint  func(tint, string) string
	width  int      // of the terminal; 0 for no limit. The last column is cut to fit
	whole  bool     // the last column is not cut; the terminal wraps it
	spare  []string // columns that a narrow terminal does without, the first one first
}

const (
	columnGap = "  "
	// leastCut is how wide a last column at least is that is cut.
	leastCut = 8
)

// table begins a table for standard output.
func (a *app) table(header ...string) *table {
	t := &table{header: header, paint: a.painter()}
	if f, ok := terminal(a.Stdout); ok {
		t.width, _, _ = term.GetSize(f.Fd()) // 0, no limit, where it cannot be told
	}
	return t
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// note adds a line below the last row.
func (t *table) note(text string) {
	if t.notes == nil {
		t.notes = make(map[int][]string)
	}
	t.notes[len(t.rows)] = append(t.notes[len(t.rows)], text)
}

// String draws the table, each line ended.
func (t *table) String() string {
	header := make([]cell, len(t.header))
	for i, h := range t.header {
		header[i] = cell{h, faint}
	}
	rows := append([][]cell{header}, t.rows...)
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
func (t *table) shown(widths []int) []int {
	shown := make([]int, len(widths))
	for i := range shown {
		shown[i] = i
	}
	for _, name := range t.spare {
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

func (t *table) writeRow(b *strings.Builder, row []cell, widths, shown []int) {
	used := 0
	for n, i := range shown {
		c, last := row[i], n == len(shown)-1
		if last && t.width > 0 && !t.whole {
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

func (t *table) writeNote(b *strings.Builder, note string) {
	note = "  " + note
	if t.width > 0 {
		note = ansi.Truncate(note, t.width, "…")
	}
	b.WriteString(t.paint(faint, note) + "\n")
}
