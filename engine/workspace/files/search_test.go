package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/tests/needs"
	"tandem/tests/seed"
)

// addEmpty writes empty files.
func (g *testTree) addEmpty(files ...string) {
	g.Helper()
	for _, f := range files {
		g.addFile(f, "")
	}
}

func (g *testTree) checkFind(pattern, path string, want ...string) {
	g.Helper()
	out, err := g.searcher().Find(context.Background(), pattern, path, 0)
	if diff := cmp.Diff(strings.Join(want, " "), strings.Join(out.Paths, " ")); diff != "" || err != nil {
		g.Errorf("find %s in %q: %v %s", pattern, path, err, diff)
	}
}

func TestFindReturnsPathsInOrder(t *testing.T) {
	g := newTestTree(t)
	g.addEmpty("a/b", "a.b", "a-b", "a/a", "B", "a0")
	g.checkFind("*", "", ".keep", "B", "a-b", "a.b", "a/", "a/a", "a/b", "a0")
	g.checkFind("a*", "a", "a")
	out, err := g.searcher().Find(t.Context(), "*", "", 3)
	if err != nil || !out.Limited || strings.Join(out.Paths, " ") != ".keep B a-b" {
		t.Errorf("%v, %v", out, err)
	}
	g.checkFind("b", "", "B", "a/b")
	g.checkFind("B", "", "B")
	g.checkFind("a/", "", "a/")
}

func TestFindOmitsFilesIgnoredByGit(t *testing.T) {
	g := newTestTree(t)
	g.addEmpty("src/a.o", "src/a.c", "src/keep.o", "build/x", "deep/build/x", "deep/tmp/x", "deep/tmp/y", ".git/info/z", "own/.git/f", "own/x.o",
		"node_modules/m", "deep/node_modules/m", "excluded", "plain.txt", "not/this", "not/that")
	g.addFile(".gitignore", "\ufeff# comment\r\n*.o\r\n!keep.o\r\n/build/\r\nnot/*\r\n!not/that\r\n")
	g.addFile("deep/.gitignore", "tmp/x\n!build\n")
	g.addFile("deep/.ignore", "tmp/y\n")
	g.addFile(".git/info/exclude", "excluded\n")
	g.checkFind("*", "", ".gitignore", ".keep", "deep/", "deep/.gitignore", "deep/.ignore", "deep/build/", "deep/build/x", "deep/tmp/",
		"not/", "not/that", "own/", "own/x.o", "plain.txt", "src/", "src/a.c", "src/keep.o")
	g.checkFind("*", "src", "a.c", "keep.o")
	g.checkFind("*", "deep/tmp")
	g.checkFind("*.o", "own", "x.o")
}

func TestNamedFolderIsSearchedEvenIfIgnored(t *testing.T) {
	g := newTestTree(t)
	g.addEmpty(".git/HEAD")
	g.addFile(".gitignore", "/build\nnode_modules\n*.log\n")
	for _, f := range []string{"build/o.txt", "build/sub/p.txt", "build/skip", "node_modules/m/i.js", "node_modules/m/node_modules/x", "src/a.log", "src/a.c"} {
		g.addFile(f, "foo\n")
	}
	g.addFile("build/.gitignore", "skip\n")
	g.checkFind("*", "", ".gitignore", ".keep", "src/", "src/a.c")
	g.checkFind("*", "build", ".gitignore", "o.txt", "sub/", "sub/p.txt")
	g.checkFind("*", "build/sub", "p.txt")
	g.checkFind("*", "node_modules/m", "i.js")
	g.checkFind("*", "node_modules", "m/", "m/i.js")
	g.checkFind("*", "src", "a.c")
	g.checkGrep(GrepRequest{Pattern: "foo"}, "src/a.c:1:foo")
	g.checkGrep(GrepRequest{Pattern: "foo", Path: "build"}, "o.txt:1:foo", "sub/p.txt:1:foo")
	g.checkGrep(GrepRequest{Pattern: "foo", Path: "node_modules/m"}, "i.js:1:foo", "node_modules/x:1:foo")
	g.checkGrep(GrepRequest{Pattern: "foo", Path: "src"}, "a.c:1:foo")
}

