package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/tests/needs"
)

// tree writes empty files.
func (g *ground) tree(files ...string) {
	g.Helper()
	for _, f := range files {
		g.file(f, "")
	}
}

func (g *ground) finds(pattern, path string, want ...string) {
	g.Helper()
	out, err := g.Find(context.Background(), pattern, path, 0)
	if diff := cmp.Diff(strings.Join(want, " "), strings.Join(out.Paths, " ")); diff != "" || err != nil {
		g.Errorf("find %s in %q: %v %s", pattern, path, err, diff)
	}
}

func TestFindGivesPathsInOrder(t *testing.T) {
	g := newGround(t)
	g.tree("a/b", "a.b", "a-b", "a/a", "B", "a0")
	g.finds("*", "", ".keep", "B", "a-b", "a.b", "a/", "a/a", "a/b", "a0")
	g.finds("a*", "a", "a")
	out, err := g.Find(t.Context(), "*", "", 3)
	if err != nil || !out.Limited || strings.Join(out.Paths, " ") != ".keep B a-b" {
		t.Errorf("%v, %v", out, err)
	}
	g.finds("b", "", "B", "a/b")
	g.finds("B", "", "B")
	g.finds("a/", "", "a/")
}

func TestFindLeavesOutWhatGitDoes(t *testing.T) {
	g := newGround(t)
	g.tree("src/a.o", "src/a.c", "src/keep.o", "build/x", "deep/build/x", "deep/tmp/x", "deep/tmp/y", ".git/info/z", "own/.git/f", "own/x.o",
		"node_modules/m", "deep/node_modules/m", "excluded", "plain.txt", "not/this", "not/that")
	g.file(".gitignore", "\ufeff# comment\r\n*.o\r\n!keep.o\r\n/build/\r\nnot/*\r\n!not/that\r\n")
	g.file("deep/.gitignore", "tmp/x\n!build\n")
	g.file("deep/.ignore", "tmp/y\n")
	g.file(".git/info/exclude", "excluded\n")
	g.finds("*", "", ".gitignore", ".keep", "deep/", "deep/.gitignore", "deep/.ignore", "deep/build/", "deep/build/x", "deep/tmp/",
		"not/", "not/that", "own/", "own/x.o", "plain.txt", "src/", "src/a.c", "src/keep.o")
	g.finds("*", "src", "a.c", "keep.o")
	g.finds("*", "deep/tmp")
	g.finds("*.o", "own", "x.o")
}

func TestRulesOutsideTheRootAreNotRead(t *testing.T) {
	g := newGround(t)
	g.put(".gitignore", "*.txt\n")
	g.put(".git/HEAD", "")
	g.tree("a.txt")
	g.finds("*.txt", "", "a.txt")
	g.Roots = append(g.Roots, filepath.Dir(g.root))
	g.finds("*.txt", "")
}

func (g *ground) greps(r GrepRequest, want ...string) {
	g.Helper()
	out, err := g.Grep(context.Background(), r)
	var got []string
	for _, l := range out.Lines {
		mark := "-"
		if l.Match {
			mark = ":"
		}
		got = append(got, fmt.Sprintf("%s%s%d%s%s", l.Path, mark, l.Line, mark, l.Text))
	}
	if out.Limited {
		got = append(got, "…")
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		g.Errorf("grep %+v: %v %s", r, err, diff)
	}
}

func TestGrepFindsLines(t *testing.T) {
	g := newGround(t)
	g.file("a.txt", "one\ntwo\nthree\nTWO\ntwo again")
	g.file("b/c.go", "package two\r\n\r\nend\r\n")
	g.greps(GrepRequest{Pattern: "two"}, "a.txt:2:two", "a.txt:5:two again", "b/c.go:1:package two")
	g.greps(GrepRequest{Pattern: "tWo", IgnoreCase: true}, "a.txt:2:two", "a.txt:4:TWO", "a.txt:5:two again", "b/c.go:1:package two")
	g.greps(GrepRequest{Pattern: "two$"}, "a.txt:2:two", "b/c.go:1:package two")
	g.greps(GrepRequest{Pattern: "^t"}, "a.txt:2:two", "a.txt:3:three", "a.txt:5:two again")
	g.greps(GrepRequest{Pattern: "^$"}, "b/c.go:2:")
	g.greps(GrepRequest{Pattern: `\Atwo\z`}, "a.txt:2:two")
	g.greps(GrepRequest{Pattern: `[^q]end|one\stwo`})
	g.greps(GrepRequest{Pattern: "", Glob: "*.go"}, "b/c.go:1:package two", "b/c.go:2:", "b/c.go:3:end")
	g.greps(GrepRequest{Pattern: "two", Glob: "!*.go"}, "a.txt:2:two", "a.txt:5:two again")
	g.greps(GrepRequest{Pattern: "two", Glob: "b/*"}, "b/c.go:1:package two")
	g.greps(GrepRequest{Pattern: "three", Context: 1}, "a.txt-2-two", "a.txt:3:three", "a.txt-4-TWO")
	g.greps(GrepRequest{Pattern: "two|TWO", Context: 1, Path: "a.txt"}, "a.txt-1-one", "a.txt:2:two", "a.txt-3-three", "a.txt:4:TWO", "a.txt:5:two again")
	g.greps(GrepRequest{Pattern: "two", Limit: 1, Context: 1}, "a.txt-1-one", "a.txt:2:two", "a.txt-3-three", "…")
	g.greps(GrepRequest{Pattern: "t", Limit: 4}, "a.txt:2:two", "a.txt:3:three", "a.txt:5:two again", "b/c.go:1:package two")
	for _, wrong := range []string{"(", "a)(b", "[z-a]", `\8`, strings.Repeat("(", 2000)} {
		if _, err := g.Grep(t.Context(), GrepRequest{Pattern: wrong}); !errors.Is(err, Invalid) {
			t.Errorf("%.20s: %v", wrong, err)
		}
	}
}

