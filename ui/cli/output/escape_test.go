package output

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

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

func TestFormatCharactersStayWhereTheOutputIsNoTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	england := "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	for text, escaped := range map[string]string{
		"می\u200cخواهم":   `می\u200cخواهم`,
		"a \u200fש\u200e": `a \u200fש\u200e`,
		england:           "\U0001f3f4" + `\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f`,
		"क्\u200dष":       "क्\u200dष",
	} {
		if got := (Printer{Stdout: new(strings.Builder)}).Escape(text, ""); got != text {
			t.Errorf("to a file %q is %q", text, got)
		}
		if got := (Printer{Stdout: tty}).Escape(text, ""); got != escaped {
			t.Errorf("on a terminal %q is %q, want %q", text, got, escaped)
		}
	}
	if got := (Printer{Stdout: new(strings.Builder)}).Escape("a\x1b\u009b\xff\tb\u202e", "\t"); got != `a^[\u009b\xff`+"\tb"+`\u202e` {
		t.Errorf("control characters to a file: %q", got)
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