func TestFindObeysFdignoreAndGrepObeysRgignore(t *testing.T) {
	g := newTestTree(t)
	for _, f := range []string{"a.txt", "b.txt", "sub/a.txt", "sub/b.txt"} {
		g.addFile(f, "x\n")
	}
	g.addEmpty(".git/HEAD")
	g.addFile(".ignore", "a.txt\nb.txt\n")
	g.addFile(".fdignore", "!a.txt\n")
	g.addFile(".rgignore", "!b.txt\n")
	g.checkFind("*.txt", "", "a.txt", "sub/a.txt")
	g.checkFind("*.txt", "sub", "a.txt")
	g.checkGrep(GrepRequest{Pattern: "x"}, "b.txt:1:x", "sub/b.txt:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Path: "sub"}, "b.txt:1:x")
}

func TestFindDoesNotReadRulesOutsideRoots(t *testing.T) {
	g := newTestTree(t)
	g.addBeside(".gitignore", "*.txt\n")
	g.addBeside(".git/HEAD", "")
	g.addEmpty("a.txt")
	g.checkFind("*.txt", "", "a.txt")
	g.Roots = append(g.Roots, filepath.Dir(g.root))
	g.checkFind("*.txt", "")
}

func (g *testTree) checkGrep(r GrepRequest, want ...string) {
	g.Helper()
	out, err := g.searcher().Grep(context.Background(), r)
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

func TestGrepReturnsMatchingLines(t *testing.T) {
	g := newTestTree(t)
	g.addFile("a.txt", "one\ntwo\nthree\nTWO\ntwo again")
	g.addFile("b/c.go", "package two\r\n\r\nend\r\n")
	g.checkGrep(GrepRequest{Pattern: "two"}, "a.txt:2:two", "a.txt:5:two again", "b/c.go:1:package two")
	g.checkGrep(GrepRequest{Pattern: "tWo", IgnoreCase: true}, "a.txt:2:two", "a.txt:4:TWO", "a.txt:5:two again", "b/c.go:1:package two")
	g.checkGrep(GrepRequest{Pattern: "two$"}, "a.txt:2:two", "b/c.go:1:package two")
	g.checkGrep(GrepRequest{Pattern: "^t"}, "a.txt:2:two", "a.txt:3:three", "a.txt:5:two again")
	g.checkGrep(GrepRequest{Pattern: "^$"}, "b/c.go:2:")
	g.checkGrep(GrepRequest{Pattern: `\Atwo\z`}, "a.txt:2:two")
	g.checkGrep(GrepRequest{Pattern: `[^q]end|one\stwo`})
	g.checkGrep(GrepRequest{Pattern: "", Glob: "*.go"}, "b/c.go:1:package two", "b/c.go:2:", "b/c.go:3:end")
	g.checkGrep(GrepRequest{Pattern: "two", Glob: "!*.go"}, "a.txt:2:two", "a.txt:5:two again")
	g.checkGrep(GrepRequest{Pattern: "two", Glob: "b/*"}, "b/c.go:1:package two")
	g.checkGrep(GrepRequest{Pattern: "three", Context: 1}, "a.txt-2-two", "a.txt:3:three", "a.txt-4-TWO")
	g.checkGrep(GrepRequest{Pattern: "two|TWO", Context: 1, Path: "a.txt"}, "a.txt-1-one", "a.txt:2:two", "a.txt-3-three", "a.txt:4:TWO", "a.txt:5:two again")
	g.checkGrep(GrepRequest{Pattern: "two", Limit: 1, Context: 1}, "a.txt-1-one", "a.txt:2:two", "a.txt-3-three", "…")
	g.checkGrep(GrepRequest{Pattern: "t", Limit: 4}, "a.txt:2:two", "a.txt:3:three", "a.txt:5:two again", "b/c.go:1:package two")
	for _, wrong := range []string{"(", "a)(b", "[z-a]", `\8`, strings.Repeat("(", 2000)} {
		if _, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: wrong}); !errors.Is(err, Invalid) {
			t.Errorf("%.20s: %v", wrong, err)
		}
	}
}

func TestGrepSkipsHiddenIgnoredAndBinaryFiles(t *testing.T) {
	g := newTestTree(t)
	for _, f := range []string{".hidden", ".dir/f", "log", "node_modules/f", "sub/.git/f", "seen"} {
		g.addFile(f, "x\n")
	}
	g.addFile("binary", "x\n\x00")
	g.addFile(".gitignore", "log\n")
	g.addLink("seen", "link")
	g.checkGrep(GrepRequest{Pattern: "x"}, "node_modules/f:1:x", "seen:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Glob: "log"}, "log:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Glob: ".hid*"}, ".hidden:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Path: ".dir"}, "f:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Path: "log"}, "log:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Path: "link"}, "link:1:x")
	g.checkGrep(GrepRequest{Pattern: "x", Path: "binary"})
}

