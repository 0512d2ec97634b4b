package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// bash evaluates a variable's name and a number as an expression: it expands a subscript in them
// once more, and runs the commands in it. So `test -v 'a[$(rm x)]'`, `[[ x -eq 0 ]]` with that text
// in x, let, unset, read, printf -v, declare -n and wait -p run rm. The same holds for array text,
// evaluated by declare -a: declare -a a='($(rm x))'. Following such text through variables would
// mean interpreting the script. Instead, the user is asked about every text that would run commands
// if it were evaluated as a subscript or an array, wherever it is in the line, and about operands
// known only to the shell.

// runsAsSubscript reports whether text contains a name with a subscript that runs commands. A
// bracket in quotes, after a backslash or in ${…} does not end a subscript.
func runsAsSubscript(text string) bool {
	depth, braces, quote := 0, 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case depth == 0:
			if c == '[' && i > 0 && isNameByte(text[i-1]) {
				depth, braces, quote = 1, 0, 0
			}
		case runsCommand(text[i:]):
			return true
		case strings.HasPrefix(text[i:], "${"):
			braces++
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`[]{}"'\`, text[i+1]) >= 0:
			i++
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case braces > 0:
			if c == '}' {
				braces--
			}
		case c == '[':
			depth++
		case c == ']':
			depth--
		}
	}
	return false
}

// runsCommand reports whether text starts with an expansion that runs commands: $(…), `…`, ${ …; },
// ${|…; } or the @P of ${name@P}.
func runsCommand(text string) bool {
	for _, begin := range []string{"$(", "`", "@P", "${ ", "${\t", "${\n", "${|"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// hasCommand reports whether text contains an expansion that runs commands.
func hasCommand(text string) bool {
	for ; text != ""; text = text[1:] {
		if runsCommand(text) {
			return true
		}
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// mayBeEvaluated reports whether bash would run commands when it evaluates a word's text as a name,
// a number or an array.
func mayBeEvaluated(w *syntax.Word) bool {
	text := literalText(w)
	return runsAsSubscript(text) || runsAsArray(text)
}

// runsAsArray reports whether text is an array value or assignment that runs commands.
func runsAsArray(text string) bool {
	_, value, assigned := strings.Cut(text, "=(")
	if !assigned {
		value, assigned = strings.CutPrefix(text, "(")
	}
	return assigned && strings.HasSuffix(value, ")") && hasCommand(value)
}

// literalText returns the text of a word without its expansions, which are parsed where they stand.
func literalText(w *syntax.Word) string {
	s := spelling{known: true}
	var text strings.Builder
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.SglQuoted); ok && q.Dollar {
			decoded, _, err := expand.Format(nil, q.Value, nil)
			if err != nil {
				decoded = q.Value
			}
			text.WriteString(decoded)
			continue
		}
		s.text.Reset()
		s.addParts([]syntax.WordPart{p}, false, "")
		text.WriteString(s.text.String())
	}
	return text.String()
}

// evaluatesText reports whether an arithmetic expression has a command substitution in quotes,
// which bash runs when it evaluates the expression.
func evaluatesText(n syntax.Node) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return false // parsed as commands
		case *syntax.Word:
			found = found || hasCommand(literalText(n))
		}
		return !found
	})
	// let evaluates its arguments after their expansion, so an expansion may hide anything.
	if let, ok := n.(*syntax.LetClause); ok {
		for _, e := range let.Exprs {
			w, ok := e.(*syntax.Word)
			found = found || ok && !isPlain(w)
		}
	}
	return found
}

// isPlain reports whether n, a word or an arithmetic expression, contains no shell expansion.
func isPlain(n syntax.Node) bool {
	plain := true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			plain = false
		}
		return plain
	})
	return plain
}

// checkVariable handles an operand naming a variable, if only the shell knows the name.
func (r *analysis) checkVariable(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok && !isPlain(w) {
		r.noteUnknown()
	}
}

// namesUnknownVariable reports whether a builtin is given a variable name known only to the shell.
func namesUnknownVariable(c simpleCommand) bool {
	if len(c.words) == 0 || !c.words[0].known {
		return false
	}
	args := c.words[1:]
	unknown := func(w word) bool { return !w.known && w.glob == "" }
	switch path.Base(c.words[0].text) {
	case "unset", "let":
		return slices.ContainsFunc(args, unknown)
	case "read":
		options, rest, _ := runner{valued: "d i n N p t u a"}.readOptions(args)
		return slices.ContainsFunc(rest, unknown) || slices.ContainsFunc(options.values("a"), unknown)
	case "printf":
		options, _, _ := runner{valued: "v"}.readOptions(args)
		return slices.ContainsFunc(options.values("v"), unknown)
	case "wait":
		options, _, _ := runner{valued: "p"}.readOptions(args)
		return slices.ContainsFunc(options.values("p"), unknown)
	case "test", "[":
		i := slices.IndexFunc(args, func(w word) bool { return w.text == "-v" || w.text == "-R" })
		return i >= 0 && i+1 < len(args) && unknown(args[i+1])
	}
	return false
}
