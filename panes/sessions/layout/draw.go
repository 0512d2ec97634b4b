package layout

import (
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/text"
)

// TitleRow returns the title row of a leaf, joined to the vertical borders that end at it from
// above.
func (n *Node) TitleRow(title string, e Edges) string {
	if n.Rect.Y == n.Root().Rect.Y {
		return e.drawTitle(title, n.Rect)
	}
	for x := n.Rect.X; x < n.Rect.X+n.Rect.W; x++ {
		at := x - n.Rect.X
		if n.wallAbove(x, n.Rect.Y) && isRule(ansi.Strip(text.Cut(text.CutLeft(title, at), 1, ""))) {
			title = text.Cut(title, at, "") + e.Look.Rule.Text("┴") + text.CutLeft(title, at+1)
		}
	}
	return e.drawTitle(title, n.Rect)
}

func isRule(cell string) bool { return cell == "─" || cell == "━" }

// wallAbove reports whether a border between panes side by side ends in the row above a
// cell.
func (n *Node) wallAbove(x, y int) bool {
	s := n.Root().BorderAt(x, y-1)
	return s != nil && s.Axis == Beside
}

// AppendRow appends the node's part of row y of the screen.
func (n *Node) AppendRow(out []byte, y int, e Edges) []byte {
	if n.IsLeaf() {
		i := y - n.Rect.Y
		if n.Title != "" {
			if i == 0 {
				return append(out, n.Title...)
			}
			i--
		}
		if i < len(n.Rows) {
			return n.appendPaneRow(out, i)
		}
		return append(out, text.Spaces(n.Rect.W)...)
	}
	if n.Axis == Below {
		return n.halfAt(y).AppendRow(out, y, e)
	}
	out = n.A.AppendRow(out, y, e)
	joint := JointPiece(n.A.TitleAt(y, false), n.B.TitleAt(y, true), y == n.Rect.Y && !n.wallAbove(n.BorderCell(), y))
	out = append(out, e.DrawPiece(joint, n.BorderCell(), y)...)
	return n.B.AppendRow(out, y, e)
}

// AppendPane appends the rows of a leaf's pane, each with a newline.
func (n *Node) AppendPane(out []byte) []byte {
	for i := range n.Rows {
		out = append(n.appendPaneRow(out, i), '\n')
	}
	return out
}

func (n *Node) appendPaneRow(out []byte, i int) []byte {
	from := len(out)
	out = append(out, n.Rows[i]...)
	n.Cuts[i] = [2]int{from, len(out)}
	return out
}

// halfAt returns the half of a split that contains row y.
func (n *Node) halfAt(y int) *Node {
	if y < n.B.Rect.Y {
		return n.A
	}
	return n.B
}

// TitleAt reports whether row y is a title row at the node's left or right edge.
func (n *Node) TitleAt(y int, leftEdge bool) bool {
	switch {
	case n.IsLeaf():
		return n.Title != "" && y == n.Rect.Y
	case n.Axis == Below:
		return n.halfAt(y).TitleAt(y, leftEdge)
	case leftEdge:
		return n.A.TitleAt(y, true)
	}
	return n.B.TitleAt(y, false)
}

// JointPiece returns the character of a vertical border in one row. onLeft and onRight say that a
// title row joins the border on that side. first says that the border starts in this row.
func JointPiece(onLeft, onRight, first bool) string {
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
