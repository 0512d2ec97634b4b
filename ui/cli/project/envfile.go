package project

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseEnv parses an environment file: lines of NAME=VALUE, with comments and an optional "export"
// before the name. Values may be quoted, over several lines too. Double quotes allow the escapes
// \n, \t, \r, \", \\, \$ and \`; single quotes none. Syntax errors are *Error.
func parseEnv(path string, text []byte) ([]Variable, error) {
	p := envParser{path: path, rest: strings.TrimPrefix(string(text), "\ufeff"), line: 1}
	var all []Variable
	for p.rest != "" {
		v, ok, err := p.next()
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, v)
		}
	}
	return all, nil
}

type envParser struct {
	path string
	rest string
	line int
}

func (p *envParser) errorAt(line int, format string, args ...any) error {
	return &Error{Path: p.path, At: Position{line, 1}, What: fmt.Sprintf(format, args...)}
}

// next reads one line, or all lines of a quoted value. ok is false for a blank line or a comment.
func (p *envParser) next() (v Variable, ok bool, err error) {
	at := p.line
	line, rest, _ := strings.Cut(p.rest, "\n")
	text := strings.TrimSpace(line)
	if text == "" || text[0] == '#' {
		p.rest, p.line = rest, p.line+1
		return v, false, nil
	}
	name, value, given := strings.Cut(text, "=")
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
	if !given || !syntax.ValidName(name) {
		return v, false, p.errorAt(at, "must be NAME=VALUE")
	}
	value = strings.TrimSpace(value)
	if value == "" || value[0] != '"' && value[0] != '\'' {
		p.rest, p.line = rest, p.line+1
		value = strings.TrimSpace(cutComment(value))
	} else if value, err = p.readQuoted(value[0]); err != nil {
		return v, false, err
	}
	if strings.ContainsRune(value, 0) {
		return v, false, p.errorAt(at, "the value of %s has a NUL character", name)
	}
	return Variable{name, value}, true, nil
}

// cutComment removes a comment, which begins with # at the start or after a blank.
func cutComment(s string) string {
	s = " " + s
	for _, mark := range []string{" #", "\t#"} {
		s, _, _ = strings.Cut(s, mark)
	}
	return s
}

// readQuoted reads a quoted value and skips to the next line.
func (p *envParser) readQuoted(quote byte) (string, error) {
	_, s, _ := strings.Cut(p.rest, string(quote))
	end := 0
	for end < len(s) && s[end] != quote {
		if s[end] == '\\' && quote == '"' {
			end++
		}
		end++
	}
	if end >= len(s) {
		return "", p.errorAt(p.line, "the quote is not closed")
	}
	p.line += strings.Count(s[:end], "\n")
	tail, rest, _ := strings.Cut(s[end+1:], "\n")
	if tail = strings.TrimSpace(tail); tail != "" && tail[0] != '#' {
		return "", p.errorAt(p.line, "text after the closing quote")
	}
	p.rest, p.line = rest, p.line+1
	if quote == '\'' {
		return s[:end], nil
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\\`, `\`, `\$`, "$", "\\`", "`", "\\\n", "").Replace(s[:end]), nil
}
