package screen

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/base/cellwidth"
)

func TestTextReachesTerminalUnchanged(t *testing.T) {
	edge := strings.Repeat("a", 18)
	cases := []struct{ name, row, perRune, perCluster string }{
		{"combining marks", "e\u0301 x a\u0300 y", "e\u0301 x a\u0300 y", "e\u0301 x a\u0300 y"},
		{"two marks", "x\u0332\u0301|", "x\u0332\u0301|", "x\u0332\u0301|"},
		{"a mark behind a wide base", "漢\u0301|", "漢\u0301|", "漢\u0301|"},
		{"a mark at the row's end", edge + "ae\u0301", edge + "ae\u0301", edge + "ae\u0301"},
		{"a mark in another style", "e\x1b[1m\u0301x", "e\x1b[1mx", "e\x1b[1mx"},
		{"a mark that begins the row", "\u0301x|", "x|", "x|"},
		{"keycap", "1\ufe0f\u20e3|", "1\u20e3 |", "1\ufe0f\u20e3|"},
		{"narrow emoji that stays so", "\x1b]66;w=1;❤\ufe0f\x1b\\|", "❤|", "❤|"},
		{"narrow emoji made wide", "❤\ufe0f|", "❤ |", "❤\ufe0f|"},
		{"family", "👨\u200d👩\u200d👧|", "👨|", "👨\u200d👩\u200d👧|"},
		{"a joiner at the end", "👨\u200d\x1b[1m👩|", "👨\x1b[1m👩|", "👨\x1b[1m👩|"},
		{"flag", "🇩🇪🇫🇷|", "🇩🇪🇫🇷|", "🇩🇪🇫🇷|"},
		{"half a flag", "🇩\x1b[1m🇪|", "🇩\x1b[1m🇪|", "🇩\x1b[1m🇪|"},
		{"decomposed Hangul", "\u1112\u1161\u11ab|", "\u1112\u1161\u11ab|", "\u1112\u1161\u11ab|"},
		{"conjunct", "स्ते|", "स्ते|", "स्ते|"},
		{"conjunct of more than two cells", "क्या|", "क्या|", "क्या|"},
		{"vowel sign in another style", "क\x1b[1mी|", "क\x1b[1mी|", "क\x1b[1mी|"},
		{"sara am", "น้ำกำ|", "น้ำกำ|", "น้ำกำ|"},
		{"cluster whose cells are said", "\x1b]66;w=2;क्या\x1b\\|", "क्य|", "क्या|"},
		{"one cell that is said", "\x1b]66;w=1;की\x1b\\|", "क|", "की|"},
		{"cells that are not said", "\x1b]66;w=9;की\x1b\\\x1b]66;w=2;ab\x1b\\|", "|", "|"},
		{"wide at the edge", edge + "漢", edge + "漢", edge + "漢"},
		{"wide over the edge", edge + "a漢", edge + "a", edge + "a"},
		{"keycap over the edge", edge + "a1\ufe0f\u20e3", edge + "a", edge + "a"},
		{"control characters", "a\x07b\rc\x7fd\u009b2Je", "abcd2Je", "abcd2Je"},
		{"other sequences", "a\x1b[2Jb\x1b]0;title\x07c\x1b[10Gd", "abcd", "abcd"},
		{"right to left override", "a\u202eb\u200fc", "abc", "abc"},
		{"no UTF-8", "a\xffb", "a\ufffdb", "a\ufffdb"},
		{"a hundred marks", "e" + strings.Repeat("\u0301", 100) + "|", "e" + strings.Repeat("\u0301", 31) + "|", "e" + strings.Repeat("\u0301", 31) + "|"},
	}
	for _, tt := range cases {
		for clusters, want := range map[bool]string{false: tt.perRune, true: tt.perCluster} {
			c := newCanvas(t)
			c.enterScreen()
			c.readWritten()
			c.updateFrame(func(f *frame) { f.clusters = clusters })
			got := c.showView(viewOf(tt.row))
			if _, got, _ = strings.Cut(got, ansi.EraseEntireScreen); !strings.Contains(withoutAnchors(got), want) || strings.Contains(want, edge+"a") && strings.Contains(got, "漢") {
				t.Errorf("%s, mode 2027 %v: %q lacks %q", tt.name, clusters, got, want)
			}
			if left := unprintable(got); left != "" {
				t.Errorf("%s, mode 2027 %v: %q has %q", tt.name, clusters, got, left)
			}
		}
	}
}

var anchors = regexp.MustCompile(` *\x1b\[\d+G(?:\x1b\[\?7l)?([^\x1b]+)(?:\x1b\[\?7h)?\x1b\[\d+G`)