func TestGrepLeavesOut(t *testing.T) {
	g := newGround(t)
	for _, f := range []string{".hidden", ".dir/f", "log", "node_modules/f", "sub/.git/f", "seen"} {
		g.file(f, "x\n")
	}
	g.file("binary", "x\n\x00")
	g.file(".gitignore", "log\n")
	g.link("seen", "link")
	g.greps(GrepRequest{Pattern: "x"}, "node_modules/f:1:x", "seen:1:x")
	g.greps(GrepRequest{Pattern: "x", Glob: "log"}, "log:1:x")
	g.greps(GrepRequest{Pattern: "x", Glob: ".hid*"}, ".hidden:1:x")
	g.greps(GrepRequest{Pattern: "x", Path: ".dir"}, "f:1:x")
	g.greps(GrepRequest{Pattern: "x", Path: "log"}, "log:1:x")
	g.greps(GrepRequest{Pattern: "x", Path: "link"}, "link:1:x")
	g.greps(GrepRequest{Pattern: "x", Path: "binary"})
}

// plainly is the expression as package regexp has it.
func plainly(pattern string, fold bool) *regexp.Regexp {
	if fold {
		pattern = "(?i)" + pattern
	}
	return regexp.MustCompile(pattern)
}

// lineByLine is the answer of a search that looks at each line by itself.
func lineByLine(re *regexp.Regexp, text string, context, limit int) []Line {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return nil
	}
	wanted := map[int]bool{}
	matches := 0
	for i, l := range lines {
		if lines[i] = strings.TrimSuffix(l, "\r"); !re.MatchString(lines[i]) || matches > limit {
			continue
		}
		matches++
		for j := max(i-context, 0); j <= min(i+context, len(lines)-1); j++ {
			wanted[j] = wanted[j] || j == i
		}
	}
	var out []Line
	for i, l := range lines {
		if match, ok := wanted[i]; ok {
			out = append(out, Line{Path: "f", Line: int64(i + 1), Text: strings.ToValidUTF8(l, "\uFFFD"), Match: match})
		}
	}
	return out
}

