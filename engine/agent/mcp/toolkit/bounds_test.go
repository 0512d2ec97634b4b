package toolkit

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/tests/seed"
)

func TestLongLineIsCutAroundItsMatch(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("x", 1000)
	side := pad[:matchMargin]
	for _, tc := range []struct{ line, pattern, want string }{
		{"short ERR line", "ERR", "short ERR line"},
		{pad[:2*matchMargin], "x", pad[:2*matchMargin]},
		{pad + "ERR" + pad, "ERR", "[900 bytes left out]" + side + "ERR" + side + "[900 bytes left out]"},
		{"ERR" + pad, "ERR", "ERR" + side + "[900 bytes left out]"},
		{pad + "ERR", "ERR", "[900 bytes left out]" + side + "ERR"},
		{pad, "x+", side + side + "[800 bytes left out]"},
		{pad, "absent", side + "[900 bytes left out]"},
		{strings.Repeat("€", 500) + "E", "E", "[1400 bytes left out]" + strings.Repeat("€", 33) + "E"},
	} {
		if got := AroundMatch(tc.line, regexp.MustCompile(tc.pattern)); got != tc.want {
			t.Errorf("%q in %d bytes: %q, want %q", tc.pattern, len(tc.line), got, tc.want)
		}
	}
}

func TestHeadAndTailKeepTextWithinTheirLimit(t *testing.T) {
	numbered := strings.Repeat("line\n", 1000)
	for name, c := range map[string]struct {
		text  string
		limit int
		how   string
		want  string // "": only the rules below
	}{
		"short text":       {"a\nb\n", 100, "", "a\nb\n"},
		"exactly as long":  {strings.Repeat("x", 300), 300, "", strings.Repeat("x", 300)},
		"one byte more":    {strings.Repeat("x", 301), 300, "ask", strings.Repeat("x", 22) + "\n[257 bytes left out: ask]\n" + strings.Repeat("x", 22)},
		"whole lines":      {numbered, 300, "ask", strings.Repeat("line\n", 3) + "[994 lines (4970 bytes) left out: ask]\n" + strings.Repeat("line\n", 3)},
		"one long line":    {"a\n" + strings.Repeat("x", 5000), 400, "", ""},
		"no room":          {strings.Repeat("x", 5000), 10, "", "[5000 bytes left out]\n"},
		"a negative limit": {strings.Repeat("x", 5000), -1, "", "[5000 bytes left out]\n"},
		"wide characters":  {strings.Repeat("€", 500), 400, "", ""},
		"control bytes":    {strings.Repeat("\x1b", 500), 400, "", ""},
		"no UTF-8":         {strings.Repeat("\xff", 500), 400, "", ""},
	} {
		got := HeadAndTail(c.text, c.limit, c.how)
		if c.want != "" && got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if size := JSONSize(got); c.limit > noteSize && size > c.limit || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes of %d, UTF-8: %v", name, size, c.limit, utf8.ValidString(got))
		}
	}
}

func TestJSONSizeMatchesTheEncoder(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		limit := rapid.IntRange(-1, 200).Draw(t, "limit")
		encoded := JSONText(text)
		if size := JSONSize(text); size != len(strings.TrimSpace(encoded))-len(`""`) {
			t.Errorf("%q has %d bytes as %s", text, size, encoded)
		}
		head, tail := Head(text, limit), Tail(text, limit)
		if JSONSize(head) > max(limit, 0) || JSONSize(tail) > max(limit, 0) || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("%q: head %q, tail %q of %d", text, head, tail, limit)
		}
		// One more character would not fit.
		if rest := text[len(head):]; rest != "" {
			if _, width := runeSize(rest); JSONSize(head+rest[:width]) <= limit {
				t.Errorf("%q: the head %q is too short for %d", text, head, limit)
			}
		}
	})
}

func TestLongLinesAndOutputsAreShortened(t *testing.T) {
	long := strings.Repeat("x", 600) + strings.Repeat("ä", 400) + "\n"
	got := ShortenLines("a\n" + long + "b")
	want := "a\n" + strings.Repeat("x", 500) + "[402 bytes left out]" + strings.Repeat("ä", 249) + "\nb"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := strings.Repeat("short\n", 1000); ShortenLines(text) != text || KeepEnds(text, "how") != text {
		t.Error("short lines are changed")
	}
	if got := KeepEnds(strings.Repeat("line\n", 2000), "read it"); len(got) > MaxOutput || !strings.Contains(got, "lines (") || !strings.Contains(got, ": read it]") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	// A single line needs no note about lines.
	if got := KeepEnds(strings.Repeat("x", 1<<20), "read it"); len(got) > 2*maxOutputLine || !strings.Contains(got, "bytes left out]") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	for _, command := range []string{"ls", strings.Repeat("x", maxCommand)} {
		if got := ShortenCommand(command); got != command {
			t.Errorf("%q", got)
		}
	}
	if got := ShortenCommand(strings.Repeat("\x00", maxCommand)); JSONSize(got) > maxCommand || !strings.HasSuffix(got, " bytes left out]") {
		t.Errorf("%d bytes: %q", JSONSize(got), got)
	}
}

func TestOverlongArgumentsAreRejected(t *testing.T) {
	long := strings.Repeat("x", maxWord)
	for _, c := range []struct {
		err  error
		want string // "": accepted
	}{
		{CheckLine("run command", "ls", map[string]string{"A": "b"}), ""},
		{CheckLine("run command", " \t\n", nil), "run command: the command is empty"},
		{CheckLine("run command", long, nil), "run command: the command is longer than 128 KB"},
		{CheckLine("run command", long[1:], nil), ""},
		{CheckLine("run command", "ls", map[string]string{"A": long[2:]}), "environment variable A: it is longer than 128 KB"},
		{CheckVariable("A", long[3:]), ""},
		{CheckVariable(long, ""), "environment variable xxx"},
		{CheckPatterns(), ""},
		{CheckPatterns("a+", "(?i)ä"), ""},
		{CheckPatterns("a", "("), `read pattern "(": missing closing )`},
		{CheckPatterns("(?=x)"), "invalid or unsupported Perl syntax"},
		{CheckPatterns("a{1001}"), "invalid repeat count"},
		{CheckPatterns("\xff"), "invalid UTF-8"},
		{CheckPatterns(strings.Repeat("a", maxPattern+1)), "it is longer than 64 KB"},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && (!errors.Is(c.err, api.CodeInvalid) || !strings.Contains(c.err.Error(), c.want)) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
		if c.err != nil && len(c.err.Error()) > 1000 {
			t.Errorf("the error has %d bytes", len(c.err.Error()))
		}
	}
}

func TestCursorsSurviveJSON(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		c := Cursor{At: rapid.Int64().Draw(t, "at")}
		if c.Split = rapid.Bool().Draw(t, "split"); c.Split {
			c.At, c.Stderr = max(c.At, 0), rapid.Int64Min(0).Draw(t, "stderr")
		}
		text, err := json.Marshal(c)
		var again Cursor
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again != c {
			t.Errorf("%+v became %s and %+v, %v", c, text, again, err)
		}
	})
}
