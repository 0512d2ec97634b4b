package policy

import (
	"errors"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word of a command; what a shell would only know when it runs is not known.
type word struct {
	text  string
	known bool
}

// A simple command is a program with its arguments, as a shell finds it within
// lists, pipes, substitutions and bodies of loops and functions.
type simple struct {
	words         []word
	reads, writes []string // targets of redirections that are known
}

func (c simple) String() string {
	var texts []string
	for _, w := range c.words {
		if w.known {
			texts = append(texts, w.text)
		} else {
			texts = append(texts, "…")
		}
	}
	return strings.Join(texts, " ")
}

func literal(argv []string) []word {
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{a, true}
	}
	return words
}

const (
	maxCommand = 1 << 20 // bytes of a command that is parsed
	maxNesting = 8       // of shells within shells
)

// parse finds the simple commands of a line for a shell (bash's grammar, which
// contains POSIX's).
func parse(line string) ([]simple, error) { return parseNested(line, 0) }

func parseNested(line string, depth int) ([]simple, error) {
	if len(line) > maxCommand || depth > maxNesting {
		return nil, errors.New("too long or nested too deep")
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, err
	}
	var found []simple
	var failed error
	syntax.Walk(f, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		c := redirected(s)
		if call, ok := s.Cmd.(*syntax.CallExpr); ok {
			for _, w := range call.Args {
				c.words = append(c.words, wordOf(w))
			}
		}
		if len(c.words)+len(c.reads)+len(c.writes) == 0 {
			return true
		}
		inner := unwrapped(c, depth)
		if inner == nil {
			failed = errors.New("a shell within cannot be parsed")
		}
		found = append(found, inner...)
		return true
	})
	return found, failed
}

// redirected is what a statement's redirections read and write.
func redirected(s *syntax.Stmt) simple {
	var c simple
	for _, r := range s.Redirs {
		if r.Word == nil || r.Hdoc != nil {
			continue
		}
		target := wordOf(r.Word)
		if !target.known || isDescriptor(r.Op, target.text) {
			continue
		}
		if r.Op == syntax.RdrIn {
			c.reads = append(c.reads, target.text)
		} else {
			c.writes = append(c.writes, target.text)
		}
	}
	return c
}

// isDescriptor reports whether a redirection is to an open file.
func isDescriptor(op syntax.RedirOperator, target string) bool {
	if op == syntax.WordHdoc {
		return true
	}
	return (op == syntax.DplIn || op == syntax.DplOut) && strings.Trim(target, "0123456789-") == ""
}

// wordOf is what a word says before the shell expands anything.
func wordOf(w *syntax.Word) word {
	var b strings.Builder
	known := appendParts(&b, w.Parts, false)
	return word{b.String(), known}
}

func appendParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	known := true
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			known = appendLiteral(b, p.Value, quoted) && known
		case *syntax.SglQuoted:
			known = known && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			known = appendParts(b, p.Parts, true) && known
		default:
			known = false
		}
	}
	return known
}

// appendLiteral takes backslashes away. An unquoted glob or brace stands for
// words that only the shell knows.
func appendLiteral(b *strings.Builder, s string, quoted bool) bool {
	known := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		if !quoted && strings.IndexByte("*?[{", c) >= 0 {
			known = false
		}
		b.WriteByte(c)
	}
	return known
}

// wrappers run the command that follows their options. The text lists the
// options that take a value.
var wrappers = map[string]string{
	"command": "", "exec": "a", "nohup": "", "time": "fo", "nice": "n", "ionice": "cn", "setsid": "",
	"sudo": "ugpChDRrtTU", "doas": "uC", "env": "uSC", "xargs": "adEIiLlnPs", "timeout": "ks", "stdbuf": "ioe",
	"busybox": "", "builtin": "", "chroot": "",
}

// leading are wrappers whose first argument is no command.
var leading = map[string]int{"timeout": 1, "chroot": 1}

// unwrapped is a command and, when it runs another one, that too. It is nil if
// the other one cannot be parsed.
func unwrapped(c simple, depth int) []simple {
	found := []simple{c}
	if len(c.words) == 0 || !c.words[0].known || depth > maxNesting {
		return found
	}
	program := path.Base(c.words[0].text)
	if script, ok := shellScript(program, c.words[1:]); ok {
		if !script.known {
			return append(found, simple{words: []word{{}}})
		}
		inner, err := parseNested(script.text, depth+1)
		if err != nil {
			return nil
		}
		return append(found, inner...)
	}
	if program == "eval" {
		return evaluated(c, depth)
	}
	options, ok := wrappers[program]
	if !ok {
		return found
	}
	rest := afterOptions(c.words[1:], options, leading[program])
	if len(rest) == 0 {
		return found
	}
	inner := unwrapped(simple{words: rest}, depth+1)
	if inner == nil {
		return nil
	}
	return append(found, inner...)
}

// evaluated is eval with what it runs.
func evaluated(c simple, depth int) []simple {
	var texts []string
	for _, w := range c.words[1:] {
		if !w.known {
			return []simple{c, {words: []word{{}}}}
		}
		texts = append(texts, w.text)
	}
	inner, err := parseNested(strings.Join(texts, " "), depth+1)
	if err != nil {
		return nil
	}
	return append([]simple{c}, inner...)
}

// shellScript is the argument of a shell's -c.
func shellScript(program string, args []word) (script word, ok bool) {
	switch program {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh":
	default:
		return word{}, false
	}
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			return word{}, false
		}
		if a.known && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return word{}, false
}

// afterOptions leaves out options with their values, variables that are set
// for the command, and some more words.
func afterOptions(args []word, valued string, skip int) []word {
	for len(args) > 0 {
		a := args[0].text
		switch {
		case a == "--":
			args = args[1:]
			return args[min(skip, len(args)):]
		case len(a) == 2 && a[0] == '-' && strings.Contains(valued, a[1:]):
			args = args[min(2, len(args)):]
		case strings.HasPrefix(a, "-"), strings.Contains(a, "=") && !strings.HasPrefix(a, "/"):
			args = args[1:]
		case skip > 0:
			skip--
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// patternWords reads a command pattern: words with globs, quoted as in a shell
// where they contain blanks.
func patternWords(pattern string) ([]string, error) {
	var words []string
	err := syntax.NewParser().Words(strings.NewReader(pattern), func(w *syntax.Word) bool {
		words = append(words, wordOf(w).text)
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	for _, w := range words {
		if _, err := path.Match(w, ""); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// matchWords reports whether a command begins with the words of a pattern. A
// program without a / in the pattern is meant wherever it lies. What is not
// known matches if doubt says so.
func matchWords(pattern []string, command []word, doubt bool) bool {
	for i, g := range pattern {
		if i == len(command) {
			return false
		}
		w := command[i]
		text := w.text
		if i == 0 && !strings.Contains(g, "/") {
			text = path.Base(text)
		}
		if !w.known && doubt {
			return true // it may stand for all words that follow
		}
		if w.known && !glob(g, text) || !w.known && g != "*" {
			return false
		}
	}
	return true
}
