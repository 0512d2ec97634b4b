package rendered_test

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/engine/screen/rendered"
	"tandem/engine/screen/vt"
)

func TestAppendTextMatchesATerminal(t *testing.T) {
	for _, tt := range []struct{ name, line, text string }{
		{"plain", "a\tb", "a\tb"},
		{"colour inside a word", "\x1b[31mERR\x1b[0mOR split", "ERROR split"},
		{"colour before a tab", "\x1b[31ma\x1b[0m\tb", "a\tb"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 end", "link end"},
		{"grep's colours", "\x1b[01;31m\x1b[Kmatch\x1b[m\x1b[K rest", "match rest"},
		{"carriage return before the line end", "text\r\r", "text"},
		{"progress", "1%\r50%\r100%", "100%"},
		{"shorter text leaves the rest", "downloading\rdone", "doneloading"},
		{"erase to the end", "downloading\rdone\x1b[K", "done"},
		{"erase the line", "downloading\x1b[2K\rdone", "done"},
		{"erase to the start", "abcdef\x1b[3D\x1b[1Kx", "   xef"},
		{"backspace", "abc\b\bX", "aXc"},
		{"column", "abcdef\x1b[3Gx", "abxdef"},
		{"forward beyond the end", "a\x1b[3Cb", "a   b"},
		{"tab over text", "abcdefghij\r\tX", "abcdefghXj"},
		{"wide character overwritten in part", "漢字\rx", "x 字"},
		{"combining character after a colour", "e\x1b[1m\u0301\rf", "f"},
		{"incomplete sequence", "abc\x1b[3", "abc"},
		{"incomplete string", "abc\x1b]0;title", "abc"},
		{"control character in a sequence", "a\x1b[3\x01b", "a\x01b"},
		{"shifts of the character set", "a\x0f", "a"},
		{"shifts in a line drawn over", "\x1b(B\x0fab\x0e\rc\x0f", "cb"},
		{"invalid UTF-8", "\xff\xfe\x1b[mx", "\xff\xfex"},
	} {
		if got := rendered.AppendText(nil, []byte(tt.line)); string(got) != tt.text {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.text)
		}
	}
}

func TestAppendLinesRendersEachLine(t *testing.T) {
	for _, output := range []string{
		"", "\n", "\n\n", "a", "a\n", "\x1b[31mERR\x1b[0mOR\r\nplain\r\n", "1%\r50%\r\n\x1b]0;title\nnot a title\x07\n",
		"abc\b\bX\x1b[3\n\x1b[2mm\n\x1b", "x\r\r\r\n\r\r\ry\n\x0e\x0f\n\b", "a\x1b\nb\x1b[\nc\x1b(\nd\x1b]\ne",
	} {
		checkLines(t, output)
	}
}

// checkLines compares the text of many lines, made at once and one by one, with that of each.
func checkLines(t *testing.T, output string) {
	var want []string
	for line := range strings.SplitSeq(output, "\n") {
		want = append(want, string(rendered.AppendText(nil, []byte(line))))
	}
	for _, limit := range []int{math.MaxInt, 1} {
		text := []byte("before\n")
		for rest := []byte(output); len(rest) > 0; {
			n := 0
			text, n = rendered.AppendLines(text, rest, limit)
			rest = rest[n:]
		}
		if got := strings.Split(strings.TrimPrefix(string(text), "before\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%q with limit %d: %q, want %q", output, limit, got, want)
		}
	}
}

func checkTrace(t *testing.T, line string) {
	t.Helper()
	want := string(rendered.AppendText(nil, []byte(line)))
	printed, _, moves := rendered.Printed([]byte(line))
	shown := rendered.Shown([]byte(line))
	if string(shown.Text) != want || !moves && string(printed.Text) != want {
		t.Errorf("%q: shown %q, printed %q, want %q", line, shown.Text, printed.Text, want)
	}
	for _, trace := range []rendered.Trace{printed, shown} {
		if len(trace.From) != len(trace.Text) {
			t.Fatalf("%q: %d offsets for %d bytes", line, len(trace.From), len(trace.Text))
		}
		for i, from := range trace.From {
			if from >= 0 && line[from] != trace.Text[i] {
				t.Errorf("%q: byte %d of %q is said to come from %q", line, i, trace.Text, line[from:])
			}
		}
	}
}

