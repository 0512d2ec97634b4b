package logs

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLogTextMatchesATerminal(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   []string
	}{
		{[]string{"a\nb", "c\n"}, []string{"a\nb", "c\n"}},
		{[]string{"1%\r2", "%\r3%\n"}, []string{"", "3%\n"}},
		{[]string{"\x1b[3", "1mred\x1b[m", "\n"}, []string{"", "", "red\n"}},
		{[]string{"10%", "\r100%", "\n"}, []string{"10%", "", "\n100%\n"}},
		{[]string{"x\r", "\ny\r\n"}, []string{"", "x\ny\n"}},
		{[]string{"\x1b[1mend\a"}, []string{"end^G"}},
	} {
		text := logText{}
		var got []string
		for i, piece := range c.pieces {
			got = append(got, text.add(piece, i == len(c.pieces)-1))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}

func FuzzLogTextKeepsItsLinesInPieces(f *testing.F) {
	f.Add("a\r\nb\r\rc\r\x1b[1md", 2)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = max(0, min(cut, len(s)))
		var whole, parts logText
		want := whole.add(s, true)
		got := parts.add(s[:cut], false) + parts.add(s[cut:], true)
		if strings.Contains(got, "\x1b") {
			t.Fatalf("%q has an escape character", got)
		}
		if !utf8.ValidString(s[:cut]) {
			return // a character cut in two is escaped
		}
		rest := strings.Split(got, "\n")
		for _, line := range strings.Split(want, "\n") { // overwritten text may be on a line of its own
			i := slices.Index(rest, line)
			if i < 0 {
				t.Fatalf("%q cut at %d: %q, want %q", s, cut, got, want)
			}
			rest = rest[i+1:]
		}
	})
}
