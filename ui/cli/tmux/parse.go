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

// A verb is one of tmux's commands as its usage says: which flags there are, and which of them take
// a value.
type verb struct {
	name, alias, usage string
	plain, valued      string // letters of flags
	least, most        int    // arguments; most is -1 for any number
}

// verbs returns the table of list-commands.
var verbs = sync.OnceValue(func() (all []verb) {
	for line := range strings.Lines(verbsText) {
		all = append(all, readVerb(line))
	}
	return all
})

// readVerb reads a line such as "wait-for (wait) [-L|-S|-U] channel" and, behind a tab, "1 1": how
// many arguments there are. Without that there are none.
func readVerb(line string) verb {
	line, counts, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
	name, usage, _ := strings.Cut(line, " ")
	v := verb{name: name, usage: usage}
	_, _ = fmt.Sscan(counts, &v.least, &v.most)
	if alias, rest, ok := strings.Cut(strings.TrimPrefix(usage, "("), ") "); ok && strings.HasPrefix(usage, "(") {
		v.alias, v.usage = alias, rest
	}
	switch v.name { // what the usage leaves out
	case "split-window", "join-pane", "move-pane":
		v.valued = "p"
	case "select-pane":
		v.plain, v.valued = "g", "P"
	}
	rest := strings.ReplaceAll(strings.ReplaceAll(v.usage, "][", "] ["), "|-", "")
	for strings.HasPrefix(rest, "[-") {
		inside, after, _ := strings.Cut(rest[2:], "]")
		rest = strings.TrimSpace(after)
		if letter, _, valued := strings.Cut(inside, " "); valued {
			v.valued += letter
		} else {
			v.plain += inside
		}
	}
	v.plain = strings.Map(func(flag rune) rune { // split-window's usage has -e twice
		if strings.ContainsRune(v.valued, flag) {
			return -1
		}
		return flag
	}, v.plain)
	return v
}

// findVerb finds a verb by name, alias or the beginning of its name. Only that one is read, as most
// calls of the program need no other.
func findVerb(name string) (verb, error) {
	var found []string
	var last string
	for line := range strings.Lines(verbsText) {
		full, usage, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if full == name || strings.HasPrefix(usage, "("+name+") ") {
			return readVerb(line), nil
		}
		if strings.HasPrefix(full, name) {
			found, last = append(found, full), line
		}
	}
	switch len(found) {
	case 0:
		return verb{}, fmt.Errorf("unknown command: %s", name)
	case 1:
		return readVerb(last), nil
	}
	return verb{}, fmt.Errorf("ambiguous command: %s, could be: %s", name, strings.Join(found, ", "))
}

// A command is one verb with its flags and arguments.
type command struct {
	verb
	flags map[byte][]string
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

// readCommand reads a verb and what follows it.
func readCommand(words []string) (*command, error) {
	name := words[0]
	if name == "split-pane" || name == "splitp" { // tmux has these in an option
		name = "split-window"
	}
	v, err := findVerb(name)
	if err != nil {
		return nil, err
	}
	c, err := readWords(v, words[1:])
	if err != nil {
		return nil, err
	}
	switch {
	case handlers()[c.name].does == nil:
	case len(c.args) < c.least:
		return nil, fmt.Errorf("command %s: too few arguments (need at least %d)", c.name, c.least)
	case c.most >= 0 && len(c.args) > c.most:
		return nil, fmt.Errorf("command %s: too many arguments (need at most %d)", c.name, c.most)
	}
	return c, nil
}

// readWords reads the flags and arguments of a verb.
func readWords(v verb, words []string) (c *command, err error) {
	c = &command{verb: v, flags: map[byte][]string{}}
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		word := words[0][1:]
		words = words[1:]
		if word == "-" {
			break
		}
		if words, err = c.readFlags(word, words); err != nil {
			return nil, err
		}
	}
	c.args = words
	for _, flag := range []byte(handlers()[c.name].refused) {
		if c.has(flag) {
			return nil, fmt.Errorf("%s -%c is not supported by tandem", c.name, flag)
		}
	}
	return c, nil
}

