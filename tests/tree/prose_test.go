package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// relativePronouns begin clauses that make a comment hard to read. A noun or a participle usually
// says the same.
var relativePronouns = regexp.MustCompile(`(?i)\b(that|what|whatever|who|whoever|whose|whom|which|whichever|where|wherever)\b`)

// maxPronouns is the limit for a package, per 100 words of comments.
const maxPronouns = 2.5

// minProse is the number of comment words below which a package is not measured.
const minProse = 100

func TestCommentsHaveFewRelativeClauses(t *testing.T) {
	t.Parallel()
	for dir, n := range pronounsByPackage(t) {
		if n > maxPronouns {
			t.Errorf("%s: %.1f of that, what, who, which and where per 100 words of comments, more than %.1f; use a noun or a participle", dir, n, maxPronouns)
		}
	}
}

func TestRelativePronounsAreCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"freeName is the entry's name, or, where something else that runs has it, one with the project's before it.": 2,
		"What is there, Whoever asks for it and whichever comes first":                                               3,
		"freeName returns the entry's name, prefixed with the project's":                                             0,
		"The somewhat thatched whatnot":                                                                              0,
	} {
		if got := len(relativePronouns.FindAllString(text, -1)); got != want {
			t.Errorf("%q: %d pronouns, want %d", text, got, want)
		}
	}
}

// pronounsByPackage returns the relative pronouns per 100 words of comments, rounded to a tenth,
// for each package with at least minProse words.
func pronounsByPackage(t *testing.T) map[string]float64 {
	t.Helper()
	words, pronouns := make(map[string]int), make(map[string]int)
	for _, path := range trackedFiles(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			continue
		}
		dir := filepath.Dir(path)
		for _, group := range file.Comments {
			words[dir] += len(strings.Fields(group.Text()))
			pronouns[dir] += len(relativePronouns.FindAllString(group.Text(), -1))
		}
	}
	measured := make(map[string]float64)
	for dir, n := range words {
		if n >= minProse {
			measured[dir] = math.Round(1000*float64(pronouns[dir])/float64(n)) / 10
		}
	}
	return measured
}
