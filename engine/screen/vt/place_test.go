package vt

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/screen/vt/grid"
	"tandem/tests/seed"
)

func TestPositionsFollowTheirTextThroughResize(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		term := New(Options{Cols: rapid.IntRange(2, 12).Draw(t, "cols"), Rows: rapid.IntRange(1, 5).Draw(t, "rows"), ScrollbackLines: 30})
		term.Write([]byte(rapid.StringOf(rapid.SampledFrom([]rune("abcdefgh漢字\r\n"))).Draw(t, "text")))
		oldest, _, end := term.Bounds()
		var keep []*Position
		var want []string
		for n := oldest; n < end; n++ {
			for x, c := range term.store.lineCells(n) {
				if c.Glyph == grid.Tail || c.Blank() {
					continue
				}
				keep = append(keep, &Position{n, x})
			}
		}
		for _, p := range keep {
			want = append(want, string(term.AppendCells(nil, p.Line, p.X, p.X+1)))
		}
		blank := &Position{end - 1, 0}
		term.Resize(rapid.IntRange(2, 14).Draw(t, "new cols"), rapid.IntRange(1, 6).Draw(t, "new rows"), append(keep, blank)...)
		oldest, _, _ = term.Bounds()
		for i, p := range keep {
			if got := string(term.AppendCells(nil, p.Line, p.X, p.X+1)); p.Line >= oldest && got != want[i] {
				t.Fatalf("%q is at %v, where %q is", want[i], *p, got)
			}
		}
		if blank.Line < 0 {
			t.Fatalf("a blank line went to %v", *blank)
		}
	})
}

func TestErasingRowRemovesItsPromptMark(t *testing.T) {
	term := New(Options{Cols: 10, Rows: 3})
	term.Write([]byte("\x1b]133;A\a$ ls\r\n\x1b]133;C\aout\r\n"))
	if term.MarkOf(0) != MarkPrompt || term.MarkOf(1) != MarkOutput || term.MarkOf(2) != 0 {
		t.Errorf("marks %v %v %v", term.MarkOf(0), term.MarkOf(1), term.MarkOf(2))
	}
	term.Write([]byte("\n"))
	if term.MarkOf(0) != MarkPrompt || term.MarkOf(1) != MarkOutput {
		t.Error("marks are lost in the scrollback")
	}
	term.Write([]byte("\x1b[H\x1b[J"))
	if term.MarkOf(0) != MarkPrompt || term.MarkOf(1) != 0 {
		t.Error("an erased row is still marked")
	}
	term.Write([]byte("\x1b[?1049h\x1b]133;A\a"))
	for n := range int64(4) {
		if n > 0 && term.MarkOf(n) != 0 {
			t.Error("the alternate screen is marked")
		}
	}
}
