package graphics

import (
	"image"
	"strings"
	"testing"
)

// heads are what is written without the data of pictures and the numbers of sheets.
func heads(b []byte) (text string) {
	for _, part := range strings.SplitAfter(string(b), "\x1b\\") {
		head, _, _ := strings.Cut(part, ";iVBOR")
		head, _, _ = strings.Cut(head, "q\"")
		text += strings.ReplaceAll(strings.TrimSuffix(head, "\x1b\\"), "\x1b", "^") + " "
	}
	return strings.TrimSpace(text)
}

func TestFewSheetsThatAreNotSeenAreKept(t *testing.T) {
	var s Shown
	for range 30 {
		sheet := placed(halves(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40))
		s.AppendTurn(nil, Patches{On: Screen{Protocol: Kitty}, All: []Patch{{Sheet: sheet, Cells: image.Rect(0, 0, 3, 2)}}}, nil, false)
	}
	if n := len(s.sheets); n > sheetsKept+1 {
		t.Errorf("%d sheets are kept", n)
	}
	left := string(s.AppendForget(nil))
	if s.Forget(); strings.Count(left, "d=I") > sheetsKept+1 || len(s.sheets) != 0 {
		t.Errorf("left are %q", left)
	}
}

func TestSixelsThatTheTerminalHasScrolledAreNotDrawnAgain(t *testing.T) {
	sheet := placed(halves(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40))
	patch := func(y, from int) Patches {
		return Patches{On: Screen{Protocol: Sixel, Cell: image.Pt(10, 20)}, All: []Patch{{Sheet: sheet, Cells: image.Rect(0, from, 3, 2), X: 2, Y: y}}}
	}
	var s Shown
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
		{0, 1, 0, nil, false, "^[2;3H^P0;1;0"}, // it has not, so it moves
	} {
		s.Scroll(step.scrolled)
		if got := heads(s.AppendTurn(nil, patch(step.y, step.from), step.written, step.erased)); got != step.want {
			t.Errorf("step %d writes %q, want %q", n, got, step.want)
		}
	}
}

func TestWhatAnErasedScreenHasLostIsTransmittedAgain(t *testing.T) {
	one := Patches{On: Screen{Protocol: Kitty}, All: []Patch{{Sheet: placed(halves(t, 30, 40), 3, 2, image.Rect(0, 0, 30, 40)), Cells: image.Rect(0, 0, 3, 2)}}}
	none := Patches{On: one.On}
	var s Shown
	s.AppendTurn(nil, one, nil, false)
	s.AppendTurn(nil, none, nil, false)
	s.AppendTurn(nil, none, nil, true)
	if got := heads(s.AppendTurn(nil, one, nil, false)); !strings.HasPrefix(got, "^_Ga=t,") {
		t.Errorf("it is shown by %q", got)
	}
}
