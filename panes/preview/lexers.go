package preview

import (
	"archive/zip"
	"bytes"
	_ "embed" // the descriptions of languages
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexersZip holds chroma's descriptions of languages, with its licence. Its own
// package of them reads all at the start of every program that has it.
//
//go:embed lexers.zip
var lexersZip []byte

// lexers are read when the first file is shown, beside the dashboard's own
// goroutine.
var lexers = sync.OnceValue(readLexers)

func readLexers() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	all.Register(chroma.MustNewLexer(&chroma.Config{Name: "Go", Filenames: []string{"*.go"}, EnsureNL: true}, goRules))
	all.Register(chroma.MustNewLexer(&chroma.Config{
		Name: "Markdown", Filenames: []string{"*.md", "*.markdown", "*.mkd"}, EnsureNL: true,
	}, markdownRules))
	all.Register(chroma.MustNewLexer(&chroma.Config{ // before AMPL and Modula-2, which claim all *.mod
		Name: "Go modules", Filenames: []string{"go.mod", "go.work"}, Priority: 2, EnsureNL: true,
	}, goModRules))
	files, err := zip.NewReader(bytes.NewReader(lexersZip), int64(len(lexersZip)))
	if err != nil {
		return all
	}
	names, _ := fs.Glob(files, "*.xml") // the pattern is sound
	for _, name := range names {
		if l, err := chroma.NewXMLLexer(files, name); err == nil {
			all.Register(l)
		}
	}
	return all
}

// goRules are those of the Go Programming Language Specification, Lexical elements.
func goRules() chroma.Rules {
	return chroma.Rules{"root": {
		rule(`\s+`, chroma.TextWhitespace),
		rule(`//[^\n]*`, chroma.CommentSingle),
		rule(`/\*[\s\S]*?(\*/|\z)`, chroma.CommentMultiline),
		rule("`[^`]*(`|\\z)", chroma.LiteralString),
		rule(`"(\\.|[^"\\\n])*("|$)`, chroma.LiteralString),
		rule(`'(\\.|[^'\\\n])+'`, chroma.LiteralStringChar),
		rule(chroma.Words(``, `\b`, "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func",
			"go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var"),
			chroma.Keyword),
		rule(chroma.Words(``, `\b`, "true", "false", "nil", "iota"), chroma.LiteralNumber),
		rule(chroma.Words(``, `\b`, "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64",
			"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr"),
			chroma.KeywordType),
		rule(chroma.Words(``, `(?=\()`, "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max",
			"min", "new", "panic", "print", "println", "real", "recover"), chroma.NameBuiltin),
		rule(`[\p{L}_][\p{L}\p{N}_]*(?=\()`, chroma.NameFunction),
		rule(`[\p{L}_][\p{L}\p{N}_]*`, chroma.Name),
		rule(`0[xX][0-9a-fA-F_.]+([pP][+-]?[0-9_]+)?i?|0[bB][01_]+i?|0[oO]?[0-7_]+i?`, chroma.LiteralNumber),
		rule(`[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]+)?i?|\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?i?`, chroma.LiteralNumber),
		rule(`.`, chroma.Punctuation),
	}}
}

// goModRules are those of the Go Modules Reference, for go.mod and go.work.
func goModRules() chroma.Rules {
	return chroma.Rules{"root": {
		rule(`\s+`, chroma.TextWhitespace),
		rule(`//[^\n]*`, chroma.CommentSingle),
		rule("`[^`]*(`|\\z)", chroma.LiteralString),
		rule(`"(\\.|[^"\\\n])*("|$)`, chroma.LiteralString),
		rule(chroma.Words(``, `\b(?=[ \t(])`, "exclude", "go", "godebug", "ignore", "module", "replace", "require", "retract", "tool",
			"toolchain", "use"), chroma.Keyword),
		rule(`v?\d+\.\d[\w.+-]*`, chroma.LiteralNumber),
		rule(`=>|[()\[\],]`, chroma.Punctuation),
		rule(`[^\s()\[\],"`+"`]+", chroma.Name),
	}}
}

// markdownRules tell headings, code, quotes, lists, links and emphasis.
func markdownRules() chroma.Rules {
	return chroma.Rules{"root": {
		rule(`(?m)^(\s*)(`+"```|~~~"+`)[\s\S]*?(^\s*\2\s*$|\z)`, chroma.LiteralString),
		rule(`(?m)^#{1,6} [^\n]*`, chroma.GenericHeading),
		rule(`(?m)^\s*>[^\n]*`, chroma.Comment),
		rule(`(?m)^\s*([-*+]|[0-9]+[.)])(?= )`, chroma.Keyword),
		rule(`(?m)^\s*\|?[-:| ]{5,}$`, chroma.Comment),
		rule("`[^`\\n]+`", chroma.LiteralString),
		rule(`\*\*[^*\n]+\*\*|__[^_\n]+__`, chroma.GenericStrong),
		rule(`!?\[[^\]\n]*\]\([^)\n]*\)`, chroma.NameTag),
		rule(`https?://[^\s)>]+`, chroma.NameTag),
		rule(`<!--[\s\S]*?(-->|\z)`, chroma.Comment),
		rule(`\n`, chroma.Text),
		rule("[^\\n`*_!\\[<h>#|~-]+", chroma.Text),
		rule(`.`, chroma.Text),
	}}
}

func rule(pattern string, kind chroma.TokenType) chroma.Rule {
	return chroma.Rule{Pattern: pattern, Type: kind}
}

// lexerFor is the name of what tells the syntax of a file, by its name or its
// first line; "" for none.
func lexerFor(file string, head []byte) string {
	name := strings.ToValidUTF8(filepath.Base(file), "")
	l := lexers().Match(name)
	if l == nil {
		first, _, _ := bytes.Cut(head[:min(len(head), 256)], []byte("\n"))
		if program, ok := bytes.CutPrefix(first, []byte("#!")); ok {
			l = lexerOfProgram(string(program))
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

// lexerOfProgram is that of a script, by what its first line says.
func lexerOfProgram(line string) chroma.Lexer {
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
