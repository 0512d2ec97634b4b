package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestErrorsOfTheEngineHaveTheirHintOnALineOfItsOwn(t *testing.T) {
	r := newRig(t)
	_, stderr, status := r.run("screen", "nobody")
	if status != 1 || stderr != "tandem: find session \"nobody\": there is none\nhint: `tandem ls` lists them\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	r := newRig(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	o := r.options
	var stderr bytes.Buffer
	o.Stdout, o.Stderr = full, &stderr
	if status := Main(t.Context(), o, []string{"info"}); status != 1 || !strings.Contains(stderr.String(), "write to standard output") {
		t.Errorf("status %d, %q", status, &stderr)
	}
}

func TestVisibleShowsWhatATerminalWouldObey(t *testing.T) {
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
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("visible(%q) = %q", s, got)
			}
		}
		if again := visible(got); again != got {
			t.Fatalf("visible(%q) is %q, and of that %q", s, got, again)
		}
	})
}
