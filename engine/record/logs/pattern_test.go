package logs

import (
	"strings"
	"testing"

	"tandem/engine/screen/rendered"
)

func TestSearchLimitsTextOfExpandingLines(t *testing.T) {
	const line = "\x1b[1000Gx\n"
	const lines = 10_000
	data := []byte(strings.Repeat(line, lines))
	if text, n := rendered.AppendLines(nil, data, maxShown); len(text) > maxShown+1001 || n == 0 {
		t.Fatalf("%d bytes of text are held", len(text))
	}
	n := 0
	mustSearch(t, "^ *x$").Each(data, func(lo, hi int) bool {
		if lo != n*len(line) || hi != lo+len(line)-1 {
			t.Fatalf("match %d is at %d to %d", n, lo, hi)
		}
		n++
		return n < lines-1
	})
	if n != lines-1 {
		t.Errorf("%d matches, want %d", n, lines-1)
	}
}
