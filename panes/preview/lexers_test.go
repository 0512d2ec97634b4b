package preview

import (
	"archive/zip"
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateLexers = flag.Bool("update-lexers", false, "make lexers.zip anew from the module chroma")

func TestLexersZipMatchesChroma(t *testing.T) {
	if !*updateLexers {
		return
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(dir))
	files, err := filepath.Glob(filepath.Join(root, "lexers/embedded/*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range append(files, filepath.Join(root, "COPYING")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lexers.zip", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLexerIsChosenByNameOrFirstLine(t *testing.T) {
	cases := []struct{ name, head, want string }{
		{"main.go", "", "Go"},
		{"README.md", "", "Markdown"},
		{"a.py", "", "Python"},
		{"x.rs", "", "Rust"},
		{"x.ts", "", "TypeScript"},
		{"x.html", "", "HTML"},
		{"Dockerfile", "", "Docker"},
		{"run", "#!/bin/sh\n", "Bash"},
		{"run", "#!/usr/bin/env python3\n", "Python"},
		{"notes.txt", "", ""},
		{"go.mod", "", "Go modules"},
		{"go.work", "", "Go modules"},
		{"a.\xff", "", ""},
	}
	for _, c := range cases {
		if got := lexerFor("/x/"+c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestGoModHasItsOwnRules(t *testing.T) {
	text := []string{"module example.org/go", "go 1.26.1", "require example.org/tool v1.2.3 // indirect"}
	var lines []previewLine
	for i, line := range text {
		lines = append(lines, previewLine{off: int64(i), text: line})
	}
	painted := paintLines(lexerFor("/x/go.mod", nil), lines, 0)
	for i, want := range [][]syntaxClass{
		{classKeyword, classText}, {classKeyword, classText, classNumber},
		{classKeyword, classText, classNumber, classText, classComment},
	} {
		var got []syntaxClass
		for _, span := range painted[int64(i)] {
			if len(got) == 0 || got[len(got)-1] != span.class {
				got = append(got, span.class)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is painted %v, want %v", text[i], got, want)
		}
	}
}

func TestPaintSplitsSyntaxIntoLines(t *testing.T) {
	lines := []previewLine{{off: 0, text: "/* a"}, {off: 5, text: "b */ func f() string { return \"x\" }"}, {off: 50, text: "x := 1"}}
	painted := paintLines("Go", lines, 1)
	if _, ok := painted[0]; ok {
		t.Error("context is painted")
	}
	want := []inkSpan{{4, classComment}, {1, classText}, {4, classKeyword}}
	got := painted[5]
	if len(got) < 3 || !slices.Equal(got[:3], want) {
		t.Errorf("got %v, want %v first", got, want)
	}
	n := 0
	for _, s := range got {
		n += s.n
	}
	if n != len(lines[1].text) {
		t.Errorf("spans hold %d bytes of %d", n, len(lines[1].text))
	}
}

func BenchmarkLexers(b *testing.B) {
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			readLexers()
		}
	})
	b.Run("paint 400 lines", func(b *testing.B) {
		var lines []previewLine
		for i := range 400 {
			lines = append(lines, previewLine{off: int64(i), text: "	if err := call(ctx, \"text\", 12); err != nil { // comment"})
		}
		for b.Loop() {
			paintLines("Go", lines, 0)
		}
	})
}
