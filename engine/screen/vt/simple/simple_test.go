package simple

import (
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

func TestSimpleCharactersHaveKnownWidthAndNeverJoin(t *testing.T) {
	known := 0
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		w := Width(r)
		if w == 0 || r == 0xAD { // a soft hyphen takes a cell, as in xterm
			continue
		}
		known++
		if want := displaywidth.Rune(r); w != want {
			t.Errorf("width of %U is %d, want %d", r, w, want)
		}
		for _, before := range []string{"a", "中", "한", "e\u0301", "👍", "🇩", "न्"} {
			text := utf8.AppendRune([]byte(before), r)
			if n, _, _ := graphemes.SplitFunc(text, true); n == len(text) {
				t.Errorf("%U joins %q", r, before)
			}
		}
	}
	if known < 40000 {
		t.Errorf("only %d characters are simple", known)
	}
}
