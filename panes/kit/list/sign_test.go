package list

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

func TestListSignShowsPositionAndFilter(t *testing.T) {
	look := &look.Look{Chip: "\x1b[7m", Glyphs: themes.UnicodeGlyphs()}
	for _, c := range []struct {
		sign ListSign
		w    int
		want string
	}{
		{ListSign{At: 14, Shown: 25, All: 25}, 40, "14/25"},
		{ListSign{Shown: 25}, 40, "25"},
		{ListSign{Filter: "web", At: 1, Shown: 2, All: 5}, 40, " /web  1/2 of 5"},
		{ListSign{Filter: "a long one", At: 1, Shown: 2, All: 5}, 17, " /a lo…  1/2 of 5"},
		{ListSign{Filter: "web", At: 1, Shown: 2}, 6, "1/2"},
		{ListSign{At: 14, Shown: 25}, 4, ""},
	} {
		got, cells := c.sign.Draw(c.w, look)
		if ansi.Strip(got) != c.want || cells != text.Width(c.want) {
			t.Errorf("%+v in %d cells says %q in %d, want %q", c.sign, c.w, ansi.Strip(got), cells, c.want)
		}
	}
}

func TestScrollbarShowsVisiblePart(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	for _, c := range []struct {
		top, total int
		want       string
	}{
		{0, 4, "...."}, {0, 5, "▐▐▐│"}, {1, 5, "│▐▐▐"}, {0, 16, "▐│││"}, {12, 16, "│││▐"}, {5, 1 << 40, "▐│││"},
	} {
		rows := []string{"...", "...", "...", "..."}
		Scrollbar(rows, 3, c.top, c.total, look)
		got := ""
		for _, row := range rows {
			if text.Width(row) != 3 {
				t.Fatalf("%q is not 3 cells wide", row)
			}
			row = ansi.Strip(row)
			got += string([]rune(row)[2])
		}
		if got != c.want {
			t.Errorf("from %d of %d: %q, want %q", c.top, c.total, got, c.want)
		}
	}
}

func TestLongFilterKeepsColumnNames(t *testing.T) {
	look := &look.Look{Chip: "\x1b[7m", Glyphs: themes.UnicodeGlyphs()}
	row := text.Fit("       name    state▲              pid   cpu%   mem   up   ports", 80)
	sign := ListSign{Filter: "a filter that is long and says much", At: 1, Shown: 2, All: 5}
	got := ansi.Strip(sign.Over(row, 80, look))
	want := text.Fit("       name    state▲              pid   cpu%   mem   up", 58) + "  /a filte…  1/2 of 5 "
	if got != want {
		t.Errorf("the row is\n%q, want\n%q", got, want)
	}
}
