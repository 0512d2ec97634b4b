package tmux

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A command is a handler with the values of its flags and its arguments.
type command struct {
	handler
	values map[byte][]string // of flags, in order; "" for each use of one without a value
	args   []string
}

func (c *command) has(flag byte) bool { return c.values[flag] != nil }

// value returns the last value of a flag; "" without it.
func (c *command) value(flag byte) string {
	if values := c.values[flag]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// arg returns an argument; "" if there are fewer.
func (c *command) arg(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return ""
}

// parseCommand parses the name of a command and its flags and arguments.
func (t table) parseCommand(words []string) (*command, error) {
	name := words[0]
	if name == "split-pane" || name == "splitp" { // tmux's default command-alias has these
		name = "split-window"
	}
	h, err := t.find(name)
	if err != nil {
		return nil, err
	}
	c, err := parseFlags(h, words[1:])
	switch {
	case err != nil:
		return nil, err
	case len(c.args) < c.minArgs:
		return nil, fmt.Errorf("command %s: too few arguments (need at least %d)", c.name, c.minArgs)
	case c.maxArgs >= 0 && len(c.args) > c.maxArgs:
		return nil, fmt.Errorf("command %s: too many arguments (need at most %d)", c.name, c.maxArgs)
	}
	return c, nil
}

// parseFlags parses the flags and arguments of a command. An unsupported flag is an error.
func parseFlags(h handler, words []string) (c *command, err error) {
	c = &command{handler: h, values: map[byte][]string{}}
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		word := words[0][1:]
		words = words[1:]
		if word == "-" {
			break
		}
		if words, err = c.parseFlagWord(word, words); err != nil {
			return nil, err
		}
	}
	c.args = words
	return c, nil
}

func (c *command) parseFlagWord(word string, rest []string) ([]string, error) {
	for i, r := range word {
		_, after, supported := strings.Cut(c.flags, string(r))
		flag := word[i]
		switch {
		case !supported || flag == ':':
			asked := fmt.Sprintf("%s -%c", c.name, r)
			return nil, unsupportedError(asked, asked)
		case !strings.HasPrefix(after, ":"):
			c.values[flag] = append(c.values[flag], "")
		case i+1 < len(word):
			c.values[flag] = append(c.values[flag], word[i+1:])
			return rest, nil
		case len(rest) == 0:
			return nil, fmt.Errorf("command %s: -%c expects an argument", c.name, r)
		default:
			c.values[flag] = append(c.values[flag], rest[0])
			return rest[1:], nil
		}
	}
	return rest, nil
}

// parseArguments parses the arguments of a program as a sequence of commands. An argument ending in
// a semicolon ends a command; \; is a literal one.
func (t table) parseArguments(args []string) (sequence []*command, err error) {
	var words []string
	for _, arg := range args {
		ends := false
		switch {
		// The shell has removed one level of quotes, so this backslash is for tmux.
		case strings.HasSuffix(arg, `\;`):
			arg = strings.TrimSuffix(arg, `\;`) + ";"
		case strings.HasSuffix(arg, ";"):
			arg, ends = strings.TrimSuffix(arg, ";"), true
		}
		if arg != "" || !ends {
			words = append(words, arg)
		}
		if ends {
			if sequence, words, err = t.appendCommand(sequence, words); err != nil {
				return nil, err
			}
		}
	}
	sequence, _, err = t.appendCommand(sequence, words)
	return sequence, err
}

// parseText parses commands in a text, as if-shell and run-shell -C have them: words, quotes,
// backslashes and semicolons. The rest of tmux's syntax is an error.
func (t table) parseText(text string) (sequence []*command, err error) {
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
		}
		inWord = false
	}
	for i := 0; i < len(text) && err == nil; i++ {
		switch b := text[i]; {
		case b == ' ' || b == '\t':
			endWord()
		case b == ';' || b == '\n':
			endWord()
			sequence, words, err = t.appendCommand(sequence, words)
		case b == '$', !inWord && (b == '#' || b == '{' || b == '~'):
			return nil, fmt.Errorf("%c in a text of commands is not supported by tandem; quote it with ''", b)
		case b == '\'' || b == '"':
			quoted, _, ok := strings.Cut(text[i+1:], string(b))
			switch {
			case !ok:
				return nil, errors.New("syntax error")
			case b == '"' && strings.ContainsAny(quoted, `$\`):
				return nil, errors.New(`$ or \ in double quotes is not supported by tandem; use single quotes`)
			}
			word.WriteString(quoted)
			inWord = true
			i += len(quoted) + 1
		default:
			if b == '\\' && i+1 < len(text) {
				i++
			}
			word.WriteByte(text[i])
			inWord = true
		}
	}
	endWord()
	if err == nil {
		sequence, _, err = t.appendCommand(sequence, words)
	}
	return sequence, err
}

// appendCommand appends the command made of words, if there are any, to sequence.
func (t table) appendCommand(sequence []*command, words []string) ([]*command, []string, error) {
	if len(words) == 0 {
		return sequence, nil, nil
	}
	c, err := t.parseCommand(words)
	return append(sequence, c), nil, err
}

// parseNumber parses a number after optional spaces: some scripts write -p " 10".
func parseNumber(text string) (int, error) { return strconv.Atoi(strings.TrimLeft(text, " \t")) }
