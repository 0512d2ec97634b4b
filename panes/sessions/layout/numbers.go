package layout

import (
	"slices"
	"strconv"
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Numbers are leaves that the user selects by a digit: the first by 1, the tenth by 0. Later leaves
// have no number.
type Numbers []*Node

// NumberLeaves numbers leaves.
func NumberLeaves(leaves []*Node) Numbers { return leaves[:min(len(leaves), 10)] }

// LeafFor returns the leaf numbered with digit, which may be any text; nil if there is none.
func (n Numbers) LeafFor(digit string) *Node {
	for i, l := range n {
		if digit == strconv.Itoa((i+1)%10) {
			return l
		}
	}
	return nil
}

// KeyRange returns the range of digits for a hint.
func (n Numbers) KeyRange() string { return "1–" + strconv.Itoa(len(n)%10) }

// DrawOver draws the number of a leaf over the middle of its rows, in large digits if they
// fit. It returns the rows of a leaf without a number unchanged.
func (n Numbers) DrawOver(l *Node, rows []string, focused bool, look *look.Look) []string {
	i := slices.Index(n, l)
	if i < 0 || len(rows) == 0 {
		return rows
	}
	label, ink := digitRows((i+1)%10, look.Glyphs.Block), look.Accent
	if focused {
		ink = look.Dim
	}
	// A pane too small for large digits shows a small one.
	if l.Rect.W < text.Width(label[0]) || len(rows) < len(label) {
		label, ink = []string{" " + strconv.Itoa((i+1)%10) + " "}, look.Tab
	}
	w := text.Width(label[0])
	x, y := (l.Rect.W-w)/2, (len(rows)-len(label))/2
	rows = slices.Clone(rows)
	for j, row := range label {
		under := rows[y+j]
		rows[y+j] = text.Pad(text.Cut(under, x, ""), x) + text.SgrReset + ink.Text(row) + text.CutLeft(under, x+w)
	}
	return rows
}

// digitRows draws a digit in blocks, two cells per dot, with a margin around it.
func digitRows(digit int, block string) []string {
	margin := strings.Repeat(" ", 10)
	rows := []string{margin}
	for _, dots := range strings.Fields(digitDots(digit)) {
		row := strings.NewReplacer("#", block+block, ".", "  ").Replace(dots)
		rows = append(rows, "  "+row+"  ")
	}
	return append(rows, margin)
}

// digitDots returns the rows of a digit, three dots each.
func digitDots(digit int) string {
	return [...]string{
		"### #.# #.# #.# ###", ".#. ##. .#. .#. ###", "### ..# ### #.. ###", "### ..# ### ..# ###", "#.# #.# ### ..# ..#",
		"### #.. ### ..# ###", "### #.. ### #.# ###", "### ..# ..# ..# ..#", "### #.# ### #.# ###", "### #.# ### ..# ###",
	}[digit]
}
