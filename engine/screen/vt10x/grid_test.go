package vt10x

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/vt/grid"
)

func TestPrivateCodePointsAreReused(t *testing.T) {
	g := New(4, 2).(*screen)
	for i := range 50000 {
		g.Put(i%4, 0, []grid.Cell{{Glyph: grid.Glyph(0x110000 + i)}})
	}
	if got := len(g.names.glyphs); got > 8192 {
		t.Errorf("%d private code points for four cells", got)
	}
	if got, want := g.Cell(3, 0).Glyph, grid.Glyph(0x110000+49999); got != want {
		t.Errorf("last cell is %x, want %x", got, want)
	}
}

func TestResizeStartsBlank(t *testing.T) {
	g := New(4, 2)
	g.PutASCII(0, 1, []byte("abcd"), 3)
	g.Resize(3, 3)
	for y := range 3 {
		if diff := cmp.Diff(make([]grid.Cell, 3), g.Row(y)); diff != "" {
			t.Errorf("row %d (-want +got)\n%s", y, diff)
		}
	}
	g.PutASCII(0, 2, []byte("xyz"), 1)
	if got := fmt.Sprint(g.Row(2)); got != "[{120 1} {121 1} {122 1}]" {
		t.Errorf("row 2 is %s", got)
	}
}

func TestLibraryPanicIsContained(t *testing.T) {
	g := New(4, 2).(*screen)
	g.PutASCII(0, 0, []byte("ab"), 0)
	g.flush()
	g.out = append(g.out, "\x1b[-1P"...)
	g.flush()
	g.PutASCII(2, 0, []byte("cd"), 5)
	if got := fmt.Sprint(g.Row(0)); got != "[{97 0} {98 0} {99 5} {100 5}]" {
		t.Errorf("row 0 is %s", got)
	}
}