func (c *command) readFlags(word string, rest []string) ([]string, error) {
	for i := range len(word) {
		flag := word[i]
		switch {
		case strings.IndexByte(c.plain, flag) >= 0:
			c.flags[flag] = append(c.flags[flag], "")
		case flag == '?':
			return nil, fmt.Errorf("usage: %s %s", c.name, c.usage)
		case !isAlphanumeric(flag):
			return nil, fmt.Errorf("command %s: invalid flag -%s", c.name, word[i:i+1])
		case strings.IndexByte(c.valued, flag) < 0:
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

// readArguments reads a sequence of commands from the arguments of a program: one that is, or ends
// in, a semicolon ends a command.
func readArguments(args []string) (sequence []*command, err error) {
	var words []string
	flush := func() error {
		if len(words) == 0 {
			return nil
		}
		c, err := readCommand(words)
		sequence, words = append(sequence, c), nil
		return err
	}
	for _, arg := range args {
		ends := false
		switch {
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

// readText reads commands as they stand in a file or behind if-shell.
func readText(text string, env func(string) string) (sequence []*command, err error) {
	r := reader{text: text, env: env}
	lines, err := r.commands()
	if err != nil {
		return nil, err
	}
	for _, words := range lines {
		c, err := readCommand(words)
		if err != nil {
			return nil, err
		}
		sequence = append(sequence, c)
	}
	return sequence, nil
}

// A reader divides a text into commands and words.
type reader struct {
	text  string
	env   func(string) string
	words []string
	word  strings.Builder
	begun bool
}

var errOpen = errors.New("syntax error")

func (r *reader) commands() (all [][]string, err error) {
	end := func() {
		if r.endWord(); len(r.words) > 0 {
			all, r.words = append(all, r.words), nil
		}
	}
	for r.text != "" {
		c := r.pop()
		switch {
		case c == '\n' || c == ';':
			end()
		case c == ' ' || c == '\t' || c == '\r':
			r.endWord()
		case c == '#' && !r.begun:
			_, r.text, _ = strings.Cut(r.text, "\n")
		case c == '{' && !r.begun:
			err = r.block()
		default:
			err = r.character(c)
		}
		if err != nil {
			return nil, err
		}
	}
	end()
	return all, nil
}

func (r *reader) endWord() {
	if r.begun {
		r.words = append(r.words, r.word.String())
		r.word.Reset()
		r.begun = false
	}
}

// block takes all up to the closing brace as one word.
func (r *reader) block() error {
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
	return errOpen
}

// character reads what begins with an unquoted character.
func (r *reader) character(c byte) error {
	begins := !r.begun
	r.begun = true
	switch {
	case c == '\'':
		inside, rest, ok := strings.Cut(r.text, "'")
		if !ok {
			return errOpen
		}
		r.word.WriteString(inside)
		r.text = rest
	case c == '"':
		for r.text != "" {
			if c = r.pop(); c == '"' {
				return nil
			}
			r.put(c)
		}
		return errOpen
	case c == '~' && begins:
		home, _ := os.UserHomeDir()
		r.word.WriteString(home)
	default:
		r.put(c)
	}
	return nil
}

func (r *reader) pop() byte {
	c := r.text[0]
	r.text = r.text[1:]
	return c
}

// put adds a character, or what it stands for, to the word.
func (r *reader) put(c byte) {
	switch c {
	case '\\':
		r.escape()
	case '$':
		r.variable()
	default:
		r.word.WriteByte(c)
	}
}

func (r *reader) escape() {
	if r.text == "" {
		return
	}
	c := r.pop()
	if to, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'e': 0x1b, 'a': 7, 'b': 8, 's': ' '}[c]; ok {
		c = to
	}
	if c != '\n' {
		r.word.WriteByte(c)
	}
}

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+|\{\w*\}?)`) })

func (r *reader) variable() {
	name := variableName().FindString(r.text)
	r.text = r.text[len(name):]
	if name == "" {
		r.word.WriteByte('$')
		return
	}
	r.word.WriteString(r.env(strings.Trim(name, "{}")))
}

// whole reads a number, before which there may be spaces: some scripts write -p " 10".
func whole(text string) (int, error) { return strconv.Atoi(strings.TrimLeft(text, " \t")) }
