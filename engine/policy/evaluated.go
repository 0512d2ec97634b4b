package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// bash reads a variable's name and a number as an expression: a subscript in it is expanded
// again, and runs the commands in it. So `test -v 'a[$(rm x)]'`, `[[ x -eq 0 ]]` with that text
// in x, let, unset, read, printf -v, declare -n and wait -p run rm. Where the text goes is not
// followed: text that would run something as a subscript is asked about wherever it stands.

// runsAsSubscript matches text with a subscript that runs commands: a name, and in its
// brackets a command substitution or ${name@P}.
var runsAsSubscript = regexp.MustCompile("[A-Za-z0-9_]\\[[^\\]]*(\\$\\(|`|@P)")

// mayBeEvaluated reports whether bash would run something if it took a word's text for a name or a
// number.
func mayBeEvaluated(w *syntax.Word) bool { return runsAsSubscript.MatchString(literalText(w)) }

// literalText is the text of a word without what the shell expands in it, which is parsed as
// it stands.
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
		s.parts([]syntax.WordPart{p}, false, "")
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
			text := literalText(n)
			found = found || strings.Contains(text, "$(") || strings.Contains(text, "`")
		}
		return !found
	})
	if let, ok := n.(*syntax.LetClause); ok {
		for _, e := range let.Exprs {
			w, ok := e.(*syntax.Word)
			found = found || ok && !isPlain(w)
		}
	}
	return found
}

// isPlain reports whether the shell expands nothing in a word.
func isPlain(w *syntax.Word) bool {
	plain := true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			plain = false
		}
		return plain
	})
	return plain
}

// variable notes an operand that names a variable and is only known to the shell.
func (r *reading) variable(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok && !isPlain(w) {
		r.unknown()
	}
}

// namesUnknownVariable reports whether a builtin is given the name of a variable that only
// the shell will know.
func namesUnknownVariable(c simple) bool {
	if len(c.words) == 0 || !c.words[0].known {
		return false
	}
	args := c.words[1:]
	unknown := func(w word) bool { return !w.known && w.glob == "" }
	switch path.Base(c.words[0].text) {
	case "unset", "let":
		return slices.ContainsFunc(args, unknown)
	case "read":
		options, rest, _ := runner{valued: "d i n N p t u a"}.options(args)
		return slices.ContainsFunc(rest, unknown) || slices.ContainsFunc(options.values("a"), unknown)
	case "printf":
		options, _, _ := runner{valued: "v"}.options(args)
		return slices.ContainsFunc(options.values("v"), unknown)
	case "wait":
		options, _, _ := runner{valued: "p"}.options(args)
		return slices.ContainsFunc(options.values("p"), unknown)
	case "test", "[":
		i := slices.IndexFunc(args, func(w word) bool { return w.text == "-v" || w.text == "-R" })
		return i >= 0 && i+1 < len(args) && unknown(args[i+1])
	}
	return false
}
