package terminal

import "testing"

func TestUnfinishedLengthCoversTheIncompleteSequence(t *testing.T) {
	cases := map[string]int{
		"":                              0,
		"plain":                         0,
		"a\x1b":                         1,
		"a\x1b[":                        2,
		"a\x1b[38;2;1":                  8,
		"a\x1b[38;2;1m":                 0,
		"a\x1b[31mb":                    0,
		"a\x1b(":                        2,
		"a\x1b(B":                       0,
		"a\x1b7":                        0,
		"a\x1b]0;title":                 9,
		"a\x1b]0;title\a":               0,
		"a\x1b]0;title\x1b":             1,
		"a\x1b]0;title\x1b\\":           0,
		"a\x1bP+q":                      4,
		"a\x1b[3\x18":                   0,
		"h\xc3":                         1,
		"h\xc3\xa4":                     0,
		"\xe2\x94":                      2,
		"\xf0\x9f\x98":                  3,
		"\xf0\x9f\x98\x80":              0,
		"\x80\x80\x80\x80":              0,
		"\x1b[1m\xe2\x94\x80":           0,
		"\x1b[?2026h\x1b[H\x1b[2J\x1b[": 2,
	}
	for in, want := range cases {
		if got := unfinishedLength([]byte(in)); got != want {
			t.Errorf("unfinished(%q) = %d, want %d", in, got, want)
		}
	}
}
