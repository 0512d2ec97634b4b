package history

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/vt/grid"
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

func TestPushedRowsUnpackToTheirCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(1000, 1<<20, 0)
		rows := make([][]grid.Cell, rapid.IntRange(1, 20).Draw(t, "rows"))
		for i := range rows {
			rows[i] = drawRow(t)
			h.Push(rows[i], Attrs{Wrapped: i%2 == 0}, clusters)
		}
		for i, row := range rows {
			got, attrs := h.Get(int64(i), nil, intern)
			if !slices.EqualFunc(got, row, sameCell) || attrs.Wrapped != (i%2 == 0) {
				t.Fatalf("row %d unpacks to %v, wrapped %v; was %v", i, got, attrs.Wrapped, row)
			}
		}
	})
}

// sameCell reports whether two cells look the same: a blank is a space.
func sameCell(a, b grid.Cell) bool {
	return a.Style == b.Style && (a.Glyph == b.Glyph || a.Empty() && b.Empty())
}
