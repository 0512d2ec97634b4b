package policy

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A grammar is that of a shell.
type grammar = syntax.LangVariant

const (
	bash  = syntax.LangBash
	posix = syntax.LangPOSIX
)

// A standard is what a command finds on its standard input, as far as it stands
// in the line.
type standard struct {
	piped bool   // another command writes it
	texts []word // here-documents and here-strings
}

// A simple command is a program with its arguments, as a shell finds it within
// lists, pipes, substitutions and bodies of loops and functions.
type simple struct {
	words         []word
	sets          []word // values of assignments before it
	reads, writes []word // targets of redirections
	in            standard
	more          bool // words follow that are read from somewhere
	unclear       bool // it runs another command, which may begin with any of its arguments
}

func (c simple) String() string {
	var texts []string
	for _, w := range c.words {
		if w.known || w.glob != "" {
			texts = append(texts, w.text)
		} else {
			texts = append(texts, "…")
		}
	}
	return strings.Join(texts, " ")
}

const (
	maxCommand = 128 << 10 // bytes of a script; Linux takes no longer argument
	maxOpen    = 5000      // brackets of a script: the parser recurses for each
	maxNesting = 8         // of shells within shells
	leastParse = 4 << 10
	parseMost  = 5 // times the length of a command are parsed
	parseCost  = 8 // of a text besides its length
)

// A reading takes a command apart, and what that runs too. All that it parses
// is not much longer than the command.
type reading struct {
	home    string
	left    int // bytes that may still be parsed
	found   []simple
	unclear bool  // something runs which only the shell will know
	steered bool  // variables are set that programs may go by
	repeats bool  // commands may run again after those behind them
	err     error // some of it cannot be parsed
}

func newReading(length int, home string) *reading {
	return &reading{home: home, left: leastParse + parseMost*length}
}

// line takes a line apart for a shell that may be any: as bash, and where that
// sees no commands in what others run, as a POSIX shell.
func (r *reading) line(text string) {
	w := word{text: text, known: true}
	r.script(w, bash, standard{}, 0)
	if r.err == nil && isOtherInPOSIX(text) {
		r.left = leastParse + parseMost*len(text)
		r.script(w, posix, standard{}, 0)
		r.err = nil // it is bash's
	}
}

// isOtherInPOSIX reports whether a POSIX shell may see commands where bash sees an expression.
func isOtherInPOSIX(text string) bool {
	return strings.Contains(text, "((") || strings.Contains(text, "[[")
}

// unknown notes that a command runs which only the shell will know.
func (r *reading) unknown() {
	if !r.unclear {
		r.unclear = true
		r.found = append(r.found, simple{words: []word{{}}})
	}
}

// parse reads a script.
func (r *reading) parse(text string, g grammar) (*syntax.File, error) {
	open := 0
	for _, c := range []byte(text) {
		if c == '(' || c == '[' || c == '{' || c == '`' {
			open++
		}
	}
	if len(text) > maxCommand || open > maxOpen {
		return nil, errors.New("too long or too many brackets")
	}
	if r.left -= parseCost + len(text); r.left < 0 {
		return nil, errors.New("too much within")
	}
	return syntax.NewParser(syntax.Variant(g)).Parse(strings.NewReader(text), "")
}

// script takes a text for a shell apart.
func (r *reading) script(text word, g grammar, in standard, depth int) {
	if !text.known || text.filled {
		r.unknown()
		return
	}
	if depth > maxNesting {
		r.err = errors.New("nested too deep")
		return
	}
	f, err := r.parse(text.text, g)
	if err != nil {
		r.err = err
		return
	}
	inputs := []standard{in}        // of the nodes around, the innermost last
	data := map[*syntax.Word]bool{} // here-documents
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
			in = standard{piped: true}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut {
				in = standard{piped: true}
			}
		case *syntax.Stmt:
			if piped[n] {
				in = standard{piped: true}
			}
			in = r.redirected(in, n)
			r.statement(n, in, depth)
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
			r.repeats = true
		case *syntax.WordIter:
			if isShellVariable(n.Name.Value) {
				r.unknown()
			}
		case *syntax.ParamExp:
			r.expansion(n)
		case *syntax.Redirect:
			data[n.Hdoc] = true
		case *syntax.Word:
			if !data[n] && mayBeEvaluated(n) {
				r.unknown()
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				r.variable(n.X)
			}
		case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
			if evaluatesText(n) {
				r.unknown()
			}
		}
		inputs = append(inputs, in)
		return true
	})
}

