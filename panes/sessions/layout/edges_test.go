package layout

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

// fourTitled returns two rows of two panes, with titles drawn for the focused one.
func fourTitled(style *look.Look, focus int) (root *Node, e Edges) {
	root = treeOf("((a|b)/(c|d))")
	root.SetRects(look.Rect{W: 41, H: 12})
	leaves := root.Leaves(nil)
	e = Edges{Look: style, Focus: leaves[focus].Rect}
	for i, l := range leaves {
		l.Title = l.TitleRow(style.Heading("pane", "", l.Rect.W, i == focus), e)
	}
	return root, e
}

// drawRows draws the rows of a tree.
func drawRows(root *Node, e Edges) (rows []string) {
	for y := range root.Rect.H {
		rows = append(rows, string(root.AppendRow(nil, y, e)))
	}
	return rows
}

func TestFocusHighlightsWholeFrame(t *testing.T) {
	look := &look.Look{Rule: "\x1b[90m", Accent: "\x1b[96m", Dim: "\x1b[90m", Title: "\x1b[96;1m", Glyphs: themes.UnicodeGlyphs()}
	for focus := range 4 {
		root, e := fourTitled(look, focus)
		rows := drawRows(root, e)
		for y, row := range rows {
			for x := range root.Rect.W {
				cell := text.Cut(text.CutLeft(row, x), 1, "")
				if !strings.ContainsAny(cell, "─│┬┴├┤┼") {
					continue
				}
				i := strings.IndexAny(cell, "─│┬┴├┤┼")
				at := strings.LastIndex(cell[:i], "\x1b[9")
				if got := strings.HasPrefix(cell[at:], string(look.Accent)); got != e.inFrame(x, y) {
					t.Errorf("focus on %d: the border at %d, %d stands out: %v", focus, x, y, got)
				}
			}
		}
	}
}

func TestFocusedFrameIsHeavyWithoutColours(t *testing.T) {
	root, e := fourTitled(&look.Look{Rule: "\x1b[90m", Accent: "\x1b[96m", Heavy: true, Glyphs: themes.UnicodeGlyphs()}, 1)
	var rows []string
	for _, row := range drawRows(root, e) {
		rows = append(rows, ansi.Strip(row))
	}
	want := "" +
		"─ pane ─────────────┳━ pane ━━━━━━━━━━━━━\n" +
		strings.Repeat("                    ┃                    \n", 5) +
		"─ pane ─────────────╋━ pane ━━━━━━━━━━━━━\n" +
		strings.Repeat("                    │                    \n", 5)
	if got := strings.Join(rows, "\n") + "\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
