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

// TestStrings rejects avoided words. With -v, it also prints all strings that read as sentences, for
// review in one sitting.
func TestStrings(t *testing.T) {
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
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !prose.MatchString(text) {
				return true
			}
			if testing.Verbose() {
				t.Logf("%s: %s", files.Position(literal.Pos()), literal.Value)
			}
			for word, instead := range avoidedWords {
				if found := word.FindString(text); found != "" {
					t.Errorf("%s: %q; write %q", files.Position(literal.Pos()), found, instead)
				}
			}
			return true
		})
	}
}

func TestAvoidedWordsAreFound(t *testing.T) {
	t.Parallel()
	for _, sample := range []string{
		"which verb was meant", "The person decides", "it is no more", "the start was called off", "the answer was not understood", "set A: want K=V",
	} {
		found := false
		for word := range avoidedWords {
			found = found || word.MatchString(sample)
		}
		if !found {
			t.Errorf("no avoided word found in %q", sample)
		}
	}
}
