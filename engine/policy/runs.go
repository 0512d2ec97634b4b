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
	c.unclear = runsUnclearly(c)
	r.found = append(r.found, c)
	if setsShell(c) || namesUnknownVariable(c) {
		r.unknown()
	}
	r.steered = r.steered || slices.ContainsFunc(c.starts(), passesOn)
	if len(c.words) == 0 || !c.words[0].known {
		return
	}
	if g, ok := runnerOf(path.Base(c.words[0].text)); ok {
		r.run(c, g, depth)
	}
	if c.unclear {
		r.unclearly(c, depth)
	}
}

// runsUnclearly reports whether a command is one of unclearRunners, or fd with an option to
// run commands.
func runsUnclearly(c simple) bool {
	if len(c.words) == 0 || !c.words[0].known {
		return false
	}
	program := path.Base(c.words[0].text)
	return slices.Contains(unclearRunners, program) || (program == "fd" || program == "fdfind") && slices.ContainsFunc(c.words[1:], mayExecute)
}

// maxTails is how many arguments of a program are taken for the beginning of what it
// runs.
const maxTails = 32

// starts returns a command and, if it is unclear what it runs, the commands that may begin
// with each of its arguments.
func (c simple) starts() []simple {
	all := []simple{c}
	if c.unclear {
		for i := range min(len(c.words)-1, maxTails) {
			all = append(all, simple{words: c.words[1+i:], more: c.more})
		}
	}
	return all
}

// plain are the characters of a script that is a single word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"

// unclearly notes that a program runs something unknown. Any argument and here-document may
// be a script.
func (r *reading) unclearly(c simple, depth int) {
	r.unknown()
	args := c.words[1:]
	if len(args) > 1 {
		r.guess(joined(args), depth) // as eval does
	}
	for _, w := range args[:min(len(args), maxTails)] {
		if strings.Trim(w.text, plain) != "" { // else starts has it
			r.guess(w, depth)
		}
		if _, script, ok := strings.Cut(w.text, "="); ok { // alias x=SCRIPT, --command=SCRIPT
			r.guess(word{text: script, known: w.known}, depth)
		}
	}
	for _, text := range c.in.texts {
		r.guess(text, depth)
	}
}

// joined joins words with blanks, without the -- that ends options.
func joined(words []word) word {
	texts, known := make([]string, len(words)), true
	for i, w := range words {
		texts[i], known = w.text, known && w.known
	}
	return word{text: strings.TrimPrefix(strings.Join(texts, " "), "-- "), known: known}
}

// guess takes apart a text that may be a script. If it cannot be parsed, it is not one.
func (r *reading) guess(text word, depth int) {
	if !text.known || r.left < 0 {
		return
	}
	err := r.err
	r.script(text, bash, standard{}, depth+1)
	if isOtherInPOSIX(text.text) {
		r.script(text, posix, standard{}, depth+1)
	}
	if r.left >= 0 {
		r.err = err
	}
}

// mayExecute reports whether an argument of fd may be -x, -X or one of their long
// names.
func mayExecute(w word) bool {
	return !w.known && !w.one && w.glob == "" || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "xX")
}

// run takes apart what a runner runs.
func (r *reading) run(c simple, g runner, depth int) {
	switch g.how {
	case shell:
		r.shell(c, g, depth)
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
	inner := simple{words: rest, in: c.in, more: c.more}
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
// that it names or what it reads.
func (r *reading) shell(c simple, g runner, depth int) {
	options, args, sure := g.options(c.words[1:])
	if !sure || slices.ContainsFunc(c.words[1:len(c.words)-len(args)], takesNext) || len(args) > 0 && strings.HasPrefix(args[0].text, "+") {
		r.unclearly(c, depth)
		return
	}
	command := options.has("c")
	switch {
	case len(args) == 0 && c.more:
		r.unknown()
	case len(args) == 0 && command:
	case command:
		r.script(args[0], g.grammar, c.in, depth+1)
	case len(args) == 0 || options.has("s") || isInput(args[0].text):
		r.input(c.in, g.grammar, depth)
	case args[0].stream || args[0].filled || mayBeOptions(args[0]):
		r.unknown()
	}
}

// takesNext reports whether a word has letters after -o or -O: the value of that option is
// the next word all the same.
func takesNext(w word) bool {
	i := strings.IndexAny(w.text, "oO")
	return strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && i >= 0 && i < len(w.text)-1
}

// mayBeOptions reports whether a word that is not known may stand for options of a shell. It
// is taken for a file if it is one word or has a slash.
func mayBeOptions(w word) bool {
	return !w.known && (strings.HasPrefix(w.text, "-") || !w.one && !strings.Contains(w.text, "/"))
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
			r.take(simple{words: inner, in: c.in}, depth+1)
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