func TestGrepReadsFilesWithByteOrderMarksAndNULs(t *testing.T) {
	g := newTestTree(t)
	long := strings.Repeat("filler\n", binarySample)
	g.addFile("bom", "\ufefffoo\nbar\n")
	g.addFile("le", "\xff\xfef\x00o\x00o\x00\n\x00")
	g.addFile("be", "\xfe\xff\x00x\x00\n\x00f\x00o\x00o")
	g.addFile("late", "foo\n"+long+"cut\x00foo\nfoo\n")
	g.addFile("binary", "\x00\n"+long+"foo\n")
	g.checkGrep(GrepRequest{Pattern: "^foo"}, "be:2:foo", "bom:1:foo", "late:1:foo", "le:1:foo")
	g.checkGrep(GrepRequest{Pattern: "cut"})
	for pattern, want := range map[string]GrepResult{
		"^foo":   {Lines: []Line{}, Matches: 1, Binary: 1, File: true},
		"absent": {Lines: []Line{}, Binary: 1, File: true},
	} {
		if out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: pattern, Path: "binary"}); err != nil || !reflect.DeepEqual(out, want) {
			t.Errorf("%s in a binary file: %+v, %v", pattern, out, err)
		}
	}
	if out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "foo"}); err != nil || out.Binary != 1 {
		t.Errorf("%d binary files are left out, %v", out.Binary, err)
	}
}

// compileReference compiles a pattern with package regexp.
func compileReference(pattern string, fold bool) *regexp.Regexp {
	if fold {
		pattern = "(?i)" + pattern
	}
	return regexp.MustCompile(pattern)
}

// searchEachLine returns the expected result by matching each line separately.
func searchEachLine(re *regexp.Regexp, text string, context, limit int) []Line {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return nil
	}
	inResult := map[int]bool{}
	matches := 0
	for i, l := range lines {
		if lines[i] = strings.TrimSuffix(l, "\r"); !re.MatchString(lines[i]) || matches > limit {
			continue
		}
		matches++
		for j := max(i-context, 0); j <= min(i+context, len(lines)-1); j++ {
			inResult[j] = inResult[j] || j == i
		}
	}
	var out []Line
	for i, l := range lines {
		if match, ok := inResult[i]; ok {
			out = append(out, Line{Path: "f", Line: int64(i + 1), Text: strings.ToValidUTF8(l, "\uFFFD"), Match: match})
		}
	}
	return out
}

