package vt

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/screen/vt/grid"
	"tandem/tests/seed"
)

// TestRowStateMatchesItsCells compares the used and wide columns of each row with its cells.
func TestRowStateMatchesItsCells(t *testing.T) {
	pieces := []string{
		"hello", "中文字中", "e\u0301", "❤\ufe0f", "\r\n", "\n", "\r", "\b", "\t", "\x1b[m", "\x1b[44m", "\x1b[7m",
		"\x1b[H", "\x1b[3;4H", "\x1b[2;9H", "\x1bM", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[K", "\x1b[1K",
		"\x1b[3@", "\x1b[2P", "\x1b[4X", "\x1b[2L", "\x1b[2M", "\x1b[2S", "\x1b[2T", "\x1b[9b", "\x1b[2'}", "\x1b['~",
		"\x1b[2;4r", "\x1b[r", "\x1b[?69h", "\x1b[3;6s", "\x1b[?69l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4h", "\x1b[4l",
		"\x1b#8", "\x1b[65;1;1;3;9$x", "\x1b[1;1;2;4$z", "\x1b[1;1;2;5;1;2;4$v", "\x1b[1;1;2;9;7$r", "\x1b[1\"q", "\x1b[?J",
	}
	seed.Check(t, func(t *rapid.T) {
		term := New(Options{Cols: 9, Rows: 5})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 19).Draw(t, "resize") == 0 {
				term.Resize(rapid.IntRange(1, 12).Draw(t, "cols"), rapid.IntRange(1, 7).Draw(t, "rows"))
			}
			piece := rapid.SampledFrom(pieces).Draw(t, "piece")
			term.Write([]byte(piece))
			checkRows(t, term, piece)
		}
	})
}

func checkRows(t *rapid.T, term *Terminal, piece string) {
	for y, row := range term.store.scr.rows {
		cells := term.store.scr.grid.Row(y)
		if len(trimBlank(cells)) > int(row.used) {
			t.Fatalf("after %q row %d is used up to %d, noted is %d", piece, y, len(trimBlank(cells)), row.used)
		}
		for x, c := range cells {
			lead := x > 0 && cells[x-1].Glyph != grid.Tail && !cells[x-1].Empty()
			if c.Glyph == grid.Tail && (x >= int(row.wide) || !lead || cells[x-1].Style != c.Style) {
				t.Fatalf("after %q row %d has half a cluster at %d (wide before %d): %v", piece, y, x, row.wide, cells)
			}
		}
	}
}

// A glyph wider than its cells is a run of its own, with the number of its cells.
func TestOneCellEmojiGetsItsOwnRun(t *testing.T) {
	own := New(Options{Cols: 20, Rows: 1})
	own.Write([]byte("a⚠\ufe0fb\x1b[?2027h⚠\ufe0fc"))
	var got []string
	for _, r := range own.store.screenLine(0).Runs {
		got = append(got, fmt.Sprint(r.Text, r.Cells))
	}
	if want := []string{"a1", "⚠\ufe0f1", "b⚠\ufe0fc4"}; !slices.Equal(got, want) {
		t.Errorf("the runs are %q, want %q", got, want)
	}
}
