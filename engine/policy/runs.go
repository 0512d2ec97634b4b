package policy

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// take notes a simple command and what that runs in its turn.
func (r *reading) take(c simple, depth int) {
	if depth > maxNesting {
		r.err = errors.New("nested too deep")
		return
	}
	if len(c.words) > 0 && c.words[0].filled {
		c.words = append([]word{{}}, c.words[1:]...)
	}
	r.found = append(r.found, c)
	if setsShell(c) || namesUnknownVariable(c) {
		r.unknown()
	}
	r.steered = r.steered || passesOn(c)
	if len(c.words) == 0 || !c.words[0].known {
		return
	}
	program := path.Base(c.words[0].text)
	if g, ok := runnerOf(program); ok {
		r.run(c, g, depth)
	}
	if slices.Contains(unclearRunners, program) || (program == "fd" || program == "fdfind") && slices.ContainsFunc(c.words[1:], mayExecute) {
		r.unclearly(c)
	}
}

// mostTails is how many arguments of a program are taken for the beginning of what
// it runs.
const mostTails = 32

// unclearly takes apart what a program runs whose options are not read: what
// exactly is not known, and it may begin with any of the arguments.
func (r *reading) unclearly(c simple) {
	r.unknown()
	for i := range min(len(c.words)-1, mostTails) {
		r.found = append(r.found, simple{words: c.words[1+i:], tail: true, more: c.more, grammar: c.grammar})
	}
}

// mayExecute reports whether an argument of fd may be -x, -X or one of their long
// names.
func mayExecute(w word) bool {
	return !w.known && !w.one && w.glob == "" || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "xX")
}

// run takes apart what a runner runs.
func (r *reading) run(c simple, g runner, depth int) {
	args := c.words[1:]
	switch g.how {
	case shell:
		r.shell(c, g.grammar, depth)
	case script:
		r.eval(c, depth)
	case sourced:
		if len(args) > 0 || c.more {
			r.unknown()
		}
	case trapped:
		if args = operands(args); len(args) > 1 && !strings.HasPrefix(args[0].text, "-") {
			r.script(args[0], c.grammar, standard{}, depth+1)
		}
	case renamed:
		r.alias(c, depth)
	case executes:
		r.find(c, depth)
	default:
		r.arguments(c, g, depth)
	}
}

// arguments takes apart what is run behind a runner's options.
func (r *reading) arguments(c simple, g runner, depth int) {
	options, rest, sure := g.options(c.words[1:])
	if !sure || options.has(g.unclear) {
		r.unknown()
	}
	if options.has(g.nothing) {
		return
	}
	inner := simple{words: rest, in: c.in, more: c.more, grammar: c.grammar}
	switch {
	case g.how == input:
		r.xargs(inner, options, depth)
	case len(inner.words) > 0:
		r.take(inner, depth+1)
	case c.more:
		r.unknown()
	case options.has(g.shell):
		r.input(c.in, bash, depth)
	}
}

// input takes apart what a shell reads from its standard input.
func (r *reading) input(in standard, g grammar, depth int) {
	for _, text := range in.texts {
		if r.left < 0 {
			return // it has failed, and there may be many
		}
		r.script(text, g, standard{}, depth+1)
	}
	if in.piped {
		r.unknown()
	}
}