// withoutAnchors removes the cursor movements around clusters.
func withoutAnchors(got string) string { return anchors.ReplaceAllString(got, "$1") }

// unprintable returns characters of a text that must not reach the terminal.
func unprintable(got string) string {
	return strings.Map(func(r rune) rune {
		if r == '\x1b' || r == '\r' || r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, got)
}

func TestAddedOrRemovedMarkIsRedrawn(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	c.showView(viewOf("cafe"))
	c.readWritten()
	if got := c.showView(viewOf("cafe\u0301")); !strings.Contains(got, "e\u0301") {
		t.Errorf("a mark came: %q", got)
	}
	if got := c.showView(viewOf("cafe")); !strings.Contains(got, "e") || strings.Contains(got, "\u0301") {
		t.Errorf("a mark went: %q", got)
	}
}

func TestLinksKeepSemicolons(t *testing.T) {
	line := uv.NewLine(3)
	drawRow(line, "\x1b]8;id=1;http://x/a;b\x1b\\a\x1b]8;;\x1b\\b", true, nil)
	if got, want := line[0].Link, (uv.Link{URL: "http://x/a;b", Params: "id=1"}); got != want {
		t.Errorf("the link is %+v, want %+v", got, want)
	}
	if got := line[1].Link; got != (uv.Link{}) {
		t.Errorf("behind it is the link %+v", got)
	}
}

func FuzzRow(f *testing.F) {
	for _, row := range []string{"e\u0301x", "1\ufe0f\u20e3", "👨‍👩‍👧 🇩🇪🇫", "\x1b[1;31mस्तेन้ำ\x1b]8;;x\x1b\\漢", "\xff\xc2\x9b\x1b", "e" + strings.Repeat("\u0301", 255)} {
		f.Add(row, 7, true)
	}
	f.Fuzz(func(t *testing.T, row string, w int, clusters bool) {
		if w < 0 || w > 200 {
			return
		}
		line := uv.NewLine(w)
		drawRow(line, "漢字漢字", clusters, nil)
		drawRow(line, row, clusters, nil)
		for x := 0; x < w; x++ {
			cell := line[x]
			text := strings.TrimSuffix(withoutAnchors(cell.Content), "\x1b(B")
			wc := cellwidth.PerCodePoint(text)
			if cell.Width < 1 || x+cell.Width > w || len(text) > 64 || !clusters && wc > cell.Width || !clusters && text == cell.Content && wc != cell.Width {
				t.Fatalf("%q has the cell %d of %q, %d wide", row, x, cell.Content, cell.Width)
			}
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q shows %q", row, cell.Content)
			}
			for range cell.Width - 1 {
				if x++; line[x] != (uv.Cell{}) {
					t.Fatalf("%q has %q in a wide character", row, line[x].Content)
				}
			}
		}
	})
}

func TestDrawRowKeepsOverline(t *testing.T) {
	line := make(uv.Line, 8)
	drawRow(line, "a\x1b[0;53;38;5;1mb\x1b[4:3;38;5;53mc \x1b[55md\x1b[53me\x1b[mf\x1b[38;2;53;53;53;58:5:53mg", false, nil)
	var got []string
	for _, c := range line {
		got = append(got, c.Content)
	}
	over := func(s string) string { return "\x1b[53m" + s + "\x1b[55m" }
	if want := []string{"a", over("b"), over("c"), over(" "), "d", over("e"), "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("cells are %q, want %q", got, want)
	}
}

func TestCharactersOfTheFastPathAreWholeClusters(t *testing.T) {
	alone := 0
	for r := rune(' '); r < unicode.MaxRune; r++ {
		s := string(r)
		if aloneBytes(s) == 0 {
			continue
		}
		alone++
		for _, next := range []string{"", "a", "\x1b", "я", "│", "ß"} {
			if cluster, width := cellwidth.First(s + next); cluster != s || width != 1 {
				t.Errorf("%q before %q is %q of %d cells", s, next, cluster, width)
			}
		}
		for _, clusters := range []bool{false, true} {
			if text, cells, sure := visibleText(s, 1, clusters); text != s || cells != 1 || !sure {
				t.Errorf("%q is shown as %q in %d cells; sure: %v", s, text, cells, sure)
			}
		}
		for _, before := range []string{"", "a", "я", "│", "ß"} {
			if p := (pen{last: before}); p.mayJoin(s) {
				t.Errorf("%q joins %q", s, before)
			}
		}
	}
	if alone < 500 {
		t.Errorf("only %d characters are drawn alone", alone)
	}
}
