package layout

import (
	"slices"
	"strconv"
	"strings"

	"tandem/panes/widget"
)

// Numbers are leaves with a number each, from 1: their place. The tenth has 0, and
// what comes after it none.
type Numbers []*Node

// Number numbers leaves.
func Number(leaves []*Node) Numbers { return leaves[:min(len(leaves), 10)] }

// Leaf is the one with that digit; nil if there is none.
func (n Numbers) Leaf(digit string) *Node {
	for i, l := range n {
		if digit == strconv.Itoa((i+1)%10) {
			return l
		}
	}
	return nil
}

// Keys are the digits, as a hint has them.
func (n Numbers) Keys() string { return "1–" + strconv.Itoa(len(n)%10) }

// Over lays the number of a leaf over the middle of its terminal's rows, large where
// there is room. A leaf without a number keeps its rows.
func (n Numbers) Over(l *Node, rows []string, focused bool, look *widget.Look) []string {
	i := slices.Index(n, l)
	if i < 0 || len(rows) == 0 {
		return rows
	}
	label, ink := digitRows((i+1)%10, look.Glyphs.Block), look.Accent
	if focused {
		ink = look.Dim
	}
	if l.Rect.W < widget.Width(label[0]) || len(rows) < len(label) {
		label, ink = []string{" " + strconv.Itoa((i+1)%10) + " "}, look.Tab
	}
	w := widget.Width(label[0])
	x, y := (l.Rect.W-w)/2, (len(rows)-len(label))/2
	rows = slices.Clone(rows)
	for j, row := range label {
		under := rows[y+j]
		rows[y+j] = widget.Pad(widget.Cut(under, x, ""), x) + widget.SgrReset + ink.Text(row) + widget.CutLeft(under, x+w)
	}
	return rows
}

// digitRows is a digit in blocks, two cells for each of its dots, with a margin around
// it.
func digitRows(digit int, block string) []string {
	margin := strings.Repeat(" ", 10)
	rows := []string{margin}
	for _, dots := range strings.Fields(digitDots(digit)) {
		row := strings.NewReplacer("#", block+block, ".", "  ").Replace(dots)
		rows = append(rows, "  "+row+"  ")
	}
	return append(rows, margin)
}

// digitDots are the rows of a digit, three dots each.
func digitDots(digit int) string {
	return [...]string{
		"### #.# #.# #.# ###", ".#. ##. .#. .#. ###", "### ..# ### #.. ###", "### ..# ### ..# ###", "#.# #.# ### ..# ..#",
		"### #.. ### ..# ###", "### #.. ### #.# ###", "### ..# ..# ..# ..#", "### #.# ### #.# ###", "### #.# ### ..# ###",
	}[digit]
}
