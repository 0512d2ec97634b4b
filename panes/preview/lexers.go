package preview

import (
	"archive/zip"
	"bytes"
	_ "embed" // language descriptions
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexersZip holds the language descriptions of chroma, with chroma's licence. The package that
// chroma has for them would parse them all whenever a program starts.
//
//go:embed lexers.zip
var lexersZip []byte

// lexers parses the descriptions when the first file is shown, outside the dashboard's goroutine.
var lexers = sync.OnceValue(readLexers)

func readLexers() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	all.Register(chroma.MustNewLexer(&chroma.Config{Name: "Go", Filenames: []string{"*.go"}, EnsureNL: true}, goRules))
	all.Register(chroma.MustNewLexer(&chroma.Config{
		Name: "Markdown", Filenames: []string{"*.md", "*.markdown", "*.mkd"}, EnsureNL: true,
	}, markdownRules))
	all.Register(chroma.MustNewLexer(&chroma.Config{ // before AMPL and Modula-2, which claim *.mod
		Name: "Go modules", Filenames: []string{"go.mod", "go.work"}, Priority: 2, EnsureNL: true,
	}, goModRules))
	files, err := zip.NewReader(bytes.NewReader(lexersZip), int64(len(lexersZip)))
	if err != nil {
		return all
	}
	names, _ := fs.Glob(files, "*.xml") // the pattern is valid
	for _, name := range names {
		if l, err := chroma.NewXMLLexer(files, name); err == nil {
			all.Register(l)
		}
	}
	return all
}

// goRules returns rules for Go, as in the section "Lexical elements" of its specification.
func goRules() chroma.Rules {
	return chroma.Rules{"root": {
		newRule(`\s+`, chroma.TextWhitespace),
		newRule(`//[^\n]*`, chroma.CommentSingle),
		newRule(`/\*[\s\S]*?(\*/|\z)`, chroma.CommentMultiline),
		newRule("`[^`]*(`|\\z)", chroma.LiteralString),
		newRule(`"(\\.|[^"\\\n])*("|$)`, chroma.LiteralString),
		newRule(`'(\\.|[^'\\\n])+'`, chroma.LiteralStringChar),
		newRule(chroma.Words(``, `\b`, "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func",
			"go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var"),
			chroma.Keyword),
		newRule(chroma.Words(``, `\b`, "true", "false", "nil", "iota"), chroma.LiteralNumber),
		newRule(chroma.Words(``, `\b`, "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64",
			"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr"),
			chroma.KeywordType),
		newRule(chroma.Words(``, `(?=\()`, "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max",
			"min", "new", "panic", "print", "println", "real", "recover"), chroma.NameBuiltin),
		newRule(`[\p{L}_][\p{L}\p{N}_]*(?=\()`, chroma.NameFunction),
		newRule(`[\p{L}_][\p{L}\p{N}_]*`, chroma.Name),
		newRule(`0[xX][0-9a-fA-F_.]+([pP][+-]?[0-9_]+)?i?|0[bB][01_]+i?|0[oO]?[0-7_]+i?`, chroma.LiteralNumber),
		newRule(`[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]+)?i?|\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?i?`, chroma.LiteralNumber),
		newRule(`.`, chroma.Punctuation),
	}}
}

// goModRules returns rules for go.mod and go.work, as in the Go Modules Reference.
func goModRules() chroma.Rules {
	return chroma.Rules{"root": {
		newRule(`\s+`, chroma.TextWhitespace),
		newRule(`//[^\n]*`, chroma.CommentSingle),
		newRule("`[^`]*(`|\\z)", chroma.LiteralString),
		newRule(`"(\\.|[^"\\\n])*("|$)`, chroma.LiteralString),
		newRule(chroma.Words(``, `\b(?=[ \t(])`, "exclude", "go", "godebug", "ignore", "module", "replace", "require", "retract", "tool",
			"toolchain", "use"), chroma.Keyword),
		newRule(`v?\d+\.\d[\w.+-]*`, chroma.LiteralNumber),
		newRule(`=>|[()\[\],]`, chroma.Punctuation),
		newRule(`[^\s()\[\],"`+"`]+", chroma.Name),
	}}
}

// markdownRules returns rules for headings, code, quotes, lists, links and emphasis.
func markdownRules() chroma.Rules {
	return chroma.Rules{"root": {
		newRule(`(?m)^(\s*)(`+"```|~~~"+`)[\s\S]*?(^\s*\2\s*$|\z)`, chroma.LiteralString),
		newRule(`(?m)^#{1,6} [^\n]*`, chroma.GenericHeading),
		newRule(`(?m)^\s*>[^\n]*`, chroma.Comment),
		newRule(`(?m)^\s*([-*+]|[0-9]+[.)])(?= )`, chroma.Keyword),
		newRule(`(?m)^\s*\|?[-:| ]{5,}$`, chroma.Comment),
		newRule("`[^`\\n]+`", chroma.LiteralString),
		newRule(`\*\*[^*\n]+\*\*|__[^_\n]+__`, chroma.GenericStrong),
		newRule(`!?\[[^\]\n]*\]\([^)\n]*\)`, chroma.NameTag),
		newRule(`https?://[^\s)>]+`, chroma.NameTag),
		newRule(`<!--[\s\S]*?(-->|\z)`, chroma.Comment),
		newRule(`\n`, chroma.Text),
		newRule("[^\\n`*_!\\[<h>#|~-]+", chroma.Text),
		newRule(`.`, chroma.Text),
	}}
}

func newRule(pattern string, kind chroma.TokenType) chroma.Rule {
	return chroma.Rule{Pattern: pattern, Type: kind}
}

// lexerFor returns the name of the lexer for a file, chosen by the file's name or its first line;
// "" if there is none.
func lexerFor(file string, head []byte) string {
	name := strings.ToValidUTF8(filepath.Base(file), "")
	l := lexers().Match(name)
	if l == nil {
		first, _, _ := bytes.Cut(head[:min(len(head), 256)], []byte("\n"))
		if program, ok := bytes.CutPrefix(first, []byte("#!")); ok {
			l = lexerForScript(string(program))
		}
	}
	if l == nil {
		return ""
	}
	if name := l.Config().Name; !strings.EqualFold(name, "plaintext") {
		return name
	}
	return ""
}

// lexerForScript returns the lexer for a script that begins with line.
func lexerForScript(line string) chroma.Lexer {
	words := strings.Fields(line)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	name := strings.TrimRight(path.Base(words[0]), "0123456789.")
	switch name {
	case "sh", "dash", "ksh", "zsh", "ash":
		name = "bash"
	case "node", "deno", "bun":
		name = "javascript"
	}
	for _, l := range lexers().Lexers {
		if config := l.Config(); strings.EqualFold(config.Name, name) || slices.Contains(config.Aliases, name) {
			return l
		}
	}
	return nil
}
