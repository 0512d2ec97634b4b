package layout

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/look"
	"tandem/themes"
)

func TestNumberIsDrawnInMiddleOfPane(t *testing.T) {
	style := &look.Look{Glyphs: themes.ASCIIGlyphs()}
	leaf := NewLeaf("a")
	for _, size := range []struct {
		w, h int
		want string
	}{
		{14, 7, "aa          aa\naa  ######  aa\naa      ##  aa\naa  ######  aa\naa  ##      aa\naa  ######  aa\naa          aa"},
		{9, 7, "aaaaaaaaa\naaaaaaaaa\naaaaaaaaa\naaa 2 aaa\naaaaaaaaa\naaaaaaaaa\naaaaaaaaa"},
		{14, 2, "aaaaa 2 aaaaaa\naaaaaaaaaaaaaa"},
	} {
		leaf.Rect = look.Rect{W: size.w, H: size.h + 1}
		rows := make([]string, size.h)
		for i := range rows {
			rows[i] = strings.Repeat("a", size.w)
		}
		got := NumberLeaves([]*Node{NewLeaf("a"), leaf}).DrawOver(leaf, rows, false, style)
		if text := ansi.Strip(strings.Join(got, "\n")); text != size.want {
			t.Errorf("in %d×%d it is\n%s", size.w, size.h, text)
		}
		if strings.Contains(rows[size.h/2], "2") {
			t.Error("the pane's own rows were changed")
		}
	}
}

func TestEachDigitSelectsOnePane(t *testing.T) {
	var leaves []*Node
	for range 12 {
		leaves = append(leaves, NewLeaf("a"))
	}
	n := NumberLeaves(leaves)
	if n.LeafFor("1") != leaves[0] || n.LeafFor("9") != leaves[8] || n.LeafFor("0") != leaves[9] || n.LeafFor("a") != nil || n.LeafFor("") != nil {
		t.Error("a digit leads elsewhere")
	}
	if got := n[:3].KeyRange(); got != "1–3" {
		t.Errorf("the keys of three are %s", got)
	}
}
