package policy

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A rule about rm has to find it in bash -c 'rm x', in sudo rm x, in a loop and in a here-document for
// a shell. Searching the text would find the word in messages and file names too, and miss it behind
// quotes and backslashes. Therefore the line is parsed with a shell's grammar, and the commands run by
// known runners are parsed in turn. Letting a shell expand the line first would run the commands in
// it, so everything only the shell will know, such as a variable in place of a program, becomes an
// unknown command: rules that allow never match it, and the others ask the user.

// A grammar is a shell's grammar.
type grammar = syntax.LangVariant

const (
	bash  = syntax.LangBash
	posix = syntax.LangPOSIX
)

// stdin describes a command's standard input as far as it is part of the line.
type stdin struct {
	piped bool   // written by another command
	texts []word // here-documents and here-strings
}

// A simpleCommand is a program with its arguments, found within lists, pipes, substitutions and
// bodies of loops and functions.
type simpleCommand struct {
	words         []word
	sets          []word // values of assignments before it
	reads, writes []word // targets of redirections
	in            stdin
	more          bool // further words are read from somewhere
	unclear       bool // it runs another command, starting at any of its arguments
}

func (c simpleCommand) String() string {
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
	maxCommand  = 128 << 10 // bytes of a script; Linux allows no longer argument
	maxBrackets = 5000      // opening brackets of a script: the parser recurses for each
	maxNesting  = 8         // of shells within shells
	minParse    = 4 << 10
	parseFactor = 5 // total bytes parsed, as a multiple of the command's length
	parseCost   = 8 // cost of a text besides its length
)

// An analysis parses a command and the commands it runs. The total text it parses is limited to a
// small multiple of the command's length.
type analysis struct {
	home       string
	left       int // bytes left to parse
	found      []simpleCommand
	unclear    bool  // something runs that only the shell will know
	envChanged bool  // variables are set that may affect programs
	repeats    bool  // commands may run again after later ones
	err        error // part of it cannot be parsed
}

func newAnalysis(length int, home string) *analysis {
	return &analysis{home: home, left: minParse + parseFactor*length}
}

// parseLine parses a line for an unknown shell: as bash, and also as a POSIX shell if that may see
// commands in it where bash does not.
func (r *analysis) parseLine(text string) {
	w := word{text: text, known: true}
	r.parseScript(w, bash, stdin{}, 0)
	if r.err == nil && isOtherInPOSIX(text) {
		r.left = minParse + parseFactor*len(text)
		r.parseScript(w, posix, stdin{}, 0)
		r.err = nil // it is valid for bash
	}
}

// isOtherInPOSIX reports whether a POSIX shell may see commands where bash sees an expression.
func isOtherInPOSIX(text string) bool {
	return strings.Contains(text, "((") || strings.Contains(text, "[[")
}

// noteUnknown records a command known only to the shell.
func (r *analysis) noteUnknown() {
	if !r.unclear {
		r.unclear = true
		r.found = append(r.found, simpleCommand{words: []word{{}}})
	}
}

// parseText parses a script.
func (r *analysis) parseText(text string, g grammar) (*syntax.File, error) {
	open := 0
	for _, c := range []byte(text) {
		if c == '(' || c == '[' || c == '{' || c == '`' {
			open++
		}
	}
	// The parser recurses, so a deep script would exhaust the stack and crash the engine.
	if len(text) > maxCommand || open > maxBrackets {
		return nil, errors.New("too long or too many brackets")
	}
	// Nested scripts share one limit, or a short line could repeat a long one many times.
	if r.left -= parseCost + len(text); r.left < 0 {
		return nil, errors.New("too much within")
	}
	return syntax.NewParser(syntax.Variant(g)).Parse(strings.NewReader(text), "")
}

// parseScript records the commands of a script.
func (r *analysis) parseScript(text word, g grammar, in stdin, depth int) {
	if !text.known || text.filled {
		r.noteUnknown()
		return
	}
	if depth > maxNesting {
		r.err = errors.New("nested too deep")
		return
	}
	f, err := r.parseText(text.text, g)
	if err != nil {
		r.err = err
		return
	}
	inputs := []stdin{in}           // of the enclosing nodes, the innermost last
	data := map[*syntax.Word]bool{} // here-documents
	piped := map[*syntax.Stmt]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		in := inputs[len(inputs)-1]
		switch n := n.(type) {
		case nil:
			inputs = inputs[:len(inputs)-1]
			return true
		case *syntax.BinaryCmd:
			// The right side is visited later, and reads the left side's output.
			piped[n.Y] = n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CoprocClause:
			in = stdin{piped: true}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut {
				in = stdin{piped: true}
			}
		case *syntax.Stmt:
			if piped[n] {
				in = stdin{piped: true}
			}
			in = r.inputAfter(in, n)
			r.addStatement(n, in, depth)
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
			r.repeats = true
		case *syntax.WordIter:
			if isShellVariable(n.Name.Value) {
				r.noteUnknown()
			}
		case *syntax.ParamExp:
			r.checkExpansion(n)
		case *syntax.Redirect:
			data[n.Hdoc] = true
		case *syntax.Word:
			if !data[n] && mayBeEvaluated(n) {
				r.noteUnknown()
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				r.checkVariable(n.X)
			}
		case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
			if evaluatesText(n) {
				r.noteUnknown()
			}
		}
		inputs = append(inputs, in)
		return true
	})
}

