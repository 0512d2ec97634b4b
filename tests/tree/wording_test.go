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

// bannedWords once had a private meaning here. docs/glossary.md has the words to use instead.
var bannedWords = regexp.MustCompile(`^((face|floor|charge|glance|easel|desk)s?|(misfit|shelf|hush|dress)(es)?|whos)$`)

// wordsOf splits a name such as longestLine into words.
var wordsOf = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// bannedPhrases maps phrases that read as translated to their replacements. A phrase with …
// matches if both parts occur in one line, in order.
var bannedPhrases = map[string]string{
	"nothing dies with":             "keeps everything running",
	"for hands that":                "coming from",
	"read anew":                     "reloaded",
	"counts at once":                "applies immediately",
	"put it on the prompt":          "insert at the prompt",
	"is not known here":             "not recorded",
	"is no file":                    "not a file",
	"is no text file":               "not a text file",
	"is no name":                    "not a valid name",
	"no bookmark any more":          "bookmark removed",
	"went on from the other end":    "search wrapped",
	"goes back…zoom":                "zoom the pane",
	"look back at what":             "scrollback",
	"give the session another name": "rename the session",
	"keyboard: yours":               "agents can't type here now",
	"to lay out…session":            "no sessions to arrange",
	"shall run":                     "describes what to run",
	"before it began":               "failed to start",
	"its time is over":              "it timed out",
	"keeps these lines":             "those lines are gone from the scrollback",
}

// hasPhrase reports whether a line in lower case contains the parts of a phrase, in order.
func hasPhrase(line, phrase string) bool {
	first, second, _ := strings.Cut(phrase, "…")
	_, after, found := strings.Cut(line, first)
	return found && strings.Contains(after, second)
}

func TestBannedPhrasesAreFound(t *testing.T) {
	t.Parallel()
	for phrase, instead := range bannedPhrases {
		sample := "so " + strings.ReplaceAll(phrase, "…", " and then ") + " it does"
		if !hasPhrase(sample, phrase) || hasPhrase(strings.ToLower(instead), phrase) {
			t.Errorf("hasPhrase does not distinguish %q from %q", phrase, instead)
		}
	}
	for sample, want := range map[string]bool{"floor": true, "whos": true, "dresses": true, "floored": false, "surface": false, "address": false} {
		if bannedWords.MatchString(sample) != want {
			t.Errorf("%q: banned %v, want %v", sample, !want, want)
		}
	}
}

func TestGlossaryTermsAreUsed(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{} // by identifier or comment word: whether it is allowed
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
	for _, path := range trackedFiles(t, "*.go") {
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

func TestBannedPhrasesAreAbsent(t *testing.T) {
	t.Parallel()
	for _, path := range trackedFiles(t, "*.go", "*.md") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.ToLower(string(text)), "\n") {
			for phrase, instead := range bannedPhrases {
				if hasPhrase(line, phrase) {
					t.Errorf("%s:%d: %q; write %q", path, i+1, phrase, instead)
				}
			}
		}
	}
}

// trackedFiles returns the files under version control that match patterns.
func trackedFiles(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
