package layout

import (
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Edges draws the borders between panes. The borders around the focused pane are highlighted.
type Edges struct {
	Look  *look.Look
	Focus look.Rect // the focused pane, including its title row; empty without focus
}

// DrawPiece draws a piece of border at a cell.
func (e Edges) DrawPiece(piece string, x, y int) string { return e.Look.Edge(piece, e.inFrame(x, y)) }

// inFrame reports whether a cell belongs to the frame of the focused pane: its title row,
// the columns beside it, and the title rows below it.
func (e Edges) inFrame(x, y int) bool {
	r := e.Focus
	if r.W <= 0 || x < r.X-1 || x > r.X+r.W || y < r.Y || y > r.Y+r.H {
		return false
	}
	return x == r.X-1 || x == r.X+r.W || y == r.Y || y == r.Y+r.H
}

// drawTitle draws the title row of a leaf with rectangle r. It highlights the parts of the row that
// belong to the frame of the focused pane.
func (e Edges) drawTitle(title string, r look.Rect) string {
	from, to := 0, 0
	switch {
	case e.Focus == r && e.Look.Rule != "":
		return e.highlightRules(title)
	case e.Focus.W > 0 && r.Y == e.Focus.Y+e.Focus.H:
		from, to = max(e.Focus.X-1-r.X, 0), min(e.Focus.X+e.Focus.W+1-r.X, r.W)
	default:
		return title
	}
	if from >= to || e.Look.Rule == "" {
		return title
	}
	under := text.CutLeft(text.Cut(title, to, ""), from)
	return text.Cut(title, from, "") + e.highlightRules(under) + text.CutLeft(title, to)
}

// highlightRules highlights the pieces of rule in a row.
func (e Edges) highlightRules(row string) string {
	parts := strings.Split(row, string(e.Look.Rule))
	out := parts[0]
	for _, part := range parts[1:] {
		line, rest, _ := strings.Cut(part, text.SgrReset)
		out += e.Look.Edge(line, strings.Trim(line, "─┴") == "") + rest
	}
	return out
}
