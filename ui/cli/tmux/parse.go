package tmux

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed verbs.txt
var verbsText string

// A verb is one of tmux's commands with its flags and number of arguments, as its usage gives them.
type verb struct {
	name, alias, usage string
	switches, options  string // letters of flags
	minArgs, maxArgs   int    // number of arguments; maxArgs is -1 for any
}

// verbs returns all of tmux's commands in the order of list-commands, supported or not.
var verbs = sync.OnceValue(func() (all []verb) {
	for line := range strings.Lines(verbsText) {
		all = append(all, parseVerb(line))
	}
	return all
})

// parseVerb parses a line such as "wait-for (wait) [-L|-S|-U] channel", optionally followed by a tab
// and the minimum and maximum number of arguments ("1 1"). Both are 0 by default.
func parseVerb(line string) verb {
	line, counts, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
	name, usage, _ := strings.Cut(line, " ")
	v := verb{name: name, usage: usage}
	_, _ = fmt.Sscan(counts, &v.minArgs, &v.maxArgs)
	if alias, rest, ok := strings.Cut(strings.TrimPrefix(usage, "("), ") "); ok && strings.HasPrefix(usage, "(") {
		v.alias, v.usage = alias, rest
	}
	switch v.name { // flags missing from the usage
	case "split-window", "join-pane", "move-pane":
		v.options = "p"
	case "select-pane":
		v.switches, v.options = "g", "P"
	}
	// Some usages lack spaces between brackets, and -L|-S lists exclusive switches.
	rest := strings.ReplaceAll(strings.ReplaceAll(v.usage, "][", "] ["), "|-", "")
	for strings.HasPrefix(rest, "[-") {
		inside, after, _ := strings.Cut(rest[2:], "]")
		rest = strings.TrimSpace(after)
		if letter, _, valued := strings.Cut(inside, " "); valued {
			v.options += letter
		} else {
			v.switches += inside
		}
	}
	v.switches = strings.Map(func(flag rune) rune { // split-window's usage has -e twice
		if strings.ContainsRune(v.options, flag) {
			return -1
		}
		return flag
	}, v.switches)
	return v
}

// findVerb finds a verb by name, alias or a unique prefix of its name. It parses only that one
// instead of calling verbs, as most calls of the program need a single verb.
func findVerb(name string) (verb, error) {
	var found []string
	var last string
	for line := range strings.Lines(verbsText) {
		full, usage, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if full == name || strings.HasPrefix(usage, "("+name+") ") {
			return parseVerb(line), nil
		}
		if strings.HasPrefix(full, name) {
			found, last = append(found, full), line
		}
	}
	switch len(found) {
	case 0:
		return verb{}, fmt.Errorf("unknown command: %s", name)
	case 1:
		return parseVerb(last), nil
	}
	return verb{}, fmt.Errorf("ambiguous command: %s, could be: %s", name, strings.Join(found, ", "))
}

// A command is a verb with the values of its flags and its arguments.
type command struct {
	verb
	flags map[byte][]string // values in order; "" for each use of a switch
	args  []string
}

func (c *command) has(flag byte) bool { return c.flags[flag] != nil }

