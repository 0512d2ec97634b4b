package screen

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/screen/vt"
	"tandem/panes/kit/graphics"
	"tandem/tests/seed"
)

// letterPicture returns a picture for an emulator without support for pictures. Its
// letters stay until they are overwritten, as sixels do.
func letterPicture(x, y, cols, rows int) Placement {
	var data strings.Builder
	for row := range rows {
		data.WriteString(ansi.CursorPosition(x+1, y+row+1) + strings.Repeat("S", cols))
	}
	return Placement{&graphics.Picture{Protocol: graphics.Sixel, Cols: cols, Rows: rows, Data: []byte(data.String())}, x, y}
}

// A wall is the desired screen: words, and a picture over them.
type wall struct {
	rows []string
	at   Placement
	ink  int
	wide bool // the picture's cells extend to the right edge
}

// pictureCells returns the number of cells reserved for the picture in a row.
func (w wall) pictureCells() int {
	if w.wide {
		return len(w.rows[0]) - w.at.X
	}
	return w.at.Picture.Cols
}

// view gives the cells of the picture a colour of their own.
func (w wall) view() tea.View {
	rows := make([]string, len(w.rows))
	for y, row := range w.rows {
		rows[y] = row
		if p := w.at; p.coversRow(y) {
			room := fmt.Sprintf("\x1b[0;8;38;2;0;0;%dm%s\x1b[m", w.ink, strings.Repeat(" ", w.pictureCells()))
			rows[y] = row[:p.X] + room + row[p.X+w.pictureCells():]
		}
	}
	return tea.View{Content: strings.Join(rows, "\n")}
}

// expected returns the text an emulator should show.
func (w wall) expected() string {
	var out strings.Builder
	for y, row := range w.rows {
		if p := w.at; p.coversRow(y) {
			picture := strings.Repeat("S", p.Picture.Cols) + strings.Repeat(" ", w.pictureCells()-p.Picture.Cols)
			row = row[:p.X] + picture + row[p.X+w.pictureCells():]
		}
		out.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return out.String()
}

func screenOf(t *vt.Terminal) string {
	var out strings.Builder
	_, first, end := t.Bounds()
	for _, line := range t.Lines(first, int(end-first)) {
		var row strings.Builder
		for _, run := range line.Line.Runs {
			row.WriteString(run.Text)
		}
		out.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return out.String()
}

func TestPictureSurvivesChangesAndLeavesNoTrace(t *testing.T) {
	const w, h = 40, 10
	canvas := newCanvas(t)
	seed.Check(t, func(r *rapid.T) {
		c := canvas.restart()
		c.enterScreen()
		screen := vt.New(vt.Options{Cols: w, Rows: h})
		now := wall{rows: make([]string, h)}
		for y := range now.rows {
			now.rows[y] = strings.Repeat(" ", w)
		}
		now.rows[h-1] = "status" + strings.Repeat(" ", w-6) // as in the dashboard, it is never empty
		for step := range rapid.IntRange(1, 12).Draw(r, "steps") {
			y := rapid.IntRange(0, h-2).Draw(r, "row")
			word := rapid.StringMatching(`[a-c ]{0,40}`).Draw(r, "words")
			now.rows[y] = word + strings.Repeat(" ", w-len(word))
			if rapid.Bool().Draw(r, "scrolled") {
				copy(now.rows[:h-1], now.rows[1:h-1])
			}
			switch rapid.IntRange(0, 3).Draw(r, "picture") {
			case 0:
				now.at = Placement{}
			case 1, 2:
				cols, rows := rapid.IntRange(1, w).Draw(r, "cols"), rapid.IntRange(1, h-1).Draw(r, "rows")
				now.at = letterPicture(rapid.IntRange(0, w-cols).Draw(r, "x"), rapid.IntRange(0, h-1-rows).Draw(r, "y"), cols, rows)
				now.ink, now.wide = step+1, rapid.Bool().Draw(r, "wide")
			}
			c.updateFrame(func(f *frame) {
				f.setView(now.view(), w, h)
				f.picture = now.at
			})
			if err := c.Paint(); err != nil {
				r.Fatal(err)
			}
			screen.Write([]byte(c.readWritten()))
			if got, want := screenOf(screen), now.expected(); got != want {
				r.Fatalf("step %d shows\n%s\nand not\n%s", step, got, want)
			}
		}
	})
}
