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
	if len(c.words) == 0 || !c.words[0].known {
		return
	}
	switch program := path.Base(c.words[0].text); program {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "yash", "csh", "tcsh", "posh", "lksh", "oksh", "loksh":
		r.shell(c, depth)
	case "eval":
		r.eval(c, depth)
	case "source", ".":
		r.source(c, depth)
	case "trap":
		r.trap(c, depth)
	case "alias":
		r.alias(c, depth)
	case "find":
		r.find(c, depth)
	case "fd", "fdfind":
		r.fd(c, depth)
	case "xargs":
		r.xargs(c, depth)
	case "env":
		r.env(c, depth)
	case "su", "runuser":
		r.su(c, runners[program], depth)
	default:
		if g, ok := runners[program]; ok {
			r.run(c, g, depth)
		}
	}
}

// run takes apart what a runner runs.
func (r *reading) run(c simple, g runner, depth int) {
	options, rest := g.options(c.words[1:])
	if options.has(g.nothing) {
		return
	}
	scripts := options.values(g.scripts)
	for _, s := range scripts {
		r.script(s, c.in, depth+1)
	}
	switch {
	case g.input:
		r.input(c.in, depth)
	case g.file:
		r.runFile(c, len(scripts) > 0, rest, depth)
	case len(rest) > 0 && g.joined && !options.has(g.direct):
		r.joined(c, g, rest, depth)
	case len(rest) > 0:
		r.take(simple{words: rest, in: c.in, more: c.more}, depth+1)
	case c.more:
		r.unknown()
	case len(scripts) == 0 && (g.shell == "*" || options.has(g.shell)):
		r.input(c.in, depth)
	}
}

// runFile takes apart what a shell reads that has been given a file or none.
func (r *reading) runFile(c simple, done bool, files []word, depth int) {
	switch {
	case len(files) > 0 && files[0].stream, len(files) == 0 && c.more:
		r.unknown()
	case len(files) == 0 && !done, len(files) > 0 && isInput(files[0].text):
		r.input(c.in, depth)
	}
}

// input takes apart what a shell reads from its standard input.
func (r *reading) input(in input, depth int) {
	for _, text := range in.texts {
		if r.left < 0 {
			return // it has failed, and there may be many
		}
		r.script(text, input{}, depth+1)
	}
	if in.piped {
		r.unknown()
	}
}

// joined takes apart arguments that are joined to a text for a shell, up to the
// word that ends them; if it is the first, each behind it is a text.
func (r *reading) joined(c simple, g runner, args []word, depth int) {
	end := len(args)
	if g.until != "" {
		if i := slices.IndexFunc(args, func(w word) bool { return strings.HasPrefix(w.text, g.until) }); i >= 0 {
			end = i
		}
	}
	if end > 0 {
		r.script(joinedWord(args[:end]), c.in, depth+1)
		return
	}
	for _, a := range args[1:] {
		r.script(a, c.in, depth+1)
	}
}

// joinedWord is words as one, with blanks between them.
func joinedWord(words []word) word {
	texts := make([]string, len(words))
	for i, w := range words {
		if !w.known || w.filled {
			return word{}
		}
		texts[i] = w.text
	}
	return word{text: strings.Join(texts, " "), known: true}
}