// value returns the last value of a flag; "" without it.
func (c *command) value(flag byte) string {
	if values := c.flags[flag]; len(values) > 0 {
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

// parseCommand parses the name of a verb and its flags and arguments. Flags and numbers of arguments
// are checked for supported verbs only.
func parseCommand(words []string) (*command, error) {
	name := words[0]
	if name == "split-pane" || name == "splitp" { // tmux's default command-alias has these
		name = "split-window"
	}
	v, err := findVerb(name)
	if err != nil {
		return nil, err
	}
	c, err := parseFlags(v, words[1:])
	if err != nil {
		return nil, err
	}
	switch {
	case !isSupported(c.name):
	case len(c.args) < c.minArgs:
		return nil, fmt.Errorf("command %s: too few arguments (need at least %d)", c.name, c.minArgs)
	case c.maxArgs >= 0 && len(c.args) > c.maxArgs:
		return nil, fmt.Errorf("command %s: too many arguments (need at most %d)", c.name, c.maxArgs)
	}
	return c, nil
}

// parseFlags parses the flags and arguments of a verb. An unsupported flag is an error.
func parseFlags(v verb, words []string) (c *command, err error) {
	c = &command{verb: v, flags: map[byte][]string{}}
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
	for _, flag := range []byte(commands{}.handlers()[c.name].unsupported) {
		if c.has(flag) {
			return nil, fmt.Errorf("%s -%c is not supported by tandem", c.name, flag)
		}
	}
	return c, nil
}

func (c *command) parseFlagWord(word string, rest []string) ([]string, error) {
	for i := range len(word) {
		flag := word[i]
		switch {
		case strings.IndexByte(c.switches, flag) >= 0:
			c.flags[flag] = append(c.flags[flag], "")
		case flag == '?':
			return nil, fmt.Errorf("usage: %s %s", c.name, c.usage)
		case !isAlphanumeric(flag):
			return nil, fmt.Errorf("command %s: invalid flag -%s", c.name, word[i:i+1])
		case strings.IndexByte(c.options, flag) < 0:
			return nil, fmt.Errorf("command %s: unknown flag -%c", c.name, flag)
		case i+1 < len(word):
			c.flags[flag] = append(c.flags[flag], word[i+1:])
			return rest, nil
		case len(rest) == 0:
			return nil, fmt.Errorf("command %s: -%c expects an argument", c.name, flag)
		default:
			c.flags[flag] = append(c.flags[flag], rest[0])
			return rest[1:], nil
		}
	}
	return rest, nil
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// parseArguments parses the arguments of a program as a sequence of commands. An argument ending in
// a semicolon ends a command; \; stands for a literal one.
func parseArguments(args []string) (sequence []*command, err error) {
	var words []string
	flush := func() error {
		if len(words) == 0 {
			return nil
		}
		c, err := parseCommand(words)
		sequence, words = append(sequence, c), nil
		return err
	}
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
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return sequence, flush()
}

// parseText parses commands in the syntax of configuration files and of if-shell. Variables are
// expanded with env.
func parseText(text string, env func(string) string) (sequence []*command, err error) {
	r := lexer{text: text, env: env}
	lines, err := r.splitCommands()
	if err != nil {
		return nil, err
	}
	for _, words := range lines {
		c, err := parseCommand(words)
		if err != nil {
			return nil, err
		}
		sequence = append(sequence, c)
	}
	return sequence, nil
}

// A lexer splits text into commands and words, with quotes, braces and variables expanded.
type lexer struct {
	text   string
	env    func(string) string
	words  []string
	word   strings.Builder
	inWord bool
}

var errSyntax = errors.New("syntax error")

func (r *lexer) splitCommands() (all [][]string, err error) {
	end := func() {
		if r.endWord(); len(r.words) > 0 {
			all, r.words = append(all, r.words), nil
		}
	}
	for r.text != "" {
		c := r.popByte()
		switch {
		case c == '\n' || c == ';':
			end()
		case c == ' ' || c == '\t' || c == '\r':
			r.endWord()
		// Inside a word, # and { belong to a format such as #{pane_id}.
		case c == '#' && !r.inWord:
			_, r.text, _ = strings.Cut(r.text, "\n")
		case c == '{' && !r.inWord:
			err = r.readBlock()
		default:
			err = r.readCharacter(c)
		}
		if err != nil {
			return nil, err
		}
	}
	end()
	return all, nil
}

func (r *lexer) endWord() {
	if r.inWord {
		r.words = append(r.words, r.word.String())
		r.word.Reset()
		r.inWord = false
	}
}

// readBlock reads everything up to the closing brace as one word.
func (r *lexer) readBlock() error {
	depth := 1
	for i := range len(r.text) {
		switch r.text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				r.words = append(r.words, strings.TrimSpace(r.text[:i]))
				r.text = r.text[i+1:]
				return nil
			}
		}
	}
	return errSyntax
}

// readCharacter reads the quoted string, home directory or character beginning with c.
func (r *lexer) readCharacter(c byte) error {
	begins := !r.inWord
	r.inWord = true
	switch {
	case c == '\'':
		inside, rest, ok := strings.Cut(r.text, "'")
		if !ok {
			return errSyntax
		}
		r.word.WriteString(inside)
		r.text = rest
	case c == '"':
		for r.text != "" {
			if c = r.popByte(); c == '"' {
				return nil
			}
			r.putCharacter(c)
		}
		return errSyntax
	case c == '~' && begins:
		home, _ := os.UserHomeDir()
		r.word.WriteString(home)
	default:
		r.putCharacter(c)
	}
	return nil
}

func (r *lexer) popByte() byte {
	c := r.text[0]
	r.text = r.text[1:]
	return c
}

// putCharacter appends c to the word, or the value of the escape or variable beginning with c.
func (r *lexer) putCharacter(c byte) {
	switch c {
	case '\\':
		r.readEscape()
	case '$':
		r.expandVariable()
	default:
		r.word.WriteByte(c)
	}
}

func (r *lexer) readEscape() {
	if r.text == "" {
		return
	}
	c := r.popByte()
	if to, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'e': 0x1b, 'a': 7, 'b': 8, 's': ' '}[c]; ok {
		c = to
	}
	if c != '\n' {
		r.word.WriteByte(c)
	}
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+|\{\w*\}?)`) })

func (r *lexer) expandVariable() {
	name := variableName().FindString(r.text)
	r.text = r.text[len(name):]
	if name == "" {
		r.word.WriteByte('$')
		return
	}
	r.word.WriteString(r.env(strings.Trim(name, "{}")))
}

// parseNumber parses a number after optional spaces: some scripts write -p " 10".
func parseNumber(text string) (int, error) { return strconv.Atoi(strings.TrimLeft(text, " \t")) }
