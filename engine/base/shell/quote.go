package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Quote writes argv as a line for a POSIX shell.
func Quote(argv ...string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		plain := word != "" && !strings.ContainsFunc(word, isSpecial)
		if i == 0 { // a keyword or let would change the meaning of the rest
			plain = plain && !strings.Contains(word, "=") && !syntax.IsKeyword(word) && word != "let"
		}
		if words[i] = word; !plain {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func isSpecial(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:=,@%+", r))
}

// QuoteBytes writes a word with arbitrary bytes as a printf in printable ASCII. The shell drops
// trailing line breaks of the word.
func QuoteBytes(word string) string {
	var b strings.Builder
	for _, c := range []byte(word) {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"$(printf %b '` + b.String() + `')"`
}
