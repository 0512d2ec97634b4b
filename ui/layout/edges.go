package layout

import (
	"strings"

	"tandem/panes/widget"
)

// Edges draws the borders between panes. Those around the pane with the focus
// stand out.
type Edges struct {
	Look  *widget.Look
	Focus widget.Rect // of that pane, its title row included; empty if none has the focus
}

// Text is a piece of border at a cell.
func (e Edges) Text(piece string, x, y int) string { return e.Look.Edge(piece, e.around(x, y)) }

// around reports whether a cell is in the frame of the pane with the focus: its
// title row, the columns beside it and the title rows below it.
func (e Edges) around(x, y int) bool {
	r := e.Focus
	if r.W <= 0 || x < r.X-1 || x > r.X+r.W || y < r.Y || y > r.Y+r.H {
		return false
	}
	return x == r.X-1 || x == r.X+r.W || y == r.Y || y == r.Y+r.H
}

// title is the title row of a leaf in r, whose rule stands out where it is in the
// frame.
func (e Edges) title(title string, r widget.Rect) string {
	from, to := 0, 0
	switch {
	case e.Focus == r && e.Look.Rule != "":
		return e.rules(title)
	case e.Focus.W > 0 && r.Y == e.Focus.Y+e.Focus.H:
		from, to = max(e.Focus.X-1-r.X, 0), min(e.Focus.X+e.Focus.W+1-r.X, r.W)
	default:
		return title
	}
	if from >= to || e.Look.Rule == "" {
		return title
	}
	under := widget.CutLeft(widget.Cut(title, to, ""), from)
	return widget.Cut(title, from, "") + e.rules(under) + widget.CutLeft(title, to)
}

// rules lets the pieces of rule in a row stand out.
func (e Edges) rules(row string) string {
	parts := strings.Split(row, string(e.Look.Rule))
	out := parts[0]
	for _, part := range parts[1:] {
		line, rest, _ := strings.Cut(part, widget.SgrReset)
		out += e.Look.Edge(line, strings.Trim(line, "─┴") == "") + rest
	}
	return out
}
