package vt_test

import (
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/screen/vt"
)

// testdata/printed has the output of Debian's chafa 1.12 and timg 1.4.5 for a picture of 60×40
// pixels, red above and blue below, in 6×2 cells and with standard output not a terminal.
func TestPrintedPicturesAreShown(t *testing.T) {
	for name, want := range map[string]struct {
		size, cells, cursor image.Point
	}{
		"chafa-sixel": {image.Pt(48, 12), image.Pt(5, 1), image.Pt(0, 0)},
		"chafa-kitty": {image.Pt(48, 16), image.Pt(6, 2), image.Pt(6, 2)},
		"timg-kitty":  {image.Pt(54, 36), image.Pt(6, 2), image.Pt(6, 2)},
	} {
		b, err := os.ReadFile(filepath.Join("testdata/printed", name))
		if err != nil {
			t.Fatal(err)
		}
		term := vt.New(vt.Options{Cols: 80, Rows: 24})
		term.Write(b)
		rows := 0
		for _, l := range term.Lines(0, 24) {
			for _, s := range l.Line.Pictures {
				if s.Row != rows || s.From != 0 || s.To != want.cells.X || int(l.N) != rows {
					t.Errorf("%s: line %d has row %d in columns %d to %d", name, l.N, s.Row, s.From, s.To)
				}
				rows++
			}
		}
		if rows != want.cells.Y || term.Cursor().X != want.cursor.X || term.Cursor().Y != want.cursor.Y {
			t.Errorf("%s: %d rows, cursor %+v", name, rows, term.Cursor())
		}
		p := term.Picture(1)
		if p == nil || p.Size != want.size {
			t.Fatalf("%s: picture %+v", name, p)
		}
		img, err := p.Image()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for part, c := range map[int]color.RGBA{1: {255, 0, 0, 255}, 3: {0, 0, 255, 255}} {
			if got := color.RGBAModel.Convert(img.At(p.Size.X/2, p.Size.Y*part/4)); got != c {
				t.Errorf("%s: %v at %d quarters of the height", name, got, part)
			}
		}
	}
}

func TestTallPlacementsScrollLimitedRows(t *testing.T) {
	const command = "\x1b_Ga=p,i=1,q=2,c=1,r=1000\x1b\\"
	term := vt.New(vt.Options{Cols: 8, Rows: 4})
	term.Write([]byte("\x1b_Ga=t,i=1,q=2,f=24,s=1,v=1;AAAA\x1b\\" + strings.Repeat(command, 1000)))
	if _, _, end := term.Bounds(); end > 16<<10+1000*int64(len(command)) {
		t.Errorf("%d bytes of placements scrolled to row %d", 1000*len(command), end)
	}
	term = vt.New(vt.Options{Cols: 8, Rows: 4})
	term.Write([]byte("\x1b_Ga=t,i=1,q=2,f=24,s=1,v=1;AAAA\x1b\\" + command))
	if _, _, end := term.Bounds(); end < 1000 {
		t.Errorf("one tall placement scrolled to row %d, must be at least 1000", end)
	}
}
