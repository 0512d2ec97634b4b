package screen

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// benchmarkFrames paints frames of 200×60 cells in turns.
func benchmarkFrames(b *testing.B, frames ...[]string) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	p := newPainter(null, colorprofile.TrueColor)
	if err := p.enterScreen(); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		p.updateFrame(func(f *frame) { f.setView(viewOf(frames[i%len(frames)]...), 200, 60) })
		if err := p.Paint(); err != nil {
			b.Fatal(err)
		}
	}
}

// colouredRows returns 60 rows of short runs that start with row number first.
func colouredRows(first int) []string {
	rows := make([]string, 60)
	for y := range rows {
		var row strings.Builder
		for x := range 25 {
			fmt.Fprintf(&row, "\x1b[38;5;%dm%-8d\x1b[m", (first+y+x)%256, (first+y)*(x+1))
		}
		rows[y] = row.String()
	}
	return rows
}

func BenchmarkPaintOneRow(b *testing.B) {
	one, other := colouredRows(0), colouredRows(0)
	other[30] = colouredRows(500)[30]
	benchmarkFrames(b, one, other)
}

func BenchmarkPaintEveryRow(b *testing.B) {
	benchmarkFrames(b, colouredRows(0), colouredRows(1000))
}

func BenchmarkPaintScrolledRow(b *testing.B) {
	benchmarkFrames(b, colouredRows(0), colouredRows(1))
}

func BenchmarkPaintRowOfLetters(b *testing.B) {
	one, other := colouredRows(0), colouredRows(0)
	one[30], other[30] = strings.Repeat("абв ", 50), strings.Repeat("абг ", 50)
	benchmarkFrames(b, one, other)
}
