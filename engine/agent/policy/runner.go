package policy

import "strings"

// A runKind is the way a runner gets its command.
type runKind int

const (
	runArguments runKind = iota // the arguments after its options are a command
	runShell                    // a script, run by a shell
	runInput                    // like runArguments, plus words it reads
	runExec                     // -exec of find
)

// A runner is a program that runs other commands. Options are letters and names, separated by
// blanks.
type runner struct {
	name    string
	how     runKind
	grammar grammar // of a shell
	valued  string  // options with a value
	skip    int     // number of arguments before the command
	assigns bool    // NAME=VALUE may precede the command
	nothing string  // options that prevent it from running anything
	unclear string  // options that hide the command
	shell   string  // options that make it a shell if no command follows
}

// runners are the programs whose arguments are parsed. All other known programs that run commands
// are in unclearRunners.
var runners = []runner{
	{name: "sh", how: runShell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "dash", how: runShell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "ash", how: runShell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "bash", how: runShell, grammar: bash, valued: "o O rcfile init-file"},
	{name: "find", how: runExec},
	{name: "xargs", how: runInput, valued: "a d E I L n P s arg-file delimiter max-args max-chars max-procs process-slot-var"},
	{name: "env", assigns: true, valued: "u C a S unset chdir argv0 split-string", unclear: "S split-string"},
	{name: "sudo", assigns: true, valued: "u g p C h D R r t T U user group prompt chdir chroot role type host other-user close-from command-timeout",
		nothing: "l v K V e list validate edit", shell: "s i shell login"},
	{name: "nohup"},
	{name: "nice", valued: "n adjustment"},
	{name: "timeout", valued: "k s kill-after signal", skip: 1},
}

// unclearRunners are further programs and builtins that run commands. Their options are not known
// here, so their commands count as unknown.
var unclearRunners = []string{
	".", "alias", "at", "batch", "bind", "builtin", "busybox", "chroot", "chrt", "command", "compgen", "complete", "coproc", "csh", "dbus-run-session",
	"doas", "enable", "eval", "exec", "fakeroot", "fc", "fish", "flock", "gosu", "hash", "ionice", "ksh", "lksh", "ltrace", "mapfile", "mksh", "nocorrect",
	"noglob", "nsenter", "nu", "parallel", "pkexec", "posh", "prlimit", "rbash", "readarray", "repeat", "runuser", "script", "setpriv", "setsid", "source",
	"stdbuf", "strace", "su", "su-exec", "systemd-inhibit", "systemd-run", "taskset", "tcsh", "time", "toybox", "trap", "unbuffer", "unshare", "watch",
	"yash", "zsh",
}

// findRunner returns the runner with a program's name.
func findRunner(program string) (runner, bool) {
	for _, g := range runners {
		if g.name == program {
			return g, true
		}
	}
	return runner{}, false
}

// An option is one option on a command line. If it has no value, value is an unknown word.
type option struct {
	name  string
	value word
}

type optionList []option

// values returns the values of the options named in list.
func (l optionList) values(list string) (values []word) {
	for _, o := range l {
		if inList(list, o.name) {
			values = append(values, o.value)
		}
	}
	return values
}

// has reports whether one of the options in list is present.
func (l optionList) has(list string) bool { return len(l.values(list)) > 0 }

// inList reports whether an option is in a list; a long name may be abbreviated.
func inList(list, name string) bool {
	for known := range strings.FieldsSeq(list) {
		if known == name || len(name) > 1 && len(known) > 1 && strings.HasPrefix(known, name) {
			return true
		}
	}
	return false
}

// readOptions parses the options, and skips variables set for the command and the arguments before
// it. sure is false if a word may become several, because that could hide the start of the command.
func (g runner) readOptions(args []word) (options optionList, rest []word, sure bool) {
	all, skip := args, g.skip
	for len(args) > 0 {
		a := args[0].text
		switch {
		case a == "--":
			args = args[min(1+skip, len(args)):]
			return options, args, areSingleWords(all[:len(all)-len(args)])
		// An unknown word may be an option or the command itself.
		case !args[0].known && skip == 0:
			return options, args, areSingleWords(all[:len(all)-len(args)])
		case a == "-":
			args = args[1:]
		case strings.HasPrefix(a, "-"):
			var some optionList
			some, args = g.readOption(args)
			options = append(options, some...)
		case g.assigns && strings.Contains(a, "=") && !strings.HasPrefix(a, "/"):
			args = args[1:]
		case skip > 0:
			skip--
			args = args[1:]
		default:
			return options, args, areSingleWords(all[:len(all)-len(args)])
		}
	}
	return options, nil, areSingleWords(all)
}

// areSingleWords reports whether each word stays a single one.
func areSingleWords(words []word) bool {
	for _, w := range words {
		if !w.known && !w.one {
			return false
		}
	}
	return true
}

// readOption parses a long option, or a group of letters. The last letter may have a value in the
// same word or the next.
func (g runner) readOption(args []word) (options optionList, rest []word) {
	if name, ok := strings.CutPrefix(args[0].text, "--"); ok {
		name, value, has := strings.Cut(name, "=")
		switch {
		case has:
			return optionList{{name, word{text: value, known: args[0].known}}}, args[1:]
		case len(args) > 1 && inList(g.valued, name):
			return optionList{{name, args[1]}}, args[2:]
		}
		return optionList{{name: name}}, args[1:]
	}
	letters := args[0].text[1:]
	for i := range len(letters) {
		name, value := letters[i:i+1], letters[i+1:]
		switch {
		case !inList(g.valued, name):
			options = append(options, option{name: name})
			continue
		case value != "":
			return append(options, option{name, word{text: value, known: args[0].known}}), args[1:]
		case len(args) > 1:
			return append(options, option{name, args[1]}), args[2:]
		}
		return append(options, option{name: name}), nil
	}
	return options, args[1:]
}