func TestTraceFindsTheBytesThatDrewTheText(t *testing.T) {
	for _, line := range []string{
		"", "plain", "\x1b[31mred\x1b[m", "abc\rx", "abc\b\bX", "日本\x1b[2DX", "e\u0301\x1b[K", "ab\x1b[5Gc", "a\tb\rX", "x\r", "\x1b]0;t\a$ ", "e\x1b[m\u0301",
	} {
		checkTrace(t, line)
	}
}

func TestRenderStyledKeepsColours(t *testing.T) {
	for _, tt := range []struct{ line, styled string }{
		{"\x1b[1;31mERR\x1b[0mOR", "\x1b[1;31mERR\x1b[0mOR"},
		{"\x1b[1;31mERR\x1b[0mOR\r\x1b[3C", "\x1b[1;31mERR\x1b[mOR"},
		{"\x1b[1m\x1b[31mab\b\x1b[0;32mc", "\x1b[1m\x1b[31ma\x1b[m\x1b[0;32mc"},
		{"\x1b[31m10%\r\x1b[32m100%", "\x1b[31m\x1b[32m100%"},
		{"\x1b]0;title\x07a", "a"},
	} {
		if got := rendered.RenderStyled([]byte(tt.line)); string(got) != tt.styled {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.styled)
		}
	}
}

func TestMovementsStopAtMaxReach(t *testing.T) {
	for _, line := range []string{"\x1b[1000000Gx", "\x1b[1000000Cx", strings.Repeat("\x1b[999C", 1000) + "x", "\x1b[1000000G\x1b[1000000Cx"} {
		if got := rendered.AppendText(nil, []byte(line)); len(got) != 1000 {
			t.Errorf("%.20q is rendered in %d bytes, want 1000", line, len(got))
		}
	}
	long := strings.Repeat("a", 3000)
	if got, want := string(rendered.AppendText(nil, []byte(long+"\r\x1b[2001Gb"))), long[:2000]+"b"+long[2001:]; got != want {
		t.Errorf("a movement within a long line gives %q", got)
	}
}

func TestHostileLinesAreRenderedInBoundedTime(t *testing.T) {
	for _, piece := range []string{"x\x1b[2K\x1b[1000000Gy", "abc\x1b[1K", "e\u0301\u0301", "\x1b[1m\x1b[2mx", "\x1b[999999999C\x1b[Kx", "\t\b\t\b\x1b[900000G\r"} {
		line := []byte(strings.Repeat(piece, (1<<20)/len(piece)))
		rendered.AppendText(nil, line)
		rendered.RenderStyled(line)
	}
}

// onlyKnown matches lines whose only sequences are those that AppendText interprets.
var onlyKnown = regexp.MustCompile("^([^\x1b]|\x1b\\[[0-9]{0,2}[CDGKm])*$")

// untabbed expands tabs.
func untabbed(p []byte) []byte {
	var out []byte
	for i, part := range bytes.Split(p, []byte{'\t'}) {
		if i > 0 {
			out = append(out, bytes.Repeat([]byte{' '}, 8-len(out)%8)...)
		}
		out = append(out, part...)
	}
	return out
}

func FuzzAppendTextMatchesATerminal(f *testing.F) {
	f.Add("a\x1b[31mb\r\nc\x1b]x\ny\x07d\be\r\r\n\x1b[Cf")
	f.Add("ab\x1b[31mc\rd\b\x1b[2K\x1b[5Ge\x1b[3Df\x1b[1K\tg")
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1000 {
			return
		}
		checkLines(t, line)
		if strings.Contains(line, "\n") {
			return
		}
		text := rendered.AppendText(nil, []byte(line))
		if bytes.IndexByte(text, 0x1b) >= 0 {
			t.Fatalf("%q has an escape character", text)
		}
		for _, r := range line {
			if r >= 0x7f || r < 0x20 && !strings.ContainsRune("\x1b\r\b\t", r) {
				return
			}
		}
		// Every character takes one cell from here on.
		if styled := rendered.AppendText(nil, rendered.RenderStyled([]byte(line))); !bytes.Equal(untabbed(text), untabbed(styled)) {
			t.Fatalf("%q, but %q with styles", text, styled)
		}
		if !onlyKnown.MatchString(line) || len(line) > 80 || strings.Count(line, "\x1b") > 5 { // else it may reach the right edge
			return
		}
		term := vt.New(vt.Options{Cols: 4000, Rows: 2})
		term.Write([]byte(line))
		if want, got := term.Lines(0, 1)[0].Line.Text(), untabbed(text); strings.TrimRight(want, " ") != strings.TrimRight(string(got), " ") {
			t.Fatalf("%q, but a terminal shows %q", got, want)
		}
	})
}
