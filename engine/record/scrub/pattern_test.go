package scrub

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/screen/rendered"
	"tandem/engine/screen/styled"
	"tandem/persist/linelog"
	"tandem/tests/seed"
)

func newPattern(t testing.TB, expression string, texts ...string) *pattern {
	p, err := compile(expression, texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLineIsOverwrittenAsItWasPrintedAndAsItIsShown(t *testing.T) {
	for line, want := range map[string]string{
		"a hunter2 b":                               "a xxxxxxx b",
		"hunter2":                                   "xxxxxxx",
		"\x1b[31mhun\x1b[1mter2\x1b[m!":             "\x1b[31mxxx\x1b[1mxxxx\x1b[m!",
		"hun?\b \bter2":                             "xxx?\b \bxxxx",
		"hunter2\rpassed!":                          "xxxxxxx\rpassed!",
		"    er2\rhunt":                             "    xxx\rxxxx",
		"\x1b]0;ssh hunter2\a$ ":                    "\x1b]0;ssh xxxxxxx\a$ ",
		"\x1b]0;hunter2":                            "\x1b]0;xxxxxxx",
		"\x1b]633;E;echo hunter2;hunter2\a":         "\x1b]633;E;echo xxxxxxx;hunter2\a", // the nonce stays
		"\x1b]133;C;aid=hunter2\a":                  "\x1b]133;C;aid=hunter2\a",
		"\x1b]8;;http://x/hunter2\x1b\\l\x1b]8;;\a": "\x1b]8;;http://x/xxxxxxx\x1b\\l\x1b]8;;\a",
		"hun\tter2 hunter2\r":                       "hun\tter2 xxxxxxx\r",
		"\x1b_Ghunter2\x1b\\":                       "\x1b_Ghunter2\x1b\\",
		"höhunter2ö":                                "höxxxxxxxö",
	} {
		got := []byte(line)
		overwrite(got, newPattern(t, "", "hunter2").inLine(got))
		if string(got) != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestEscapedCommandLineIsOverwritten(t *testing.T) {
	for line, want := range map[string]string{
		`echo a\x3bb`: `echo xxxxxx`,
		`a\\b`:        `a\\b`,
		`x a\x3bb\`:   `x xxxxxx\`,
	} {
		got := []byte("\x1b]633;E;" + line + ";nonce\a")
		overwrite(got, newPattern(t, "", "a;b").inLine(got))
		if string(got) != "\x1b]633;E;"+want+";nonce\a" {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestAllTextOfALineIsOverwrittenExceptMarks(t *testing.T) {
	line := []byte("\x1b]133;B;aid=n\als\t-l\r\x1b[1mhosts\x1b[m\x1b]0;title\a\x1b]7;file://h/x\a\x1b]633;E;ls;n\a")
	all := pattern{all: true}
	overwrite(line, all.inLine(line))
	if want := "\x1b]133;B;aid=n\axx\txx\r\x1b[1mxxxxx\x1b[m\x1b]0xxxxxx\a\x1b]7;file://h/x\a\x1b]633;E;xx;n\a"; string(line) != want {
		t.Errorf("got %q, want %q", line, want)
	}
}

func TestExpressionMatchesWithinALine(t *testing.T) {
	for _, expression := range []string{`^tok=\w+$`, `\Atok=\w+\z`, `tok=\S+`, `(?i)TOK=\w+`} {
		p := newPattern(t, expression)
		text := []byte("x tok=abc\ntok=abc\n\x1b[1mtok=\x1b[mabc\n")
		found, _ := p.addLines(nil, nil, text, 0)
		overwrite(text, found)
		if lines := strings.Split(string(text), "\n"); lines[1] != "xxxxxxx" || lines[2] != "\x1b[1mxxxx\x1b[mxxx" {
			t.Errorf("%s: got %q", expression, text)
		}
	}
	for _, expression := range []string{"a*", "", "(", "x|"} {
		if _, err := compile(expression, nil); err == nil {
			t.Errorf("expression %q is accepted", expression)
		}
	}
}

// randomLine returns output in which a word is drawn with colours, corrections and redraws.
func randomLine(r *rand.Rand, word string) []byte {
	var b bytes.Buffer
	other := []string{"x", "abc ", "\t", "日本", "é", "\x1b[31m", "\x1b[K", "\x1b]0;t\a", "\x1b[3C", "\xff"}
	for range r.IntN(5) {
		b.WriteString(other[r.IntN(len(other))])
	}
	switch r.IntN(4) {
	case 0: // typed with corrections
		for _, c := range word {
			if r.IntN(3) == 0 {
				b.WriteString("q\b \b")
			}
			b.WriteRune(c)
		}
	case 1: // coloured
		for _, c := range word {
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "\x1b[%dm", 30+r.IntN(8))
			}
			b.WriteRune(c)
		}
	case 2: // redrawn from its middle, at the start of the line
		b.Reset()
		n := r.IntN(len(word))
		b.WriteString(strings.Repeat(" ", n) + word[n:] + "\r" + word[:n])
	default:
		b.WriteString(word)
	}
	for range r.IntN(5) {
		b.WriteString(other[r.IntN(len(other))])
	}
	return b.Bytes()
}

func TestNothingShownOrPrintedMatchesAfterwards(t *testing.T) {
	r := seed.Rand(t)
	const word = "hunter22"
	p := newPattern(t, "", word)
	for range 5000 {
		line := randomLine(r, word)
		checkOverwritten(t, p, line, word)
	}
}

func checkOverwritten(t *testing.T, p *pattern, line []byte, word string) {
	t.Helper()
	got := bytes.Clone(line)
	overwrite(got, p.inLine(got))
	printed, controls, _ := rendered.Printed(got)
	_, before, _ := rendered.Printed(line)
	open := slices.ContainsFunc(before, func(c [2]int) bool { // x would continue it
		n, _ := styled.Sequence(append(bytes.Clone(line[c[0]:c[1]]), 'x'))
		return line[c[0]] == 0x1b && n > c[1]-c[0]
	})
	if !open && fmt.Sprint(controls) != fmt.Sprint(before) {
		t.Fatalf("%q became %q: other escape sequences", line, got)
	}
	for _, text := range [][]byte{got, printed.Text, rendered.AppendText(nil, got)} {
		if word != "" && bytes.Contains(text, []byte(word)) {
			t.Fatalf("%q became %q: it still shows %q", line, got, text)
		}
	}
	for i := range got {
		if got[i] != line[i] && (got[i] != 'x' || line[i] < ' ') {
			t.Fatalf("%q became %q", line, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("\x1b]633;E;a\\x3bb;n\a\x1b[31mhunter\x1b[m22\b\r"), "r.?2")
	f.Add([]byte("\x1bP\x1b\\\x1b_T"), ".")
	f.Fuzz(func(t *testing.T, line []byte, expression string) {
		p, err := compile(expression, nil)
		if err != nil || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		checkOverwritten(t, p, line, "")
		checkOverwritten(t, &pattern{all: true}, line, "")
	})
}

func TestLongLineIsSearchedInParts(t *testing.T) {
	const word = "hunter22"
	var text bytes.Buffer
	for text.Len() < 3*maxLine {
		fmt.Fprintf(&text, "\x1b[%d;1H%s %d", text.Len()%50, word, text.Len())
	}
	log := newLog(t, text.Bytes())
	found, _, err := newPattern(t, "", word).inLog(context.Background(), log, 0, log.End())
	if err != nil {
		t.Fatal(err)
	}
	got := text.Bytes()
	overwrite(got, found)
	if n := bytes.Count(got, []byte(word)); n > 0 {
		t.Errorf("%d words are left of a line of %d bytes", n, len(got))
	}
}

func newLog(t *testing.T, text []byte) *linelog.File {
	path := filepath.Join(t.TempDir(), "process.log")
	writeFile(t, path, text)
	log, err := linelog.Open(path, linelog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}