// expansion notes a parameter that runs what is in it, or that sets one the
// shell goes by.
func (r *reading) expansion(p *syntax.ParamExp) {
	switch {
	case p.Exp == nil:
	case p.Exp.Op == syntax.OtherParamOps: // ${x@P}
		r.unknown()
	case p.Param != nil && isShellVariable(p.Param.Value) &&
		(p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull):
		r.unknown()
	}
}

// statement takes the command of a statement apart; those within it are
// statements of their own.
func (r *reading) statement(s *syntax.Stmt, in standard, depth int) {
	c := simple{in: in}
	r.targets(&c, s)
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, w := range cmd.Args {
			c.words = append(c.words, r.word(w))
		}
		r.assigned(&c, cmd.Assigns)
	case *syntax.DeclClause:
		c.words = literal([]string{cmd.Variant.Value})
		for _, a := range cmd.Args {
			c.words = append(c.words, r.declared(a))
		}
	}
	if len(c.words)+len(c.sets)+len(c.reads)+len(c.writes) > 0 {
		r.take(c, depth)
	}
}

// assigned notes what is set before a command.
func (r *reading) assigned(c *simple, assigns []*syntax.Assign) {
	for _, a := range assigns {
		r.steered = r.steered || !isHarmless(a.Name.Value)
		reads := len(c.words) > 0 && c.words[0].text == "read" && a.Name.Value == "IFS" // for this command alone
		if isShellVariable(a.Name.Value) && !reads {
			r.unknown()
		}
		if a.Value != nil {
			c.sets = append(c.sets, r.word(a.Value))
		}
	}
}

// declared is an argument of export and its like.
func (r *reading) declared(a *syntax.Assign) word {
	if a.Name == nil {
		w := r.word(a.Value)
		if !w.known {
			r.unknown()
		}
		return w
	}
	if a.Index != nil && !isPlain(a.Index) { // bash expands it a second time
		r.unknown()
	}
	text := a.Name.Value
	r.steered = r.steered || !isHarmless(text)
	if !a.Naked {
		text += "="
	}
	if a.Value != nil {
		text += r.word(a.Value).text
	}
	return word{text: text, known: true, one: true}
}

// targets are what a statement's redirections read and write.
func (r *reading) targets(c *simple, s *syntax.Stmt) {
	for _, to := range s.Redirs {
		if to.Word == nil || to.Hdoc != nil || to.Op == syntax.WordHdoc {
			continue
		}
		target := r.word(to.Word)
		switch {
		case target.stream:
		case to.Op == syntax.DplIn && isDescriptor(target):
		case to.Op == syntax.DplOut && isDescriptor(target):
		case to.Op == syntax.DplIn:
			c.reads = append(c.reads, word{}) // the shell would complain, or know more
		case to.Op == syntax.RdrIn:
			c.reads = append(c.reads, target)
		default:
			c.writes = append(c.writes, target)
		}
	}
}

// isDescriptor reports whether a word is the number of an open file.
func isDescriptor(w word) bool { return w.known && strings.Trim(w.text, "0123456789-") == "" }

// redirected is the input of a statement that has redirections.
func (r *reading) redirected(in standard, s *syntax.Stmt) standard {
	in.texts = in.texts[:len(in.texts):len(in.texts)]
	for _, to := range s.Redirs {
		first := to.N == nil || to.N.Value == "0"
		var text word
		switch to.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text = r.hereDocument(to)
		case syntax.WordHdoc:
			text = r.word(to.Word)
		case syntax.RdrIn, syntax.RdrInOut:
			if target := r.word(to.Word); first && !isInput(target.text) {
				in = standard{piped: target.stream}
			}
			continue
		case syntax.DplIn:
			if first {
				in.piped = true
			}
			continue
		default:
			continue
		}
		if first {
			in = standard{texts: []word{text}}
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
func (r *reading) hereDocument(to *syntax.Redirect) word {
	if to.Hdoc == nil {
		return word{known: true}
	}
	escaped := "$`\\\n"
	for _, p := range to.Word.Parts {
		if lit, ok := p.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			escaped = ""
		}
	}
	s := spelling{home: r.home, known: true}
	s.parts(to.Hdoc.Parts, true, escaped)
	text := s.text.String()
	if to.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return word{text: text, known: s.known}
}
