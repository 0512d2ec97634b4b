package policy

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// addCommand records a simple command and the commands it runs in turn.
func (r *analysis) addCommand(c simpleCommand, depth int) {
	if depth > maxNesting {
		r.err = errors.New("nested too deep")
		return
	}
	if len(c.words) > 0 && c.words[0].filled {
		c.words = append([]word{{}}, c.words[1:]...)
	}
	c.unclear = isUnclearRunner(c)
	r.found = append(r.found, c)
	if setsShellVariable(c) || namesUnknownVariable(c) {
		r.noteUnknown()
	}
	r.envChanged = r.envChanged || slices.ContainsFunc(c.starts(), passesVariables)
	if len(c.words) == 0 || !c.words[0].known {
		return
	}
	if g, ok := findRunner(path.Base(c.words[0].text)); ok {
		r.followRunner(c, g, depth)
	}
	if c.unclear {
		r.addUnclear(c, depth)
	}
}

// isUnclearRunner reports whether a command is one of unclearRunners, or fd with an option to run
// commands.
func isUnclearRunner(c simpleCommand) bool {
	if len(c.words) == 0 || !c.words[0].known {
		return false
	}
	program := path.Base(c.words[0].text)
	return slices.Contains(unclearRunners, program) || (program == "fd" || program == "fdfind") && slices.ContainsFunc(c.words[1:], mayExecute)
}

// maxTails limits how many arguments of a program are each tried as the first word of the command
// it runs.
const maxTails = 32

// starts returns a command and, if it runs an unknown command, the commands that may begin with
// each of its arguments.
func (c simpleCommand) starts() []simpleCommand {
	all := []simpleCommand{c}
	if c.unclear {
		for i := range min(len(c.words)-1, maxTails) {
			all = append(all, simpleCommand{words: c.words[1+i:], more: c.more})
		}
	}
	return all
}

// wordChars are the characters of a script consisting of a single word.
const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"

// addUnclear records that a program runs something unknown. Any argument and here-document may be a
// script.
func (r *analysis) addUnclear(c simpleCommand, depth int) {
	r.noteUnknown()
	args := c.words[1:]
	if len(args) > 1 {
		r.tryScript(joinWords(args), depth) // like eval
	}
	for _, w := range args[:min(len(args), maxTails)] {
		if strings.Trim(w.text, wordChars) != "" { // otherwise starts covers it
			r.tryScript(w, depth)
		}
		if _, script, ok := strings.Cut(w.text, "="); ok { // alias x=SCRIPT, --command=SCRIPT
			r.tryScript(word{text: script, known: w.known}, depth)
		}
	}
	for _, text := range c.in.texts {
		r.tryScript(text, depth)
	}
}

// joinWords joins words with blanks, without a leading --.
func joinWords(words []word) word {
	texts, known := make([]string, len(words)), true
	for i, w := range words {
		texts[i], known = w.text, known && w.known
	}
	return word{text: strings.TrimPrefix(strings.Join(texts, " "), "-- "), known: known}
}

// tryScript parses a text that may be a script. A text that cannot be parsed is not one.
func (r *analysis) tryScript(text word, depth int) {
	if !text.known || r.left < 0 {
		return
	}
	err := r.err
	r.parseScript(text, bash, stdin{}, depth+1)
	// The shell to run the text is unknown, so the text is parsed as bash and as a POSIX shell.
	if isOtherInPOSIX(text.text) {
		r.parseScript(text, posix, stdin{}, depth+1)
	}
	if r.left >= 0 {
		r.err = err
	}
}

// mayExecute reports whether an argument of fd may be -x, -X or one of their long names.
func mayExecute(w word) bool {
	return !w.known && !w.one && w.glob == "" || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "xX")
}

// followRunner records the commands run by a runner.
func (r *analysis) followRunner(c simpleCommand, g runner, depth int) {
	switch g.how {
	case runShell:
		r.followShell(c, g, depth)
	case runExec:
		r.followFind(c, depth)
	default:
		r.followArguments(c, g, depth)
	}
}

// followArguments records the command after a runner's options.
func (r *analysis) followArguments(c simpleCommand, g runner, depth int) {
	options, rest, sure := g.readOptions(c.words[1:])
	if !sure || options.has(g.unclear) {
		r.noteUnknown()
	}
	if options.has(g.nothing) {
		return
	}
	inner := simpleCommand{words: rest, in: c.in, more: c.more}
	switch {
	case g.how == runInput:
		r.followXargs(inner, options, depth)
	case len(inner.words) > 0:
		r.addCommand(inner, depth+1)
	case c.more:
		r.noteUnknown()
	case options.has(g.shell):
		r.followInput(c.in, bash, depth)
	}
}