func TestBufferSearchMatchesLineByLineSearch(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([aAkKb]{0,3}\r?\n?){0,20}`).Draw(t, "text")
		pattern := rapid.SampledFrom([]string{"a", "ab", "a+b?$", "^a", "^$", "b|k", `a\s`, `\s`, "[^a]", `\Aa`, `a\z`, "k", "ak", "(?:a|b)k+", "", "a.", `\ba\b`, "(?-m:^a$)"}).Draw(t, "pattern")
		fold := rapid.Bool().Draw(t, "fold")
		around := rapid.IntRange(0, 3).Draw(t, "context")
		p, err := compilePattern(pattern, fold)
		if err != nil {
			t.Fatal(err)
		}
		s := fileSearch{pattern: p, context: around, limit: 1000, buf: make([]byte, 8)}
		st, err := s.searchFile(context.Background(), "f", iotest.HalfReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(searchEachLine(compileReference(pattern, fold), text, around, 1000), st.lines); diff != "" {
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
		if err != nil || len(text) > 1<<12 || strings.ContainsRune(text, 0) || isUTF16([]byte(text)) || strings.HasPrefix(text, "\ufeff") {
			return
		}
		around = max(around, -around-1) % 4
		s := fileSearch{pattern: p, context: around, limit: 5, buf: make([]byte, 16)}
		st, err := s.searchFile(context.Background(), "f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got := st.lines
		want := searchEachLine(compileReference(pattern, fold), text, around, 1000)
		out, all := GrepResult{}, GrepResult{}
		r := GrepRequest{Context: around, Limit: 5}
		out.addLines(got, r)
		all.addLines(want, r)
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
		p, err := tree.locate(path, lookup{verb: "test", noFollow: link})
		if err != nil {
			return
		}
		defer p.close()
		if _, ok := relBelow(root, p.real); !ok {
			if _, ok := relBelow(real, p.real); !ok {
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
		ruleFiles{}.readRules(root, true).ignores(path, false)
	})
}

func TestFindAndGrepStopWhenCancelled(t *testing.T) {
	g := newTestTree(t)
	g.addEmpty("a/b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.searcher().Find(ctx, "*", "", 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestGrepSortsResultsOfManyFiles(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	g := newTestTree(t)
	var want []string
	for i := range 3000 {
		name := fmt.Sprintf("d%02d/f%d", i%50, i)
		g.addFile(name, strings.Repeat("no\n", i%7*100)+"yes\n")
		want = append(want, name)
	}
	slices.Sort(want)
	out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "yes", Limit: 5000})
	var got []string
	for _, l := range out.Lines {
		got = append(got, l.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	out, err = g.searcher().Grep(t.Context(), GrepRequest{Pattern: "yes", Limit: 10})
	if err != nil || len(out.Lines) != 10 || !out.Limited || out.Lines[9].Path != want[9] {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestGrepCutsLongLines(t *testing.T) {
	g := newTestTree(t)
	g.addFile("f", strings.Repeat("é", 1<<20)+"needle\nneedle\n")
	out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "needle"})
	if err != nil || out.Matches != 2 || len(out.Lines[0].Text) != maxLineText || out.Lines[1].Text != "needle" {
		t.Errorf("%d matches, %v", out.Matches, err)
	}
}

func TestGrepLimitsSizeOfResult(t *testing.T) {
	g := newTestTree(t)
	for i := range 3 {
		g.addFile(fmt.Sprint(i), strings.Repeat(strings.Repeat("x", 1<<16-1)+"\n", 150))
	}
	out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "x", Limit: 1e9})
	if err != nil || !out.Limited || out.Matches < 200 || out.Matches > 300 {
		t.Errorf("%d matches, %v, %v", out.Matches, out.Limited, err)
	}
}

// openGoroot returns a large tree present on every machine that runs these tests.
func openGoroot(tb testing.TB) *Tree {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return &Tree{Base: filepath.Join(strings.TrimSpace(string(out)), "src")}
}

func BenchmarkFind(b *testing.B) {
	tree := openGoroot(b)
	for b.Loop() {
		if _, err := (Searcher{tree}).Find(b.Context(), "*_test.go", "", 1e6); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	tree := openGoroot(b)
	for _, pattern := range []string{"newFileStat", "(?i)newfilestat", `func \w+Stat\(`, `\w+Stat\b`, "nothing|nowhere"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				if _, err := (Searcher{tree}).Grep(b.Context(), GrepRequest{Pattern: pattern, Limit: 1e6}); err != nil {
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
			s := fileSearch{pattern: p, limit: 100}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := s.searchFile(b.Context(), "f", bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestGrepBeginsNoFilesWhileResultsWaitingForOneAreLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := []Line{{Text: strings.Repeat("x", 1<<20), Match: true}}
		results, ahead := make(chan fileResult), make(chan struct{}, maxAhead)
		const files = 100
		enough := make(chan struct{})
		var begun atomic.Int64
		ahead <- struct{}{} // of the first file, which is slow
		go func() {
			for number := 1; number < files; number++ {
				select {
				case ahead <- struct{}{}:
				case <-enough:
					return
				}
				begun.Add(1)
				select {
				case results <- fileResult{number: number, lines: large}:
				case <-enough:
					return
				}
			}
		}()
		done := make(chan GrepResult)
		go func() {
			out, _ := collectResults(results, ahead, GrepRequest{Limit: 10})
			close(enough)
			done <- out
		}()
		synctest.Wait()
		if n := begun.Load(); n > maxBytes>>20+2 {
			t.Errorf("%d files of 1 MiB of lines were begun during the search of the first one", n)
		}
		results <- fileResult{lines: large[:0]}
		if out := <-done; out.Matches != 10 || !out.Limited {
			t.Errorf("%d matches, limited %v", out.Matches, out.Limited)
		}
	})
}

func TestGrepCountsEmptyLinesInSizeOfResult(t *testing.T) {
	pattern, err := compilePattern("^", false)
	if err != nil {
		t.Fatal(err)
	}
	s := fileSearch{pattern: pattern, limit: 1 << 30}
	st, err := s.searchFile(t.Context(), "f", strings.NewReader(strings.Repeat("\n", 4*maxBytes/lineSize)))
	if err != nil || len(st.lines) > 2*maxBytes/lineSize {
		t.Fatalf("too many lines, or %v", err)
	}
	var out GrepResult
	out.addLines(st.lines, GrepRequest{Limit: 1 << 30})
	if !out.Limited || len(out.Lines) > maxBytes/lineSize+1 {
		t.Errorf("%d lines, limited %v", len(out.Lines), out.Limited)
	}
}

func TestGrepSkipsFilesOverMaxBytes(t *testing.T) {
	g := newTestTree(t)
	g.addFile("small", "needle")
	g.addFile("large", strings.Repeat("straw\n", 100)+"needle")
	out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "needle", MaxBytes: 100})
	if err != nil || out.Matches != 1 || out.Lines[0].Path != "small" || out.Skipped != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = g.searcher().Grep(t.Context(), GrepRequest{Pattern: "needle"})
	if err != nil || out.Matches != 2 || out.Skipped != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
