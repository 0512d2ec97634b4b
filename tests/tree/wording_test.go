package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// bannedWords had a private meaning; docs/glossary.md has the words to use.
var bannedWords = regexp.MustCompile(`^((face|floor|charge|glance|easel|desk)s?|(misfit|shelf|hush|dress)(es)?|whos)$`)

// wordsOf finds the words in a name such as longestLine.
var wordsOf = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// bannedPhrases read as translated. The parts of a phrase around … stand in one line.
var bannedPhrases = []string{
	"nothing dies with", "for hands that", "read anew", "counts at once", "put it on the prompt", "is not known here",
	"is no file", "is no text file", "is no name", "no bookmark any more", "went on from the other end", "goes back…zoom",
	"look back at what", "give the session another name", "keyboard: yours", "to lay out…session", "shall run",
	"before it began", "its time is over", "keeps these lines",
}

func TestNoWordStandsForAnother(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{} // identifiers and words of comments: whether they are allowed
	allowed := func(text string) bool {
		ok, known := checked[text]
		if !known {
			ok = !slices.ContainsFunc(wordsOf.FindAllString(text, -1), func(word string) bool {
				return bannedWords.MatchString(strings.ToLower(word))
			})
			checked[text] = ok
		}
		return ok
	}
	for _, path := range tracked(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "engine/picture/") { // fonts have faces
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		check := func(at token.Pos, text string) {
			if !allowed(text) {
				t.Errorf("%s: %q", files.Position(at), text)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // the name may be another package's
				ast.Inspect(n.X, func(x ast.Node) bool {
					if id, ok := x.(*ast.Ident); ok {
						check(id.Pos(), id.Name)
					}
					return true
				})
				return false
			case *ast.Ident:
				check(n.Pos(), n.Name)
			}
			return true
		})
		for _, group := range file.Comments {
			for _, word := range strings.FieldsFunc(group.Text(), func(r rune) bool { return !unicode.IsLetter(r) }) {
				check(group.Pos(), word)
			}
		}
	}
}

func TestNoPhraseReadsAsATranslation(t *testing.T) {
	t.Parallel()
	for _, path := range tracked(t, "*.go", "*.md") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.ToLower(string(text)), "\n") {
			for _, phrase := range bannedPhrases {
				first, second, _ := strings.Cut(phrase, "…")
				if _, after, found := strings.Cut(line, first); found && strings.Contains(after, second) {
					t.Errorf("%s:%d: %q", path, i+1, phrase)
				}
			}
		}
	}
}

// tracked are the files of the program that match patterns.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
