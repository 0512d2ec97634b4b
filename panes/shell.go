package panes

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellMeta are the characters that need a shell if they are not quoted.
const shellMeta = "|&;<>()$`*?[]{}~!#\n"

// SplitCommand splits a command line into words as a shell does: at blanks, except in single or
// double quotes or after a backslash. shell reports whether the line needs a shell, because it
// contains a pipe, a variable, a pattern or the like.
func SplitCommand(line string) (words []string, shell bool, err error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			// In double quotes a backslash before any other character is literal.
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			shell = shell || quote == '"' && strings.ContainsRune("$`", r)
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			shell = shell || strings.ContainsRune(shellMeta, r) || r == '=' && len(words) == 0
			word.WriteRune(r)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, false, errors.New("a quote is not closed")
	case escaped:
		return nil, false, errors.New("it ends in a backslash")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, shell, nil
}

// ParseCommand returns the arguments for a command line: its words or, if it needs a shell or has
// several lines, /bin/sh -c with the line.
func ParseCommand(line string) ([]string, error) {
	words, shell, err := SplitCommand(line)
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0:
		return nil, errors.New("enter a command")
	case shell || strings.Contains(strings.TrimSpace(line), "\n"):
		return []string{"/bin/sh", "-c", strings.TrimSpace(line)}, nil
	}
	return words, nil
}

// ParseEnv parses NAME=value pairs separated by blanks or commas. A value with either must be
// quoted.
func ParseEnv(text string) (map[string]string, error) {
	words, _, err := SplitCommand(text)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, word := range words {
		word = strings.Trim(word, ",")
		for word != "" {
			var pair string
			pair, word = cutPair(word)
			name, value, ok := strings.Cut(pair, "=")
			if !ok || !syntax.ValidName(name) {
				return nil, errors.New("“" + pair + "” is not NAME=value")
			}
			env[name] = value
		}
	}
	return env, nil
}

// cutPair cuts "A=1" off "A=1,B=2". A comma belongs to the value unless another pair follows.
func cutPair(s string) (pair, rest string) {
	for i := range s {
		if s[i] != ',' {
			continue
		}
		if name, _, ok := strings.Cut(s[i+1:], "="); ok && syntax.ValidName(name) {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
