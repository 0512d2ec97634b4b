package dialog

import (
	"slices"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Layout of the list of keys after the prefix.
const (
	minPrefixKeysWidth   = 20 // cells of a column
	minPrefixKeysHeight  = 4  // rows
	maxPrefixKeysColumns = 3
	prefixKeysGap        = 2  // cells between columns
	maxPrefixKeyCells    = 13 // cells of the keys in a row
)

// DrawPrefixKeys draws the keys after the prefix in columns, within w×h cells. If not all fit,
// the last rows of long groups are dropped. With too little space it returns nil.
func DrawPrefixKeys(groups []keymap.Group, w, h int, look *look.Look) (rows []string) {
	columns, key, cell := arrangePrefixKeys(groups, w, h)
	if columns == nil {
		return nil
	}
	for y := range columns[0] {
		line := ""
		for i, column := range columns {
			if i > 0 {
				line += text.Spaces(prefixKeysGap)
			}
			if y >= len(column) {
				line += text.Spaces(cell)
				continue
			}
			line += column[y].drawLine(key, cell, look)
		}
		rows = append(rows, line)
	}
	return rows
}

// PrefixKeyAt returns the action of the row at cell (x, y) of the result of DrawPrefixKeys. ok is
// false if there is no row, or if the row shows several keys.
func PrefixKeyAt(groups []keymap.Group, w, h, x, y int) (a keymap.Action, ok bool) {
	columns, _, cell := arrangePrefixKeys(groups, w, h)
	if columns == nil || x < 0 || y < 0 {
		return "", false
	}
	i := x / (cell + prefixKeysGap)
	if i >= len(columns) || y >= len(columns[i]) || x%(cell+prefixKeysGap) >= cell {
		return "", false
	}
	return columns[i][y].row.Action()
}

// arrangePrefixKeys divides the keys into columns for w×h cells. key and cell are the widths of the
// keys and of a whole column. If not all rows fit, the last rows of the longest groups are left
// out. If the area is too small to show any keys, columns is nil.
func arrangePrefixKeys(groups []keymap.Group, w, h int) (columns [][]prefixKeyLine, key, cell int) {
	if w < minPrefixKeysWidth || h < minPrefixKeysHeight || len(groups) == 0 {
		return nil, 0, 0
	}
	key, does := measurePrefixKeys(groups)
	cell = min(key+2+does, w)
	fit := max(min((w+prefixKeysGap)/(cell+prefixKeysGap), maxPrefixKeysColumns), 1)
	columns = balanceColumns(groups, fit)
	// The first column is the longest, so its height decides.
	for len(columns[0]) > h {
		groups = dropLastRow(groups)
		columns = balanceColumns(groups, fit)
	}
	return columns, key, cell
}

// measurePrefixKeys returns the widths of the keys and of their descriptions.
func measurePrefixKeys(groups []keymap.Group) (key, does int) {
	for _, g := range groups {
		for _, r := range g.Rows {
			key, does = max(key, text.Width(r.Keys)), max(does, text.Width(r.Does))
		}
	}
	return min(key, maxPrefixKeyCells), min(does, minPrefixKeysWidth)
}

// A prefixKeyLine is a heading, a row or, with neither, a blank line.
type prefixKeyLine struct {
	title string
	row   keymap.GroupRow
}

func (l prefixKeyLine) drawLine(key, cell int, look *look.Look) string {
	if l.row.Keys == "" {
		return look.Accent.Text(text.Fit(l.title, cell))
	}
	return look.Key.Text(text.Fit(l.row.Keys, key)) + "  " + look.Text.Text(text.Fit(l.row.Does, max(cell-key-2, 0)))
}

// balanceColumns divides groups among at most maxColumns columns of similar height. The first
// column is the longest.
func balanceColumns(groups []keymap.Group, maxColumns int) [][]prefixKeyLine {
	total := len(groups) - 1
	for _, g := range groups {
		total += 1 + len(g.Rows)
	}
	for height := (total + maxColumns - 1) / maxColumns; ; height++ {
		for _, split := range []bool{false, true} {
			if columns := fillColumns(groups, height, split); len(columns) <= maxColumns && len(columns[0]) == maxLength(columns) {
				return columns
			}
		}
	}
}

// fillColumns puts groups into columns of the given height, one group below the other. A group may
// continue in the next column if split is set or if the group is higher than a column. A heading is
// never the last line of a column.
func fillColumns(groups []keymap.Group, height int, split bool) (columns [][]prefixKeyLine) {
	column := []prefixKeyLine{}
	next := func() {
		columns = append(columns, column)
		column = nil
	}
	for _, g := range groups {
		switch room := height - len(column) - 1; {
		case len(column) == 0:
		case room < min(3, 1+len(g.Rows)), !split && room < 1+len(g.Rows):
			next()
		default:
			column = append(column, prefixKeyLine{})
		}
		column = append(column, prefixKeyLine{title: g.Title})
		for _, r := range g.Rows {
			if len(column) >= height && height > 1 {
				next()
			}
			column = append(column, prefixKeyLine{row: r})
		}
	}
	next()
	return columns
}

func maxLength(columns [][]prefixKeyLine) (longest int) {
	for _, c := range columns {
		longest = max(longest, len(c))
	}
	return longest
}

// dropLastRow removes the last row of the longest group, and the group once it is empty.
func dropLastRow(groups []keymap.Group) []keymap.Group {
	// The caller's groups must stay complete.
	groups = slices.Clone(groups)
	at := 0
	for i, g := range groups {
		if len(g.Rows) >= len(groups[at].Rows) {
			at = i
		}
	}
	g := &groups[at]
	if g.Rows = g.Rows[:len(g.Rows)-1]; len(g.Rows) == 0 {
		return slices.Delete(groups, at, at+1)
	}
	return groups
}
