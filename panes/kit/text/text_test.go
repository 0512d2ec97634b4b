package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestCutReturnsExactWidth(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "e\u0301", "1\ufe0f\u20e3", "漢", "🇩🇪", "👨\u200d👩", "स्ते", "\x1b[1m", "\x1b[m"})
	seed.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		w := rapid.IntRange(0, 20).Draw(t, "w")
		all := Width(s)
		if got := Width(Clip(s, w)); got > w || all <= w && got != all || got < min(all, w)-1 {
			t.Fatalf("%q in %d cells is %q", s, w, Clip(s, w))
		}
		if got := Width(ClipLeft(s, w)); got != min(all, w) {
			t.Fatalf("the end of %q in %d cells is %q", s, w, ClipLeft(s, w))
		}
		head, tail := Pad(Cut(s, w, ""), min(w, all)), CutLeft(s, w)
		if Width(head)+Width(tail) != all {
			t.Fatalf("%q is %q and %q", s, head, tail)
		}
		if whole := ansi.Strip(s); !strings.HasPrefix(whole, strings.TrimRight(ansi.Strip(head), " ")) || !strings.HasSuffix(whole, strings.TrimLeft(ansi.Strip(tail), " ")) {
			t.Fatalf("%q is %q and %q", s, head, tail)
		}
	})
}

func TestClipPathRemovesWholeFolders(t *testing.T) {
	for _, c := range []struct {
		path string
		w    int
		want string
	}{
		{"~/work/proj", 11, "~/work/proj"}, {"~/work/proj", 10, "…/proj"}, {"~/work/proj", 6, "…/proj"}, {"~/work/proj", 5, "proj"},
		{"~/work/project", 6, "proje…"}, {"/a/b/c", 5, "…/b/c"}, {"/long-folder", 6, "long-…"}, {"/", 1, "/"}, {"~/日本/語", 6, "…/語"}, {"", 0, ""},
	} {
		if got := ClipPath(c.path, c.w); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.path, c.w, got, c.want)
		}
	}
}

func TestWrapWordsSplitsLongWords(t *testing.T) {
	if got, want := WrapWords("in /a/long/path ok", 6), []string{"in", "/a/lon", "g/path", "ok"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestFoldWordsSplitsAfterSpacesAndLosesNothing(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"git push", []string{"git push"}},
		{"git push --force", []string{"git push ", "--force"}},
		{"rm -rf 12 tmp", []string{"rm -rf 12", " tmp"}}, // the first nine fit exactly
		{"  x  yyyyyyyyyyyyy", []string{"  x  ", "yyyyyyyyy", "yyyy"}},
		{"echo 日本語日本語", []string{"echo ", "日本語日", "本語"}},
	} {
		got := FoldWords(c.text, 9)
		if !slices.Equal(got, c.want) || strings.Join(got, "") != c.text {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
