package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// bannedWords maps words with a private meaning here to those of docs/glossary.md. Their plurals are
// banned too.
var bannedWords = map[string]string{
	"charge": "owner",
	"desk":   "dashboard",
	"dress":  "style",
	"easel":  "screen",
	"face":   "interface",
	"floor":  "keyboard lock, or limit",
	"glance": "poll, or summary",
	"hush":   "mute",
	"misfit": "mismatch",
	"shelf":  "store",
	"whos":   "owners",
}

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

func TestGlossaryTermsAreUsed(t *testing.T) {
	t.Parallel()
	for _, path := range trackedFiles(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "engine/screen/picture/") { // fonts have faces
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range findBannedWords(file) {
			t.Errorf("%s: %q; write %q", files.Position(found.at), found.text, found.instead)
		}
	}
}

// A wordFound is a name or a word with its replacement.
type wordFound struct {
	at            token.Pos
	text, instead string
}

// findBannedWords finds banned words in the names and comments of a file.
func findBannedWords(file *ast.File) (all []wordFound) {
	check := func(at token.Pos, text string) {
		for _, word := range wordsOf.FindAllString(text, -1) {
			if instead := replacementOf(word); instead != "" {
				all = append(all, wordFound{at, text, instead})
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
		for _, word := range strings.FieldsFunc(group.Text(), func(r rune) bool { return !unicode.IsLetter(r) }) {
			check(group.Pos(), word)
		}
	}
	return all
}

// replacementOf returns the replacement of a banned word or its plural, or "".
func replacementOf(word string) string {
	word = strings.ToLower(word)
	for _, singular := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")} {
		if instead := bannedWords[singular]; instead != "" {
			return instead
		}
	}
	return ""
}

func TestBannedWordsAreFound(t *testing.T) {
	t.Parallel()
	for word, instead := range bannedWords {
		if replacementOf(word) != instead || replacementOf(instead) != "" {
			t.Errorf("%q is not found, or its replacement %q is banned too", word, instead)
		}
	}
	for bad, want := range map[string]string{
		"var floorHeight int":                "keyboard lock, or limit",
		"var maxFloors int":                  "keyboard lock, or limit",
		"type Desk struct{}":                 "dashboard",
		"func f(whos int) {}":                "owners",
		"type t struct{ dresses int }":       "style",
		"var _ = desk.Open()":                "dashboard",
		"// The face of the engine.":         "interface",
		"// It hushes\n// all notes.":        "mute",
		"func f() { shelf := 1; _ = shelf }": "store",
	} {
		found := findBannedWords(parseSource(t, bad))
		if len(found) == 0 || found[0].instead != want {
			t.Errorf("%s: found %v, want %q", bad, found, want)
		}
	}
	for _, good := range []string{
		"var _ = font.Face()",
		"var surface, floored, address, undress int",
		`var _ = "the floor"`,
		"// The surface of a discharged desktop.",
	} {
		if found := findBannedWords(parseSource(t, good)); len(found) > 0 {
			t.Errorf("%s: found %v", good, found)
		}
	}
}

// parseSource returns a file of package p with declarations or comments.
func parseSource(t *testing.T, source string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n"+source+"\n", parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
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

// hasPhrase reports whether a line in lower case contains the parts of a phrase, in order.
func hasPhrase(line, phrase string) bool {
	first, second, _ := strings.Cut(phrase, "…")
	_, after, found := strings.Cut(line, first)
	return found && strings.Contains(after, second)
}

func TestBannedPhrasesAreFound(t *testing.T) {
	t.Parallel()
	find := func(line string) (found string) {
		for phrase := range bannedPhrases {
			if hasPhrase(line, phrase) {
				found = phrase
			}
		}
		return found
	}
	for phrase, instead := range bannedPhrases {
		if sample := "so " + strings.ReplaceAll(phrase, "…", " and then ") + " it does"; !hasPhrase(sample, phrase) {
			t.Errorf("%q: %q is not found", sample, phrase)
		}
		if found := find(strings.ToLower(instead)); found != "" {
			t.Errorf("%q, written instead of %q, has the banned %q", instead, phrase, found)
		}
	}
	for _, good := range []string{
		"no such file",
		"zoom the pane, or leave it",
		"the session to lay out next",
		"the shell running it",
	} {
		if found := find(good); found != "" {
			t.Errorf("%q: found %q", good, found)
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
