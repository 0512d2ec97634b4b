package output

import "testing"

func TestVisibleEscapesControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 你 👩‍👩‍👧":    "plain é 你 👩‍👩‍👧",
		"a\x1b[31mb\rc\x7f":  "a^[[31mb^Mc^?",
		"\u009b31m":          `\u009b31m`,
		"bad \xff\xfe":       `bad \xff\xfe`,
		"\u202etxt.exe":      `\u202etxt.exe`,
		"two\nlines":         "two^Jlines",
		"\ue0b0 main \uf418": "\ue0b0 main \uf418",
		"a\u00a0b\u2028c":    "a\u00a0b\\u2028c",
	} {
		if got := Visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("visible(%q) = %q", s, got)
			}
		}
		if again := Visible(got); again != got {
			t.Fatalf("visible(%q) is %q, and of that %q", s, got, again)
		}
	})
}