// shell takes apart what a shell runs: the first argument with -c, else a file
// that it names or what it reads. What is not known among its options, may
// become several words and is not a path, may be anything.
func (r *reading) shell(c simple, g grammar, depth int) {
	command, reads := false, false
	args := c.words[1:]
	for ; len(args) > 0; args = args[1:] {
		a := args[0].text
		if !args[0].known && (command || strings.HasPrefix(a, "-") || !args[0].one && !strings.Contains(a, "/")) {
			r.unknown()
			return
		}
		if a == "--" || a == "-" {
			args = args[1:]
			break
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		if name, ok := strings.CutPrefix(a, "--"); ok {
			if (name == "rcfile" || name == "init-file" || name == "emulate") && len(args) > 1 {
				args = args[1:]
			}
			continue
		}
		command = command || a[0] == '-' && strings.Contains(a, "c")
		reads = reads || a[0] == '-' && strings.Contains(a, "s")
		args = args[min(strings.Count(a, "o")+strings.Count(a, "O"), len(args)-1):]
	}
	switch {
	case len(args) == 0 && c.more:
		r.unknown()
	case len(args) == 0 && command:
	case len(args) > 0 && command:
		r.script(args[0], g, c.in, depth+1)
	case len(args) == 0 || reads || isInput(args[0].text):
		r.input(c.in, g, depth)
	case args[0].stream || args[0].filled:
		r.unknown()
	}
}

// operands are the arguments of a builtin without the mark of their begin.
func operands(args []word) []word {
	if len(args) > 0 && args[0].text == "--" {
		return args[1:]
	}
	return args
}

func (r *reading) eval(c simple, depth int) {
	args := operands(c.words[1:])
	texts := make([]string, len(args))
	for i, w := range args {
		if texts[i] = w.text; !w.known || w.filled {
			r.unknown()
			return
		}
	}
	if c.more {
		r.unknown()
		return
	}
	r.script(word{text: strings.Join(texts, " "), known: true}, c.grammar, c.in, depth+1)
}

// alias takes apart what names stand for from now on, with what is not known
// behind it.
func (r *reading) alias(c simple, depth int) {
	for _, a := range c.words[1:] {
		if !a.known && a.glob == "" {
			r.unknown()
		} else if _, text, ok := strings.Cut(a.text, "="); ok {
			r.script(word{text: text + ` "$@"`, known: true}, c.grammar, standard{}, depth+1)
		}
	}
}

// find takes apart what find runs for each file, up to ; or {} +.
func (r *reading) find(c simple, depth int) {
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		if !args[i].known && !args[i].one && args[i].glob == "" {
			r.unknown()
		}
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			inner := slices.Clone(args[i+1 : end])
			for j, w := range inner {
				inner[j].filled = w.filled || strings.Contains(w.text, "{}")
			}
			r.take(simple{words: inner, in: c.in, grammar: c.grammar}, depth+1)
			i = end
		}
	}
}

// xargs takes apart what xargs runs with what it reads: behind the arguments, or
// in place of a word.
func (r *reading) xargs(c simple, options optionList, depth int) {
	if len(c.words) == 0 {
		return
	}
	place := ""
	if options.has("i") || options.has("replace") {
		place = "{}" // or what stands behind -i
	}
	c.more = true
	for _, o := range options {
		switch {
		case o.name != "I" && o.name != "replace":
		case !o.value.known && (o.name == "I" || !o.value.one):
			r.unknown()
			return
		case o.value.text != "":
			place, c.more = o.value.text, false
		}
	}
	if place != "" {
		c.words = slices.Clone(c.words)
		for i, w := range c.words {
			if strings.Contains(w.text, place) {
				c.words[i] = word{one: true}
			}
		}
	}
	r.take(c, depth+1)
}

// shellVariables change what the words of a line mean, or run something
// themselves.
var shellVariables = [...]string{
	"PATH", "IFS", "ENV", "BASH_ENV", "PROMPT_COMMAND", "PS4", "CDPATH", "SHELLOPTS", "BASHOPTS", "HOME", "PWD", "OLDPWD",
}

// isShellVariable reports whether a name is one of them.
func isShellVariable(name string) bool {
	return slices.Contains(shellVariables[:], name) || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "BASH_FUNC_")
}

// isHarmless reports whether a variable changes nothing but how a program speaks
// to its reader. Any other may have it run something: programs have thousands.
func isHarmless(name string) bool {
	return slices.Contains([]string{"LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "IFS"}, name) ||
		strings.HasPrefix(name, "LC_")
}

// passesOn reports whether a command hands a variable to another that may steer
// that one.
func passesOn(c simple) bool {
	if len(c.words) == 0 || !slices.Contains([]string{"env", "sudo", "doas"}, path.Base(c.words[0].text)) {
		return false
	}
	return slices.ContainsFunc(c.words[1:], func(w word) bool {
		name, _, ok := strings.Cut(w.text, "=")
		return ok && !strings.HasPrefix(name, "-") && !isHarmless(name)
	})
}

// setsShell reports whether a command sets one of them.
func setsShell(c simple) bool {
	if len(c.words) == 0 {
		return false
	}
	switch program := path.Base(c.words[0].text); program {
	case "export", "declare", "typeset", "readonly", "local", "env", "sudo":
		return slices.ContainsFunc(c.words[1:], func(w word) bool {
			name, _, ok := strings.Cut(w.text, "=")
			if !w.known && name == "" && program != "env" && program != "sudo" {
				return true
			}
			return ok && isShellVariable(strings.TrimSuffix(name, "+"))
		})
	case "read", "printf", "mapfile", "readarray", "getopts", "unset":
		return slices.ContainsFunc(c.words[1:], func(w word) bool { return isShellVariable(w.text) })
	}
	return false
}