// checkExpansion handles a parameter expansion that runs its value, or that sets a shell variable.
func (r *analysis) checkExpansion(p *syntax.ParamExp) {
	switch {
	case p.Exp == nil:
	case p.Exp.Op == syntax.OtherParamOps: // ${x@P}
		r.noteUnknown()
	case p.Param != nil && isShellVariable(p.Param.Value) &&
		(p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull):
		r.noteUnknown()
	}
}

// addStatement records the command of a statement. Statements within it are visited separately.
func (r *analysis) addStatement(s *syntax.Stmt, in stdin, depth int) {
	c := simpleCommand{in: in}
	r.addTargets(&c, s)
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, w := range cmd.Args {
			c.words = append(c.words, r.readWord(w))
		}
		r.addAssignments(&c, cmd.Assigns)
	case *syntax.DeclClause:
		c.words = literalWords([]string{cmd.Variant.Value})
		for _, a := range cmd.Args {
			c.words = append(c.words, r.wordOfDeclaration(a))
		}
	}
	if len(c.words)+len(c.sets)+len(c.reads)+len(c.writes) > 0 {
		r.addCommand(c, depth)
	}
}

// addAssignments records the assignments before a command.
func (r *analysis) addAssignments(c *simpleCommand, assigns []*syntax.Assign) {
	for _, a := range assigns {
		r.envChanged = r.envChanged || !isHarmless(a.Name.Value)
		reads := len(c.words) > 0 && c.words[0].text == "read" && a.Name.Value == "IFS" // for this command only
		if isShellVariable(a.Name.Value) && !reads {
			r.noteUnknown()
		}
		if a.Value != nil {
			c.sets = append(c.sets, r.readWord(a.Value))
		}
	}
}

// wordOfDeclaration returns an argument of export and similar builtins.
func (r *analysis) wordOfDeclaration(a *syntax.Assign) word {
	if a.Name == nil {
		w := r.readWord(a.Value)
		if !w.known {
			r.noteUnknown()
		}
		return w
	}
	if a.Index != nil && !isPlain(a.Index) { // bash expands it a second time
		r.noteUnknown()
	}
	text := a.Name.Value
	r.envChanged = r.envChanged || !isHarmless(text)
	if !a.Naked {
		text += "="
	}
	if a.Value != nil {
		text += r.readWord(a.Value).text
	}
	return word{text: text, known: true, one: true}
}

// addTargets records the files read and written by a statement's redirections.
func (r *analysis) addTargets(c *simpleCommand, s *syntax.Stmt) {
	for _, to := range s.Redirs {
		if to.Word == nil || to.Hdoc != nil || to.Op == syntax.WordHdoc {
			continue
		}
		target := r.readWord(to.Word)
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

// inputAfter returns the standard input of a statement after its redirections.
func (r *analysis) inputAfter(in stdin, s *syntax.Stmt) stdin {
	// Appending must not overwrite the texts of the enclosing statement.
	in.texts = in.texts[:len(in.texts):len(in.texts)]
	for _, to := range s.Redirs {
		first := to.N == nil || to.N.Value == "0"
		var text word
		switch to.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text = r.hereDocText(to)
		case syntax.WordHdoc:
			text = r.readWord(to.Word)
		case syntax.RdrIn, syntax.RdrInOut:
			if target := r.readWord(to.Word); first && !isInput(target.text) {
				in = stdin{piped: target.stream}
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
			in = stdin{texts: []word{text}}
			continue
		}
		in.texts = append(in.texts, text)
	}
	return in
}

// isInput reports whether a path names an open file.
func isInput(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// hereDocText returns the text of a here-document. Unless its delimiter is quoted, a backslash
// escapes fewer characters than in double quotes.
func (r *analysis) hereDocText(to *syntax.Redirect) word {
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
	s.addParts(to.Hdoc.Parts, true, escaped)
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
