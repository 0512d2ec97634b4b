package layout

import (
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/widget"
)

// Joined is a title row in which the borders end that come down to it.
func (n *Node) Joined(title string, e Edges) string {
	if n.Rect.Y == n.Root().Rect.Y {
		return e.title(title, n.Rect)
	}
	for x := n.Rect.X; x < n.Rect.X+n.Rect.W; x++ {
		at := x - n.Rect.X
		if n.wallAbove(x, n.Rect.Y) && isRule(ansi.Strip(widget.Cut(widget.CutLeft(title, at), 1, ""))) {
			title = widget.Cut(title, at, "") + e.Look.Rule.Text("┴") + widget.CutLeft(title, at+1)
		}
	}
	return e.title(title, n.Rect)
}

func isRule(cell string) bool { return cell == "─" || cell == "━" }

// wallAbove reports whether a border between panes side by side ends in the row
// above a cell.
func (n *Node) wallAbove(x, y int) bool {
	s := n.Root().BorderAt(x, y-1)
	return s != nil && s.Axis == Beside
}

// AppendRow appends the row y of the screen as far as it is the node's.
func (n *Node) AppendRow(out []byte, y int, e Edges) []byte {
	if n.Pane != nil {
		i := y - n.Rect.Y
		if n.Title != "" {
			if i == 0 {
				return append(out, n.Title...)
			}
			i--
		}
		if i < len(n.Rows) {
			return append(out, n.Rows[i]...)
		}
		return append(out, widget.Spaces(n.Rect.W)...)
	}
	if n.Axis == Below {
		return n.half(y).AppendRow(out, y, e)
	}
	out = n.A.AppendRow(out, y, e)
	joint := Joint(n.A.TitleAt(y, false), n.B.TitleAt(y, true), y == n.Rect.Y && !n.wallAbove(n.Border(), y))
	out = append(out, e.Text(joint, n.Border(), y)...)
	return n.B.AppendRow(out, y, e)
}

// half is the half of a split below that has row y.
func (n *Node) half(y int) *Node {
	if y < n.B.Rect.Y {
		return n.A
	}
	return n.B
}

// TitleAt reports whether row y is a title row at the node's left or right
// edge.
func (n *Node) TitleAt(y int, leftEdge bool) bool {
	switch {
	case n.Pane != nil:
		return n.Title != "" && y == n.Rect.Y
	case n.Axis == Below:
		return n.half(y).TitleAt(y, leftEdge)
	case leftEdge:
		return n.A.TitleAt(y, true)
	}
	return n.B.TitleAt(y, false)
}

// Joint is the piece of a vertical border at a row: there may be title rows on
// both sides, and the border may begin here.
func Joint(onLeft, onRight, first bool) string {
	switch {
	case onLeft && onRight && first:
		return "┬"
	case onLeft && onRight:
		return "┼"
	case onLeft:
		return "┤"
	case onRight:
		return "├"
	}
	return "│"
}
