package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word of a command; what a shell would only know when it runs is not known.
type word struct {
	text   string
	known  bool
	one    bool // it stays one word whatever the shell puts into it
	stream bool // it names the output of a command, as <(…) does
	filled bool // the program before it puts something else in its place
}

// An input is what a command finds on its standard input, as far as it stands
// in the line.
type input struct {
	piped bool   // another command writes it
	texts []word // here-documents and here-strings
}

// A simple command is a program with its arguments, as a shell finds it within
// lists, pipes, substitutions and bodies of loops and functions.
type simple struct {
	words         []word
	reads, writes []string // targets of redirections that are known
	in            input
	more          bool // words follow that are read from somewhere
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
		words[i] = word{text: a, known: true, one: true}
	}
	return words
}

const (
	maxCommand = 1 << 20 // bytes of a command that is parsed
	maxNesting = 8       // of shells within shells
	leastParse = 4 << 10
	parseMost  = 5 // times the length of a command are parsed
	parseCost  = 8 // of a text besides its length
)

// A reading takes a command apart, and what that runs too. All that it parses
// is not much longer than the command.
type reading struct {
	parser *syntax.Parser
	left   int // bytes that may still be parsed
	found  []simple
	err    error // some of it cannot be parsed
}

func newReading(length int) *reading {
	return &reading{parser: syntax.NewParser(syntax.Variant(syntax.LangBash)), left: leastParse + parseMost*length}
}

// parse finds the simple commands of a line for a shell (bash's grammar, which
// contains POSIX's). With an error they are not all.
func parse(line string) ([]simple, error) {
	r := newReading(len(line))
	r.script(word{text: line, known: true}, input{}, 0)
	return r.found, r.err
}

// parseArgv is the same for a program with its arguments.
func parseArgv(argv []string) ([]simple, error) {
	length := 0
	for _, a := range argv {
		length += len(a)
	}
	r := newReading(length)
	r.take(simple{words: literal(argv)}, 0)
	return r.found, r.err
}

// unknown notes that a command runs which only the shell will know.
func (r *reading) unknown() { r.found = append(r.found, simple{words: []word{{}}}) }

// script takes a text for a shell apart.
func (r *reading) script(text word, in input, depth int) {
	if !text.known || text.filled {
		r.unknown()
		return
	}
	if len(text.text) > maxCommand || depth > maxNesting {
		r.err = errors.New("too long or nested too deep")
		return
	}
	if r.left -= parseCost + len(text.text); r.left < 0 {
		r.err = errors.New("too much within")
		return
	}
	f, err := r.parser.Parse(strings.NewReader(text.text), "")
	if err != nil {
		r.err = err
		return
	}
	inputs := []input{in} // of the nodes around, the innermost last
	piped := map[*syntax.Stmt]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		in := inputs[len(inputs)-1]
		switch n := n.(type) {
		case nil:
			inputs = inputs[:len(inputs)-1]
			return true
		case *syntax.BinaryCmd:
			piped[n.Y] = n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CoprocClause:
			in = input{piped: true}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut {
				in = input{piped: true}
			}
		case *syntax.Stmt:
			if piped[n] {
				in = input{piped: true}
			}
			in = in.redirected(n)
			r.statement(n, in, depth)
		}
		inputs = append(inputs, in)
		return true
	})
}

// statement takes the command of a statement apart; those within it are
// statements of their own.
func (r *reading) statement(s *syntax.Stmt, in input, depth int) {
	c := redirected(s)
	c.in = in
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		for _, w := range call.Args {
			c.words = append(c.words, wordOf(w))
		}
	}
	if len(c.words)+len(c.reads)+len(c.writes) > 0 {
		r.take(c, depth)
	}
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

// redirected is the input of a statement that has redirections.
func (in input) redirected(s *syntax.Stmt) input {
	in.texts = in.texts[:len(in.texts):len(in.texts)]
	for _, r := range s.Redirs {
		standard := r.N == nil || r.N.Value == "0"
		var text word
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text = hereDocument(r)
		case syntax.WordHdoc:
			text = wordOf(r.Word)
		case syntax.RdrIn, syntax.RdrInOut:
			if target := wordOf(r.Word); standard && !isInput(target.text) {
				in = input{piped: target.stream}
			}
			continue
		default:
			continue
		}
		if standard {
			in = input{texts: []word{text}}
			continue
		}
		in.texts = append(in.texts, text)
	}
	return in
}

// isInput reports whether a path is what is open already.
func isInput(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// hereDocument is the text of a here-document. Without quotes around its end
// a backslash counts before fewer characters than in double quotes.
func hereDocument(r *syntax.Redirect) word {
	if r.Hdoc == nil {
		return word{known: true}
	}
	escaped := "$`\\\n"
	for _, p := range r.Word.Parts {
		if lit, ok := p.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			escaped = ""
		}
	}
	var b strings.Builder
	known := appendParts(&b, r.Hdoc.Parts, true, escaped)
	text := b.String()
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return word{text: text, known: known}
}

// wordOf is what a word says before the shell expands anything.
func wordOf(w *syntax.Word) word {
	var b strings.Builder
	known := appendParts(&b, w.Parts, false, "")
	found := word{known: known, one: true}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			found.one = found.one && !slices.ContainsFunc(p.Parts, isList)
		case *syntax.ProcSubst:
			found.stream, found.one = true, false
		default:
			found.one = false
		}
	}
	found.text = b.String()
	return found
}

// isList reports whether a part of a quoted word stands for several words.
func isList(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && (e.Param == nil || e.Param.Value == "@" || e.Index != nil)
}

// appendParts writes what the parts of a word say; in quotes a backslash counts
// before the escaped characters alone.
func appendParts(b *strings.Builder, parts []syntax.WordPart, quoted bool, escaped string) bool {
	known := true
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			known = appendLiteral(b, p.Value, quoted, escaped) && known
		case *syntax.SglQuoted:
			known = known && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			known = appendParts(b, p.Parts, true, "$`\"\\\n") && known
		default:
			known = false
		}
	}
	return known
}

// appendLiteral takes backslashes away. An unquoted glob or brace stands for
// words that only the shell knows; {} is no such brace.
func appendLiteral(b *strings.Builder, s string, quoted bool, escaped string) bool {
	known := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte(escaped, s[i+1]) >= 0) {
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		if !quoted && strings.IndexByte("*?[{", c) >= 0 && !strings.HasPrefix(s[i:], "{}") {
			known = false
		}
		b.WriteByte(c)
	}
	return known
}

// patternWords reads a command pattern: words with globs, quoted as in a shell
// where they contain blanks.
func patternWords(pattern string) ([]string, error) {
	found, err := splitWords(pattern)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("it is empty")
	}
	words := make([]string, len(found))
	for i, w := range found {
		words[i] = w.text
		if _, err := path.Match(w.text, ""); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// splitWords reads words without anything else of a shell's grammar. With an
// error it returns those before the mistake.
func splitWords(text string) (words []word, err error) {
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		var wrong syntax.ParseError
		switch {
		case errors.As(err, &wrong):
			return words, errors.New(wrong.Text) // its place is one in the text alone
		case err != nil:
			return words, err
		}
		words = append(words, wordOf(w))
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
