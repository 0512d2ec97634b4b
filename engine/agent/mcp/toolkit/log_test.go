package toolkit_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/seed"
)

func TestPlainTextRemovesTerminalSequences(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\tnö\n":                       "plain\tnö\n",
		"\x1b[1;31mred\x1b[0m\r\n":          "red\n",
		"10%\r20%\r100%\ndone":              "100%\ndone",
		"typo\b\b\bhis":                     "this",
		"\b\bx":                             "x",
		"\x1b]0;title\x07a\x1b]8;;u\x1b\\b": "ab",
		"\x1bP1$r0m\x1b\\c\x1b(Bd\x1b7e":    "cde",
		"bell\x07\x00\x7f":                  "bell",
		"cut \x1b[38;5":                     "cut ",
		"a\x1b[2Jb\x1b[Hc":                  "abc",
		"é\b!":                              "!",
		"line\r\r\n":                        "line\n",
	} {
		if got := toolkit.PlainText(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestCompleteLengthExcludesIncompleteSequences(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		"":                  0,
		"whole":             5,
		"h\xc3":             1,
		"h\xe2\x82":         1,
		"h\xe2\x82\xac":     4,
		"h\xff":             2,
		"h\x1b":             1,
		"h\x1b[3":           1,
		"h\x1b[31m":         6,
		"h\x1b]0;titl":      1,
		"h\x1b]0;title\x07": 11,
		"h\x1b[31\xc3":      1,
		"\x1b]" + strings.Repeat("x", toolkit.MaxIncomplete): 2 + toolkit.MaxIncomplete,
	} {
		if got := toolkit.CompleteLength([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

// Reading a log in pieces gives the same text as reading it at once.
func TestReadingInPiecesEqualsReadingAtOnce(t *testing.T) {
	t.Parallel()
	f := mcptest.NewAgent(t, "/home/me", toolkit.Native, nil)
	seed.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "€", "😀", "\n", "\x1b[31m", "\x1b]0;t\x07", "word "}), 1, 60).Draw(t, "parts")
		log := strings.Join(parts, "")
		f.Fake.ServeLog(log, api.StateRunning)
		size := rapid.IntRange(8, 40).Draw(t, "size")
		var read strings.Builder
		for since := int64(0); since < int64(len(log)); {
			r, err := f.ReadOutput(context.Background(), "abc", toolkit.OutputQuery{Since: &toolkit.Cursor{At: since}, Max: size})
			if err != nil {
				t.Fatal(err)
			}
			if r.Next.At <= since {
				t.Fatalf("reading stands still at %d of %d", since, len(log))
			}
			read.WriteString(r.Text)
			since = r.Next.At
		}
		if want := toolkit.PlainText(log); read.String() != want {
			t.Fatalf("read %q of %q, want %q", read.String(), log, want)
		}
	})
}

func FuzzPlainText(f *testing.F) {
	f.Add("a\x1b[1mb\r\nc\x1b]0;x\x1b\\")
	f.Add("\x1b\x1b[\x1bP\b\r")
	f.Fuzz(func(t *testing.T, s string) {
		if n := toolkit.CompleteLength([]byte(s)); n < 0 || n > len(s) {
			t.Fatalf("%d bytes of %d", n, len(s))
		}
		got := toolkit.PlainText(s)
		if strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }) {
			t.Fatalf("%q still has control characters", got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q has half characters", got)
		}
		if len(got) > len(s) {
			t.Fatal("it has grown")
		}
	})
}
