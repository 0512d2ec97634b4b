package search

import (
	"strings"
	"testing"
)

func TestGlobMatchesNamesAndPaths(t *testing.T) {
	for _, c := range []struct {
		glob, yes, no string
	}{
		{"*.go", "a.go .go d/a.go", "a.goo go"},
		{"?.go", "a.go é.go", "ab.go .go"},
		{"[a-c]x", "ax cx", "dx x"},
		{"[!a-c]x", "dx", "ax x"},
		{"[^a]x", "bx", "ax"},
		{"[]a]x", "]x ax", "bx"},
		{"[a\\]]x", "]x", "bx"},
		{"*.{go,md}", "a.go a.md", "a.{go,md} a.c"},
		{"{a,b{c,d}}", "a bc bd", "b abc"},
		{"**", "a a/b", ""},
		{"**/x", "x a/x a/b/x", "xx a/xx"},
		{"a/**", "a/b a/b/c", "a b/a"},
		{"a/**/x", "a/x a/b/x a/b/c/x", "x ax a/bx"},
		{"a/*", "a/b", "a/b/c b/a/b"},
		{"/a", "a", "b/a"},
		{"./a/*.c", "a/x.c", "x.c"},
		{"a**b", "ab axxb", "a/b"},
		{"\\*", "*", "a"},
		{"a.b", "a.b", "axb"},
		{"a+(b)|$^", "a+(b)|$^", "aab"},
		{"(?i)a", "(?i)a", "A"},
	} {
		g, err := CompileGlob(c.glob, false)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		for _, name := range strings.Fields(c.yes) {
			if !g.Match(name, false) {
				t.Errorf("%s does not match %s (%s)", c.glob, name, g.re)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if g.Match(name, false) {
				t.Errorf("%s matches %s (%s)", c.glob, name, g.re)
			}
		}
	}
	for _, wrong := range []string{"", "/", "[a", "{a", "a\\", "[z-a]", strings.Repeat("a", 5000)} {
		if _, err := CompileGlob(wrong, false); err == nil {
			t.Errorf("%s was accepted as a glob", wrong)
		}
	}
}