// followInput records the commands a shell reads from its standard input.
func (r *analysis) followInput(in stdin, g grammar, depth int) {
	for _, text := range in.texts {
		if r.left < 0 {
			return // it has failed, and there may be many more
		}
		r.parseScript(text, g, stdin{}, depth+1)
	}
	if in.piped {
		r.noteUnknown()
	}
}

// followShell records the commands run by a shell: those in the first argument with -c, otherwise
// in a file it names or in its input.
func (r *analysis) followShell(c simpleCommand, g runner, depth int) {
	options, args, sure := g.readOptions(c.words[1:])
	if !sure || slices.ContainsFunc(c.words[1:len(c.words)-len(args)], takesNext) || len(args) > 0 && strings.HasPrefix(args[0].text, "+") {
		r.addUnclear(c, depth)
		return
	}
	command := options.has("c")
	switch {
	case len(args) == 0 && c.more:
		r.noteUnknown()
	case len(args) == 0 && command:
	case command:
		r.parseScript(args[0], g.grammar, c.in, depth+1)
	case len(args) == 0 || options.has("s") || isInput(args[0].text):
		r.followInput(c.in, g.grammar, depth)
	case args[0].stream || args[0].filled || mayBeOptions(args[0]):
		r.noteUnknown()
	}
}

// takesNext reports whether a word has letters after -o or -O: the value of that option is still
// the next word.
func takesNext(w word) bool {
	i := strings.IndexAny(w.text, "oO")
	return strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && i >= 0 && i < len(w.text)-1
}

// mayBeOptions reports whether an unknown word may stand for options of a shell. If it stays one
// word or has a slash, it counts as a file.
func mayBeOptions(w word) bool {
	return !w.known && (strings.HasPrefix(w.text, "-") || !w.one && !strings.Contains(w.text, "/"))
}

// followFind records the commands find runs for each file, up to ; or {} +.
func (r *analysis) followFind(c simpleCommand, depth int) {
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		if !args[i].known && !args[i].one && args[i].glob == "" {
			r.noteUnknown()
		}
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			inner := slices.Clone(args[i+1 : end])
			for j, w := range inner {
				// find replaces {} wherever it is in a word.
				inner[j].filled = w.filled || strings.Contains(w.text, "{}")
			}
			r.addCommand(simpleCommand{words: inner, in: c.in}, depth+1)
			i = end
		}
	}
}

// followXargs records the command run by xargs, with words read from input after its arguments or
// in place of a word.
func (r *analysis) followXargs(c simpleCommand, options optionList, depth int) {
	if len(c.words) == 0 {
		return
	}
	place := ""
	if options.has("i") || options.has("replace") {
		place = "{}" // or the text after -i
	}
	c.more = true
	for _, o := range options {
		switch {
		case o.name != "I" && o.name != "replace":
		case !o.value.known && (o.name == "I" || !o.value.one):
			r.noteUnknown()
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
	r.addCommand(c, depth+1)
}

// shellVariables change the meaning of the words in a line, or run something themselves.
var shellVariables = [...]string{
	"PATH", "IFS", "ENV", "BASH_ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "CDPATH", "SHELLOPTS", "BASHOPTS", "HOME", "PWD", "OLDPWD",
}

// isShellVariable reports whether name is one of shellVariables, or sets up libraries or functions.
func isShellVariable(name string) bool {
	return slices.Contains(shellVariables[:], name) || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "BASH_FUNC_")
}

// isHarmless reports whether a variable affects only a program's output for its reader. Any other
// variable may make the program run something: programs read thousands of them.
func isHarmless(name string) bool {
	return slices.Contains([]string{"LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "IFS"}, name) ||
		strings.HasPrefix(name, "LC_")
}

// passesVariables reports whether a command passes another one a variable that may change its
// behaviour.
func passesVariables(c simpleCommand) bool {
	if len(c.words) == 0 || !slices.Contains([]string{"env", "sudo", "doas"}, path.Base(c.words[0].text)) {
		return false
	}
	return slices.ContainsFunc(c.words[1:], func(w word) bool {
		name, _, ok := strings.Cut(w.text, "=")
		return ok && !strings.HasPrefix(name, "-") && !isHarmless(name)
	})
}

// setsShellVariable reports whether a command sets one of shellVariables.
func setsShellVariable(c simpleCommand) bool {
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
