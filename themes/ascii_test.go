package themes

import "testing"

func TestASCIIReplacesFramesAndSymbols(t *testing.T) {
	const drawn = "╭─ build ─┬───╮\n│ 120×36 … │ 3–5 ✗ │\n├──────────┼───┤ → é漢"
	const want = "+- build -+---+\n| 120x36 ~ | 3-5 x |\n+----------+---+ > é漢"
	if got := ASCII(drawn); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
