package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// The words that stood for something else than they mean in English, and what
// they made way for is in docs/glossary.md.
var (
	bannedWords = compiled(`^((face|floor|charge|glance|easel|desk)s?|(misfit|shelf|hush|dress)(es)?|whos)$`)
	bannedIn    = compiled(`(?i)nothing dies with|for hands that|read anew|counts at once` +
		`|put it on the prompt|is not known here|is no (text )?(file|name)\b|no bookmark any more` +
		`|went on from the other end|goes back\b.*zoom|look back at what|give the session another name|keyboard: yours` +
		`|to lay out\b.*session|shall run\b|before it began|its time is over|keeps these lines`)
	wordsOf = compiled(`[A-Z]?[a-z]+|[A-Z]+`)
)

// compiled compiles an expression when it is first used, and not as the test
// binary starts, which is the program too.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func TestNoWordStandsForAnother(t *testing.T) {
	t.Parallel()
	for _, path := range tracked(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "engine/picture/") { // fonts have faces
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		check := func(at token.Pos, text string) {
			for _, word := range wordsOf().FindAllString(text, -1) {
				if bannedWords().MatchString(strings.ToLower(word)) {
					t.Errorf("%s: %q", files.Position(at), word)
				}
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
			check(group.Pos(), group.Text())
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
		for i, line := range strings.Split(string(text), "\n") {
			if found := bannedIn().FindString(line); found != "" {
				t.Errorf("%s:%d: %q", path, i+1, found)
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
