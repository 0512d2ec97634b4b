package history

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/screen/vt/grid"
	"tandem/tests/seed"
)

var clusters = []string{"", "e\u0301", "👨\u200d👩\u200d👧"}

// intern returns the glyph of one of clusters.
func intern(text []byte) grid.Glyph {
	return grid.FirstCluster + grid.Glyph(slices.Index(clusters, string(text)))
}

// drawRow draws the cells of a row: runs of characters and blanks in a few styles.
func drawRow(t *rapid.T) (cells []grid.Cell) {
	for range rapid.IntRange(0, 6).Draw(t, "runs") {
		style := rapid.SampledFrom([]grid.StyleID{0, 0, 1, 300}).Draw(t, "style")
		glyphs := rapid.SampledFrom([][]grid.Glyph{
			{'a', 'z', ' ', '~'}, {0, 'x'}, {'é', '→', 'a'}, {'中', '文', '😀'}, {grid.FirstCluster + 1}, {grid.FirstCluster + 2},
		}).Draw(t, "glyphs")
		for range rapid.IntRange(1, 20).Draw(t, "cells") {
			g := rapid.SampledFrom(glyphs).Draw(t, "glyph")
			cells = append(cells, grid.Cell{Glyph: g, Style: style})
			if g >= '中' && g < grid.FirstCluster || g == grid.FirstCluster+2 {
				cells = append(cells, grid.Cell{Glyph: grid.Tail, Style: style})
			}
		}
	}
	return cells
}

// A kept line is what a test expects of a stored one.
type kept struct {
	cells   []grid.Cell
	wrapped bool
}

// TestPushedLinesUnpackToTheirCells pushes rows and text, often several times, and drops old lines.
func TestPushedLinesUnpackToTheirCells(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		h := New(rapid.SampledFrom([]int{3, 100, 100_000}).Draw(t, "limit"), rapid.SampledFrom([]int{1, 64 << 10, 1 << 20}).Draw(t, "bytes"), 7)
		lines := make([]kept, 7)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			times := rapid.SampledFrom([]int{1, 1, 2, 700}).Draw(t, "times")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				h.DropHalf()
			case 1:
				if last := len(lines) - 1; h.Oldest() < h.End() && h.UnwrapLast() != lines[last].wrapped {
					t.Fatalf("line %d was wrapped: %v", last, lines[last].wrapped)
				} else if h.Oldest() < h.End() {
					lines[last].wrapped = false
				}
			case 2, 3, 4, 5:
				text := rapid.SampledFrom([]string{"", "y", "ab", "a line of text"}).Draw(t, "text")
				h.PushText([]byte(text+"  "), times)
				lines = append(lines, slices.Repeat([]kept{{textCells(text), false}}, times)...)
			case 6:
				h.PushWrapped([]byte("cut "))
				lines = append(lines, kept{textCells("cut "), true})
			default:
				row := kept{drawRow(t), rapid.Bool().Draw(t, "wrapped")}
				for range times {
					h.Push(row.cells, Attrs{Wrapped: row.wrapped}, clusters)
				}
				lines = append(lines, slices.Repeat([]kept{row}, times)...)
			}
			checkKept(t, &h, lines)
		}
	})
}

func textCells(text string) (cells []grid.Cell) {
	for _, b := range []byte(text) {
		cells = append(cells, grid.Cell{Glyph: grid.Glyph(b)})
	}
	return cells
}

// checkKept compares the stored lines with those of the same numbers in lines.
func checkKept(t *rapid.T, h *Lines, lines []kept) {
	if h.End() != int64(len(lines)) {
		t.Fatalf("the next line is %d, want %d", h.End(), len(lines))
	}
	want := map[grid.StyleID]bool{}
	for n := h.Oldest(); n < h.End(); n++ {
		got, attrs := h.Get(n, nil, intern)
		if !slices.EqualFunc(got, lines[n].cells, sameCell) || attrs.Wrapped != lines[n].wrapped {
			t.Fatalf("line %d unpacks to %v, wrapped %v; want %v", n, got, attrs.Wrapped, lines[n])
		}
		for _, c := range got {
			want[c.Style] = true
		}
	}
	styles := map[grid.StyleID]bool{0: want[0]}
	h.EachStyle(func(s grid.StyleID) { styles[s] = styles[s] || s != 0 || want[0] })
	for s := range styles {
		if styles[s] != want[s] {
			t.Fatalf("style %d is listed: %v, want %v", s, styles[s], want[s])
		}
	}
}

func TestEqualLinesAreStoredOnce(t *testing.T) {
	h := New(100_000, 1<<20, 0)
	for range 300 {
		h.PushText([]byte("y"), 300)
		h.Push([]grid.Cell{{Glyph: 'y'}}, Attrs{}, nil)
	}
	if h.End()-h.Oldest() != 300*301 || h.bytes > 4*chunkSize {
		t.Errorf("%d lines take %d bytes", h.End()-h.Oldest(), h.bytes)
	}
}

// sameCell reports whether two cells look the same: a blank is a space.
func sameCell(a, b grid.Cell) bool {
	return a.Style == b.Style && (a.Glyph == b.Glyph || a.Empty() && b.Empty())
}
