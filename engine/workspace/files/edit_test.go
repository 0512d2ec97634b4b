package files

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestEditsKeepLineEndings(t *testing.T) {
	for _, c := range []struct{ text, search, replace, want string }{
		{"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		{"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{"a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"},
		{"a\nb\n", "b", "x\r\ny", "a\nx\ny\n"},
		{"a\r\nb\nc\nd\n", "a\nb", "x\ny", "x\r\ny\nc\nd\n"},
		{"a\r\nb\nc\nd\n", "c", "x\ny", "a\r\nb\nx\ny\nd\n"},
		{"a\r\nb\r\n", "\n", "", ""},
		{"no ending", "no", "a\r\nb", "a\r\nb ending"},
		{"\ufeffa\r\n", "a", "b", "\ufeffb\r\n"},
		{"\ufeffa", "\ufeffa", "b", "\ufeffb"},
		{"a\rb\r\nc", "a\rb\n", "x\n", "x\r\nc"},
		{"bin\x00\xff\r\n", "bin", "x", "x\x00\xff\r\n"},
		{"a$1b", "$1", "${1}", "a${1}b"},
	} {
		got, counts, err := applyEdits(c.text, []Edit{{Search: c.search, Replace: c.replace}})
		switch {
		case c.want == "":
			if !errors.Is(err, Several) {
				t.Errorf("%q in %q: %q, %v", c.search, c.text, got, err)
			}
		case err != nil || got != c.want || counts[0] != 1:
			t.Errorf("%q in %q: %q %v, %v", c.search, c.text, got, counts, err)
		}
	}
}

func TestEditsApplyInOrder(t *testing.T) {
	got, counts, err := applyEdits("a b a", []Edit{{"a", "b", true}, {"b b b", "c\nc", false}, {"c", "d", true}})
	if err != nil || got != "d\nd" || counts[0] != 2 || counts[1] != 1 || counts[2] != 2 {
		t.Errorf("%q %v %v", got, counts, err)
	}
	g := newTestTree(t)
	g.addFile("f", "a b")
	if _, _, err := g.EditFile(t.Context(), "f", []Edit{{Search: "a", Replace: "x"}, {Search: "gone"}}); !errors.Is(err, NoMatch) {
		t.Error(err)
	}
	g.checkContent("f", "a b")
}

func TestFailedEditNamesNearestLine(t *testing.T) {
	text := "package a\n\nfunc Hello(name string) {\n\treturn nil\n}\n"
	for search, want := range map[string]string{
		"func Hello(nme string) {":   "the nearest is line 3: func Hello(name string) {",
		"\n\n  func Hello(n string)": "the nearest is line 3: func Hello(name string) {",
		"return nul":                 "the nearest is line 4: \treturn nil",
		"completely different":       "",
		"\t \n":                      "",
	} {
		_, _, err := applyEdits(text, []Edit{{Search: search}})
		var e *Error
		if !errors.As(err, &e) || e.Reason != NoMatch || e.Hint != want {
			t.Errorf("%q: %+v", search, err)
		}
	}
}

func TestReplaceAllMatchesStringsPackage(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab\n]{0,20}`).Draw(t, "text")
		search := rapid.StringMatching(`[ab\n]{1,3}`).Draw(t, "search")
		replace := rapid.StringMatching(`[ab\n]{0,3}`).Draw(t, "replace")
		want := strings.ReplaceAll(text, search, replace)
		for _, windows := range []bool{false, true} {
			raw, expected := text, want
			if windows {
				raw = strings.ReplaceAll(raw, "\n", "\r\n")
				expected = strings.ReplaceAll(expected, "\n", "\r\n")
			}
			got, counts, err := applyEdits(raw, []Edit{{search, replace, true}})
			switch n := strings.Count(text, search); {
			case n == 0 && !errors.Is(err, NoMatch):
				t.Fatal(err)
			case n == 0:
			case strings.Contains(text, "\n") && got != expected, err != nil, counts[0] != n:
				t.Fatalf("%q, %v, %v; want %q", got, counts, err, expected)
			}
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "b\nc", "x\r\n", true)
	f.Fuzz(func(t *testing.T, text, search, replace string, all bool) {
		got, counts, err := applyEdits(text, []Edit{{search, replace, all}})
		if err != nil {
			return
		}
		if counts[0] < 1 || !all && counts[0] != 1 {
			t.Fatalf("%d replacements", counts[0])
		}
		body := strings.TrimPrefix(text, bom)
		want := strings.ReplaceAll(toUnixLines(body), toUnixLines(strings.TrimPrefix(search, bom)), toUnixLines(replace))
		if stripCRs(strings.TrimPrefix(got, bom)) != stripCRs(want) {
			t.Fatalf("%q: %q", got, want)
		}
	})
}

// stripCRs removes every CR before an LF: a CR kept from the text and an LF inserted after it look
// like a line ending.
func stripCRs(s string) string {
	for strings.Contains(s, "\r\n") {
		s = toUnixLines(s)
	}
	return s
}
