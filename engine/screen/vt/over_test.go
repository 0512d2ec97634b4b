package vt_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/screen/vt"
	"tandem/tests/seed"
)

func TestOverlayDrawingIsUndone(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		const cols, rows = 12, 6
		program, user := vt.New(vt.Options{Cols: cols, Rows: rows}), vt.New(vt.Options{Cols: cols, Rows: rows})
		write := func(label string) {
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 20).Draw(r, label) {
				if p == "\xe2\x82" {
					continue // nothing is drawn within a character
				}
				program.Write([]byte(p))
				user.Write([]byte(p))
			}
		}
		write("before")
		screen := vt.NewOverlay(program)
		if !screen.CanAddressCells() {
			return
		}
		x, y := rapid.IntRange(0, cols-1).Draw(r, "x"), rapid.IntRange(0, rows-1).Draw(r, "y")
		text := rapid.SampledFrom([]string{"x", "abc", "漢"}).Draw(r, "text")
		end := min(x+3, cols)
		if text == "漢" && x == cols-1 {
			text = "x"
		}
		drawing := screen.AppendPlainStyle(nil)
		drawing = fmt.Appendf(drawing, "\x1b[%d;%dH\x1b[4m%.*s\x1b[m", y+1, x+1, end-x, text)
		drawing = screen.AppendCursor(drawing)
		drawing = screen.AppendCells(screen.AppendPlainStyle(drawing), x, y, end)
		user.Write(screen.AppendCursor(drawing))
		if diff := cmp.Diff(screenContents(program), screenContents(user)); diff != "" {
			r.Fatalf("the screen is not as before (-program +person):\n%s", diff)
		}
	})
}

// screenContents returns the texts and styles of all cells, the cursor and the pen.
func screenContents(t *vt.Terminal) (all []string) {
	cols, rows := t.Size()
	screen := vt.NewOverlay(t)
	for y := range rows {
		for x := range cols {
			text, style := screen.Cell(x, y)
			all = append(all, fmt.Sprintf("%d,%d %q %v", x, y, text, style))
		}
	}
	return append(all, fmt.Sprintf("%+v wraps %v %v", t.Cursor(), screen.WrapPending(), screen.Pen()))
}