// shell takes apart what a POSIX shell runs: the first argument with -c, else a
// file that it names or what it reads. What is not known among its options, may
// become several words and is no path, may be anything.
func (r *reading) shell(c simple, depth int) {
	command, reads := false, false
	args := c.words[1:]
	for ; len(args) > 0; args = args[1:] {
		a := args[0].text
		switch {
		case !args[0].known && (command || strings.HasPrefix(a, "-") || !args[0].one && !strings.Contains(a, "/")):
			r.unknown()
			return
		case a == "--" || a == "-":
			r.operands(c, args[1:], command, reads, depth)
			return
		case strings.HasPrefix(a, "--"):
			if name := a[2:]; (name == "rcfile" || name == "init-file" || name == "emulate") && len(args) > 1 {
				args = args[1:]
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			command = command || a[0] == '-' && strings.Contains(a, "c")
			reads = reads || a[0] == '-' && strings.Contains(a, "s")
			args = args[min(strings.Count(a, "o")+strings.Count(a, "O"), len(args)-1):]
		default:
			r.operands(c, args, command, reads, depth)
			return
		}
	}
	r.operands(c, nil, command, reads, depth)
}

// operands takes apart what a shell runs when its options are read.
func (r *reading) operands(c simple, args []word, command, reads bool, depth int) {
	switch {
	case len(args) == 0 && c.more:
		r.unknown()
	case len(args) == 0 && command:
	case len(args) == 0:
		r.input(c.in, depth)
	case command:
		r.script(args[0], c.in, depth+1)
	case reads || isInput(args[0].text):
		r.input(c.in, depth)
	case args[0].stream:
		r.unknown()
	}
}

// operandsOf are the arguments of a builtin without the mark of their begin.
func operandsOf(c simple) []word {
	args := c.words[1:]
	if len(args) > 0 && args[0].text == "--" {
		return args[1:]
	}
	return args
}

func (r *reading) eval(c simple, depth int) {
	if c.more {
		r.unknown()
		return
	}
	r.script(joinedWord(operandsOf(c)), c.in, depth+1)
}

func (r *reading) source(c simple, depth int) {
	args := operandsOf(c)
	switch {
	case len(args) == 0:
	case args[0].stream:
		r.unknown()
	case isInput(args[0].text):
		r.input(c.in, depth)
	}
}

// trap takes apart what a shell does later, when a signal comes.
func (r *reading) trap(c simple, depth int) {
	if args := operandsOf(c); len(args) > 1 && !strings.HasPrefix(args[0].text, "-") {
		r.script(args[0], input{}, depth+1)
	}
}

// alias takes apart what names stand for from now on.
func (r *reading) alias(c simple, depth int) {
	for _, a := range c.words[1:] {
		if _, text, ok := strings.Cut(a.text, "="); ok {
			r.script(word{text: text, known: a.known}, input{}, depth+1)
		}
	}
}

// find takes apart what find runs for each file, up to ; or {} +.
func (r *reading) find(c simple, depth int) {
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			r.take(simple{words: filled(args[i+1:end], "{}"), in: c.in}, depth+1)
			i = end
		}
	}
}

// fd takes apart what fd runs for each file or for all.
func (r *reading) fd(c simple, depth int) {
	args := c.words[1:]
	for i, a := range args {
		letters, short := strings.CutPrefix(a.text, "-")
		letters = strings.TrimLeft(letters, "HIuslaipqg0F1L")
		if !strings.HasPrefix(a.text, "--exec") && (!short || letters != "x" && letters != "X") {
			continue
		}
		end := i + 1
		for end < len(args) && args[end].text != ";" {
			end++
		}
		r.take(simple{words: filled(args[i+1:end], "{}"), in: c.in}, depth+1)
		return
	}
}

// filled are words of which those that are a placeholder will be something else.
func filled(words []word, placeholder string) []word {
	with := make([]word, len(words))
	for i, w := range words {
		w.filled = w.filled || w.known && w.text == placeholder
		with[i] = w
	}
	return with
}

// xargs takes apart what xargs runs with what it reads.
func (r *reading) xargs(c simple, depth int) {
	options, rest := runners["xargs"].options(c.words[1:])
	inner := simple{words: rest, more: true}
	if all := options.values("I replace"); len(all) > 0 {
		inner.more = false
		inner.words = filled(inner.words, all[len(all)-1].text)
	}
	if options.has("i") || options.has("replace") {
		inner.more = false
		inner.words = filled(inner.words, "{}")
	}
	if len(rest) > 0 {
		r.take(inner, depth+1)
	}
}

// env takes apart what env runs, whose -S holds arguments in one word.
func (r *reading) env(c simple, depth int) {
	options, rest := runners["env"].options(c.words[1:])
	split := options.values("S split-string")
	if len(split) == 0 {
		r.run(c, runners["env"], depth)
		return
	}
	args := c.words[:1:1]
	for _, s := range split {
		words, err := splitWords(s.text)
		switch {
		case !s.known || s.filled:
			r.unknown()
		case err != nil:
			r.err = err
		}
		args = append(args, words...)
	}
	r.take(simple{words: append(args, rest...), in: c.in, more: c.more}, depth+1)
}

// su takes apart what su runs: a command for a shell or, for runuser with a user,
// without one.
func (r *reading) su(c simple, g runner, depth int) {
	options, rest := g.options(c.words[1:])
	if g.skip == 0 && options.has("u user") {
		r.take(simple{words: rest, in: c.in, more: c.more}, depth+1)
		return
	}
	g.skip = 1 // the user's name
	options, rest = g.options(c.words[1:])
	scripts := options.values(g.scripts)
	for _, s := range scripts {
		r.script(s, c.in, depth+1)
	}
	if len(scripts) == 0 {
		args := append([]word{{text: "sh", known: true}}, rest...)
		r.shell(simple{words: args, in: c.in, more: c.more}, depth+1)
	}
}
