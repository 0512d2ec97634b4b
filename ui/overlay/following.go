package overlay

import (
	"slices"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// What the keys after the prefix need at least, and what they take.
const (
	followingWidth   = 20 // cells of a column
	followingHeight  = 4  // rows
	followingColumns = 3  // at most
	followingGap     = 2  // between them
	followingKeys    = 13 // cells of keys at most
)

// Following draws the keys that may follow the prefix in columns, within w by h
// cells. Where there is no room for all, the last rows of long groups are left out;
// where there is for hardly any, there are no rows.
func Following(groups []keymap.Group, w, h int, look *widget.Look) (rows []string) {
	columns, key, cell := arrangeFollowing(groups, w, h)
	if columns == nil {
		return nil
	}
	for y := range columns[0] {
		line := ""
		for i, column := range columns {
			if i > 0 {
				line += widget.Spaces(followingGap)
			}
			if y >= len(column) {
				line += widget.Spaces(cell)
				continue
			}
			line += column[y].draw(key, cell, look)
		}
		rows = append(rows, line)
	}
	return rows
}

// FollowingAt is what the row in a cell of what Following draws does; ok is false where
// there is none, or one of several keys.
func FollowingAt(groups []keymap.Group, w, h, x, y int) (a keymap.Action, ok bool) {
	columns, _, cell := arrangeFollowing(groups, w, h)
	if columns == nil || x < 0 || y < 0 {
		return "", false
	}
	i := x / (cell + followingGap)
	if i >= len(columns) || y >= len(columns[i]) || x%(cell+followingGap) >= cell {
		return "", false
	}
	return columns[i][y].row.Action()
}

// arrangeFollowing divides the keys into columns for w by h cells, nil without room for
// them, and tells how wide a key and a column are.
func arrangeFollowing(groups []keymap.Group, w, h int) (columns [][]followingLine, key, cell int) {
	if w < followingWidth || h < followingHeight || len(groups) == 0 {
		return nil, 0, 0
	}
	key, does := followingCells(groups)
	cell = min(key+2+does, w)
	fit := max(min((w+followingGap)/(cell+followingGap), followingColumns), 1)
	columns = flow(groups, fit)
	for len(columns[0]) > h {
		groups = shorten(groups)
		columns = flow(groups, fit)
	}
	return columns, key, cell
}

// followingCells is how wide keys and what they do are.
func followingCells(groups []keymap.Group) (key, does int) {
	for _, g := range groups {
		for _, r := range g.Rows {
			key, does = max(key, widget.Width(r.Keys)), max(does, widget.Width(r.Does))
		}
	}
	return min(key, followingKeys), min(does, followingWidth)
}

// A followingLine is a heading, a row or, without either, a blank line.
type followingLine struct {
	title string
	row   keymap.GroupRow
}

func (l followingLine) draw(key, cell int, look *widget.Look) string {
	if l.row.Keys == "" {
		return look.Accent.Text(widget.Fit(l.title, cell))
	}
	return look.Key.Text(widget.Fit(l.row.Keys, key)) + "  " + look.Text.Text(widget.Fit(l.row.Does, max(cell-key-2, 0)))
}

// flow divides groups among at most that many columns of about the same height, of
// which the first is the highest.
func flow(groups []keymap.Group, most int) [][]followingLine {
	total := len(groups) - 1
	for _, g := range groups {
		total += 1 + len(g.Rows)
	}
	for height := (total + most - 1) / most; ; height++ {
		if columns := fill(groups, height); len(columns) <= most && len(columns[0]) == longest(columns) {
			return columns
		}
	}
}

// fill puts groups into columns of a height, one below the other. A group goes on in
// the next column, but its heading never stands alone at the end of one.
func fill(groups []keymap.Group, height int) (columns [][]followingLine) {
	column := []followingLine{}
	next := func() {
		columns = append(columns, column)
		column = nil
	}
	for _, g := range groups {
		switch room := height - len(column) - 1; {
		case len(column) == 0:
		case room < min(3, 1+len(g.Rows)):
			next()
		default:
			column = append(column, followingLine{})
		}
		column = append(column, followingLine{title: g.Title})
		for _, r := range g.Rows {
			if len(column) >= height && height > 1 {
				next()
			}
			column = append(column, followingLine{row: r})
		}
	}
	next()
	return columns
}

func longest(columns [][]followingLine) (most int) {
	for _, c := range columns {
		most = max(most, len(c))
	}
	return most
}

// shorten leaves out the last row of the longest group, and the group with its last
// one.
func shorten(groups []keymap.Group) []keymap.Group {
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
