package terminal

import (
	"slices"
	"testing"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

func TestScreenReportsHowItsLinesEnd(t *testing.T) {
	term := vt.New(vt.Options{Cols: 8, Rows: 5})
	term.Write([]byte("gone  \r\nshort   12 \r\n\r\n  \r\n漢 "))
	want := []api.LineEnd{
		{Printed: 4}, // in the scrollback
		{Printed: 8, Wrapped: true},
		{Printed: 3},
		{},
		{Printed: 2},
		{Printed: 3},
	}
	if got := lineEnds(term, len(want)); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
