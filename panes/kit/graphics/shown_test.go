package graphics

import (
	"image"
	"strings"
	"testing"
)

// stripData returns output without the data of pictures and the numbers of sheets.
func stripData(b []byte) (text string) {
	for _, part := range strings.SplitAfter(string(b), "\x1b\\") {
		head, _, _ := strings.Cut(part, ";iVBOR")
		head, _, _ = strings.Cut(head, "q\"")
		text += strings.ReplaceAll(strings.TrimSuffix(head, "\x1b\\"), "\x1b", "^") + " "
	}
	return strings.TrimSpace(text)
}

func TestDisplayKeepsFewUnseenSheets(t *testing.T) {
	var s Display
	for range 30 {
		sheet := newSheet(redOverBlue(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40))
		s.AppendUpdate(nil, Patches{On: Screen{Protocol: Kitty}, All: []Patch{{Sheet: sheet, Cells: image.Rect(0, 0, 3, 2)}}}, nil, false)
	}
	if n := len(s.sheets); n > maxUnseenSheets+1 {
		t.Errorf("%d sheets are kept", n)
	}
	left := string(s.AppendClear(nil))
	if s.Reset(); strings.Count(left, "d=I") > maxUnseenSheets+1 || len(s.sheets) != 0 {
		t.Errorf("left are %q", left)
	}
}

func TestScrolledSixelsAreNotDrawnAgain(t *testing.T) {
	sheet := newSheet(redOverBlue(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40))
	patch := func(y, from int) Patches {
		return Patches{On: Screen{Protocol: Sixel, Cell: image.Pt(10, 20)}, All: []Patch{{Sheet: sheet, Cells: image.Rect(0, from, 3, 2), X: 2, Y: y}}}
	}
	var s Display
	for n, step := range []struct {
		scrolled, y, from int
		written           map[int]bool
		erased            bool
		want              string
	}{
		{0, 3, 0, nil, false, "^[4;3H^P0;1;0"},
		{2, 1, 0, nil, false, ""},
		{2, 0, 1, nil, false, ""}, // half of it has left the screen
		{0, 0, 1, map[int]bool{0: true}, false, "^[1;3H^P0;1;0"},
		{0, 0, 1, nil, true, "^[1;3H^P0;1;0"},
		{0, 1, 0, nil, false, "^[2;3H^P0;1;0"}, // it has not scrolled, so it must move
	} {
		s.ScrollUp(step.scrolled)
		if got := stripData(s.AppendUpdate(nil, patch(step.y, step.from), step.written, step.erased)); got != step.want {
			t.Errorf("step %d writes %q, want %q", n, got, step.want)
		}
	}
}

func TestErasedScreenTransmitsAgain(t *testing.T) {
	one := Patches{On: Screen{Protocol: Kitty}, All: []Patch{{Sheet: newSheet(redOverBlue(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40)), Cells: image.Rect(0, 0, 3, 2)}}}
	none := Patches{On: one.On}
	var s Display
	s.AppendUpdate(nil, one, nil, false)
	s.AppendUpdate(nil, none, nil, false)
	s.AppendUpdate(nil, none, nil, true)
	if got := stripData(s.AppendUpdate(nil, one, nil, false)); !strings.HasPrefix(got, "^_Ga=t,") {
		t.Errorf("output: %q", got)
	}
}