func TestSearchingManyLinesAtOnceIsSearchingEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([aAkKb]{0,3}\r?\n?){0,20}`).Draw(t, "text")
		pattern := rapid.SampledFrom([]string{"a", "ab", "a+b?$", "^a", "^$", "b|k", `a\s`, `\s`, "[^a]", `\Aa`, `a\z`, "k", "ak", "(?:a|b)k+", "", "a.", `\ba\b`, "(?-m:^a$)"}).Draw(t, "pattern")
		fold := rapid.Bool().Draw(t, "fold")
		around := rapid.IntRange(0, 3).Draw(t, "context")
		p, err := compilePattern(pattern, fold)
		if err != nil {
			t.Fatal(err)
		}
		s := searching{pattern: p, context: around, limit: 1000, buf: make([]byte, 8)}
		got, _, err := s.file(context.Background(), "f", iotest.HalfReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lineByLine(plainly(pattern, fold), text, around, 1000), got); diff != "" {
			t.Fatalf("%q in %q: %s", pattern, text, diff)
		}
	})
}

func FuzzSearch(f *testing.F) {
	f.Add("a\r\nB\nk", "b", true, 1)
	f.Add("0", "$", true, 0)
	f.Add("\r", "^$", false, 0)
	f.Fuzz(func(t *testing.T, text, pattern string, fold bool, around int) {
		p, err := compilePattern(pattern, fold)
		if err != nil || len(text) > 1<<12 || strings.ContainsRune(text, 0) {
			return
		}
		around = max(around, -around-1) % 4
		s := searching{pattern: p, context: around, limit: 5, buf: make([]byte, 16)}
		got, _, err := s.file(context.Background(), "f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		want := lineByLine(plainly(pattern, fold), text, around, 1000)
		out, all := GrepResult{}, GrepResult{}
		r := GrepRequest{Context: around, Limit: 5}
		out.add(got, r)
		all.add(want, r)
		if diff := cmp.Diff(all, out, cmp.AllowUnexported(GrepResult{})); diff != "" {
			t.Fatalf("%q in %q: %s", pattern, text, diff)
		}
	})
}

func FuzzPaths(f *testing.F) {
	dir := f.TempDir()
	root := filepath.Join(dir, "root")
	for _, d := range []string{"root/a/b", "rootling"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": "..", "in": "a", "abs": root + "/a/b", "abs out": dir, "self": "self", "up": "a/../../rootling"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			f.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a/b", "../rootling", "out/rootling", "in/../../x", "~", "~/a", root, root + "ling", "abs/../..", "up/x", "//", "a\x00"} {
		f.Add(seed, true)
	}
	tree := Tree{Roots: []string{root}, Home: root}
	f.Fuzz(func(t *testing.T, path string, link bool) {
		p, err := tree.locate(path, way{verb: "test", link: link})
		if err != nil {
			return
		}
		defer p.close()
		if _, ok := below(root, p.real); !ok {
			if _, ok := below(real, p.real); !ok {
				t.Fatalf("%q leads to %s", path, p.real)
			}
		}
		if first, _, _ := strings.Cut(p.rel, "/"); first == "" || first == ".." {
			t.Fatalf("%q is %q", path, p.rel)
		}
	})
}

func FuzzGlobAndRules(f *testing.F) {
	f.Add("*.go", "a/b.go", "*.o\n!x\n/a/**/b\n[a-")
	f.Fuzz(func(t *testing.T, pattern, path, rules string) {
		if g, err := compileGlob(pattern, true); err == nil {
			g.Match(path, true)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := openGuarded(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		rulesOf(root, true, "").match(path, false)
	})
}

func TestASearchEndsWhenNobodyWaitsForIt(t *testing.T) {
	g := newGround(t)
	g.tree("a/b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Find(ctx, "*", "", 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := g.Grep(ctx, GrepRequest{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestManyFilesComeInOrder(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	g := newGround(t)
	var want []string
	for i := range 3000 {
		name := fmt.Sprintf("d%02d/f%d", i%50, i)
		g.file(name, strings.Repeat("no\n", i%7*100)+"yes\n")
		want = append(want, name)
	}
	slices.Sort(want)
	out, err := g.Grep(t.Context(), GrepRequest{Pattern: "yes", Limit: 5000})
	var got []string
	for _, l := range out.Lines {
		got = append(got, l.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	out, err = g.Grep(t.Context(), GrepRequest{Pattern: "yes", Limit: 10})
	if err != nil || len(out.Lines) != 10 || !out.Limited || out.Lines[9].Path != want[9] {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	g := newGround(t)
	g.file("f", strings.Repeat("é", 1<<20)+"needle\nneedle\n")
	out, err := g.Grep(t.Context(), GrepRequest{Pattern: "needle"})
	if err != nil || out.Matches != 2 || len(out.Lines[0].Text) != mostLineText || out.Lines[1].Text != "needle" {
		t.Errorf("%d matches, %v", out.Matches, err)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	g := newGround(t)
	for i := range 3 {
		g.file(fmt.Sprint(i), strings.Repeat(strings.Repeat("x", 1<<16-1)+"\n", 150))
	}
	out, err := g.Grep(t.Context(), GrepRequest{Pattern: "x", Limit: 1e9})
	if err != nil || !out.Limited || out.Matches < 200 || out.Matches > 300 {
		t.Errorf("%d matches, %v, %v", out.Matches, out.Limited, err)
	}
}

// goroot is a large tree that is on every machine with these tests.
func goroot(tb testing.TB) *Tree {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return &Tree{Base: filepath.Join(strings.TrimSpace(string(out)), "src")}
}

func BenchmarkFind(b *testing.B) {
	tree := goroot(b)
	for b.Loop() {
		if _, err := tree.Find(b.Context(), "*_test.go", "", 1e6); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	tree := goroot(b)
	for _, pattern := range []string{"newFileStat", "(?i)newfilestat", `func \w+Stat\(`, `\w+Stat\b`, "nothing|nowhere"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				if _, err := tree.Grep(b.Context(), GrepRequest{Pattern: pattern, Limit: 1e6}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	text := bytes.Repeat([]byte("some words on a line, none of which is sought for here\n"), 20000)
	for _, pattern := range []string{"needle", "(?i)needle", "n[aeiou]+dle"} {
		b.Run(pattern, func(b *testing.B) {
			p, err := compilePattern(pattern, false)
			if err != nil {
				b.Fatal(err)
			}
			s := searching{pattern: p, limit: 100}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, _, err := s.file(b.Context(), "f", bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestLargeFilesArePassedOverWhereThatIsWanted(t *testing.T) {
	g := newGround(t)
	g.file("small", "needle")
	g.file("large", strings.Repeat("straw\n", 100)+"needle")
	out, err := g.Grep(t.Context(), GrepRequest{Pattern: "needle", MostBytes: 100})
	if err != nil || out.Matches != 1 || out.Lines[0].Path != "small" || out.Passed != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = g.Grep(t.Context(), GrepRequest{Pattern: "needle"})
	if err != nil || out.Matches != 2 || out.Passed != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
