package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// prose matches strings that read as sentences, as do most strings for users and agents.
var prose = regexp.MustCompile(`[A-Za-z]{3,}[,:;]? [a-z]{2,}[,:;]? .* `)

// avoidedWords maps words to their replacements in docs/glossary.md.
var avoidedWords = map[*regexp.Regexp]string{
	regexp.MustCompile(`\b[Vv]erbs?\b`):               "command",
	regexp.MustCompile(`\b[Tt]he person\b`):           "you, or the user",
	regexp.MustCompile(`\b(is|are|has) no more\b`):    "no longer",
	regexp.MustCompile(`\bcalled off\b|\bcall off\b`): "cancelled, cancel",
	regexp.MustCompile(`\bwas not understood\b`):      "must be …",
	regexp.MustCompile(`(: |; |^)want `):              "must be …",
}

// TestStringsUseTheGlossarysWords rejects avoided words. With -v, it also prints all strings that
// read as sentences, for review in one sitting.
func TestStringsUseTheGlossarysWords(t *testing.T) {
	t.Parallel()
	for _, path := range trackedFiles(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, literal := range proseLiterals(file) {
			if testing.Verbose() {
				t.Logf("%s: %s", files.Position(literal.Pos()), literal.Value)
			}
			for _, found := range findAvoidedWords(literal) {
				t.Errorf("%s: %q; write %q", files.Position(found.at), found.text, found.instead)
			}
		}
	}
}

// proseLiterals returns the strings of a file that read as sentences.
func proseLiterals(file *ast.File) (all []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && prose.MatchString(unquote(literal)) {
			all = append(all, literal)
		}
		return true
	})
	return all
}

func unquote(literal *ast.BasicLit) string {
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		panic(err) // the parser accepted it
	}
	return text
}

// findAvoidedWords finds avoided words in a string.
func findAvoidedWords(literal *ast.BasicLit) (all []wordFound) {
	for word, instead := range avoidedWords {
		if found := word.FindString(unquote(literal)); found != "" {
			all = append(all, wordFound{literal.Pos(), found, instead})
		}
	}
	return all
}

func TestAvoidedWordsAreFound(t *testing.T) {
	t.Parallel()
	find := func(source string) (all []wordFound) {
		for _, literal := range proseLiterals(parseSource(t, source)) {
			all = append(all, findAvoidedWords(literal)...)
		}
		return all
	}
	for bad, want := range map[string]string{
		`var _ = "which verb was meant by it"`:            "command",
		`var _ = "Verbs are not all known here"`:          "command",
		`var _ = "The person decides what runs"`:          "you, or the user",
		`var _ = "the session is no more running"`:        "no longer",
		`var _ = "the start was called off by you"`:       "cancelled, cancel",
		"var _ = `call off the whole start`":              "cancelled, cancel",
		`func f() { g("the answer was not understood") }`: "must be …",
		`const c = "cannot set this variable: want K=V"`:  "must be …",
	} {
		if found := find(bad); len(found) != 1 || found[0].instead != want {
			t.Errorf("%s: found %v, want %q", bad, found, want)
		}
	}
	for _, good := range []string{
		`var _ = "verb"`,
		`var _ = "the adverbs of a long sentence"`,
		`var _ = "you want to stop the process"`,
		`var _ = "no more rows of this list to show"`,
		"// The verb that a person wants is in a comment.",
	} {
		if found := find(good); len(found) > 0 {
			t.Errorf("%s: found %v", good, found)
		}
	}
}
