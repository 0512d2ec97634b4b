package screen

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/screen/vt"
	"tandem/tests/seed"
)

// Nothing that was shown before, at whatever size, may remain on the screen.
func TestResizeLeavesNothingOfOldScreen(t *testing.T) {
	canvas := newCanvas(t)
	seed.Check(t, func(r *rapid.T) {
		c := canvas.restart()
		if err := c.enterScreen(); err != nil {
			r.Fatal(err)
		}
		w, h := 20, 5
		screen := vt.New(vt.Options{Cols: w, Rows: h})
		for range rapid.IntRange(2, 12).Draw(r, "steps") {
			if rapid.Bool().Draw(r, "resized") {
				w, h = rapid.IntRange(1, 40).Draw(r, "cols"), rapid.IntRange(2, 10).Draw(r, "rows")
				screen.Resize(w, h)
			}
			rows := make([]string, h)
			for y := range rows {
				row := rapid.StringMatching(`[a-c ]{0,40}`).Draw(r, "row")
				rows[y] = row[:min(len(row), w)]
			}
			rows[h-1] = "status"[:min(6, w)]
			c.updateFrame(func(f *frame) { f.setView(viewOf(rows...), w, h) })
			if err := c.Paint(); err != nil {
				r.Fatal(err)
			}
			screen.Write([]byte(c.readWritten()))
			var want strings.Builder
			for _, row := range rows {
				want.WriteString(strings.TrimRight(row, " ") + "\n")
			}
			if got := screenOf(screen); got != want.String() {
				r.Fatalf("at %d by %d is shown\n%s\nand not\n%s", w, h, got, want.String())
			}
		}
	})
}
