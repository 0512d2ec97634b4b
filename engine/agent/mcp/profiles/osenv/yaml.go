package osenv

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// A yamlField is an entry of a YAML mapping. value is a string, an integer, a bool or nil.
type yamlField struct {
	key   string
	value any
}

// yamlText encodes a mapping with its keys in the given order. The text is YAML 1.2 and has no
// scalars that YAML 1.1 would read differently. Text of several lines becomes a literal block if a
// block preserves it exactly. goccy/go-yaml, which parses Tandem's files, cannot be used: it writes
// every such text as a block and loses carriage returns, blank lines and control characters.
func yamlText(fields []yamlField) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f.key)
		b.WriteString(": ")
		switch v := f.value.(type) {
		case nil:
			b.WriteString("null")
		case string:
			b.WriteString(yamlString(v))
		default:
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plainYAML matches strings that need no quotes in YAML.
var plainYAML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_/]([A-Za-z0-9_./ -]*[A-Za-z0-9_./-])?$`) })

func yamlString(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	switch {
	case yamlBlock(s):
		return literalYAML(s)
	// Numbers and dates do not match: plainYAML requires a letter, _ or / first.
	case plainYAML().MatchString(s) && !yamlWord(s):
		return s
	}
	return strconv.QuoteToGraphic(s) // each of Go's escapes is one of YAML's
}

// blankLine matches a line of blanks, and blanks at the end of a text.
var blankLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]+$|[ \t]\z`) })

// yamlWord reports whether an unquoted string would not be a string in YAML 1.1 or 1.2.
func yamlWord(s string) bool {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}

// yamlBlock reports whether a text can be a literal block. It must have a line end, start with a
// visible character to show the indentation, and need no escapes; and it must not have lines or a
// tail of blanks, because parsers disagree about them.
func yamlBlock(s string) bool {
	if !strings.Contains(s, "\n") || strings.TrimLeft(s[:1], " \t\n") == "" || blankLine().MatchString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }) < 0
}

func literalYAML(s string) string {
	chomp := ""
	switch body := strings.TrimRight(s, "\n"); len(s) - len(body) {
	case 0:
		chomp = "-"
	case 1:
	default:
		chomp = "+"
	}
	var b strings.Builder
	b.WriteString("|" + chomp)
	for line := range strings.Lines(s) {
		b.WriteByte('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}
