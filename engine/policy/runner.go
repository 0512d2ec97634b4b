package policy

import "strings"

// A how says what a runner runs.
type how int

const (
	arguments how = iota // the arguments behind its options are a command
	shell                // a script, as a shell does
	input                // like arguments, with more that it reads
	executes             // find's -exec
)

// A runner is a program that runs other commands. Options are letters and names,
// with blanks between them.
type runner struct {
	name    string
	how     how
	grammar grammar // of a shell
	valued  string  // options that take a value
	skip    int     // arguments before the command
	assigns bool    // NAME=VALUE may stand before the command
	nothing string  // options with which it runs nothing
	unclear string  // options with which only it knows what it runs
	shell   string  // options with which it is a shell if no command follows
}

// runners are the programs whose arguments are read. All others that are known to run
// commands are in unclearRunners.
var runners = []runner{
	{name: "sh", how: shell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "dash", how: shell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "ash", how: shell, grammar: posix, valued: "o O rcfile init-file"},
	{name: "bash", how: shell, grammar: bash, valued: "o O rcfile init-file"},
	{name: "find", how: executes},
	{name: "xargs", how: input, valued: "a d E I L n P s arg-file delimiter max-args max-chars max-procs process-slot-var"},
	{name: "env", assigns: true, valued: "u C a S unset chdir argv0 split-string", unclear: "S split-string"},
	{name: "sudo", assigns: true, valued: "u g p C h D R r t T U user group prompt chdir chroot role type host other-user close-from command-timeout",
		nothing: "l v K V e list validate edit", shell: "s i shell login"},
	{name: "nohup"},
	{name: "nice", valued: "n adjustment"},
	{name: "timeout", valued: "k s kill-after signal", skip: 1},
}

// unclearRunners are programs and builtins that run other commands too. Their options are
// not known here, so what they run counts as unknown.
var unclearRunners = []string{
	".", "alias", "at", "batch", "bind", "builtin", "busybox", "chroot", "chrt", "command", "compgen", "complete", "coproc", "csh", "dbus-run-session",
	"doas", "enable", "eval", "exec", "fakeroot", "fc", "fish", "flock", "gosu", "hash", "ionice", "ksh", "lksh", "ltrace", "mapfile", "mksh", "nocorrect",
	"noglob", "nsenter", "nu", "parallel", "pkexec", "posh", "prlimit", "rbash", "readarray", "repeat", "runuser", "script", "setpriv", "setsid", "source",
	"stdbuf", "strace", "su", "su-exec", "systemd-inhibit", "systemd-run", "taskset", "tcsh", "time", "toybox", "trap", "unbuffer", "unshare", "watch",
	"yash", "zsh",
}

// runnerOf finds the runner that a program is.
func runnerOf(program string) (runner, bool) {
	for _, g := range runners {
		if g.name == program {
			return g, true
		}
	}
	return runner{}, false
}

// An option of a command; one that has no value has an unknown one.
type option struct {
	name  string
	value word
}

type optionList []option

// values are those of the options of a list.
func (l optionList) values(list string) (values []word) {
	for _, o := range l {
		if listed(list, o.name) {
			values = append(values, o.value)
		}
	}
	return values
}

// has reports whether one of the options of a list is there.
func (l optionList) has(list string) bool { return len(l.values(list)) > 0 }

// listed reports whether an option is in a list; a long one may be cut short.
func listed(list, name string) bool {
	for known := range strings.FieldsSeq(list) {
		if known == name || len(name) > 1 && len(known) > 1 && strings.HasPrefix(known, name) {
			return true
		}
	}
	return false
}

// options reads the options, and leaves out variables that are set for the
// command and the arguments before it. What may become several words could hide
// where the command begins: then it is not sure.
func (g runner) options(args []word) (options optionList, rest []word, sure bool) {
	all, skip := args, g.skip
	for len(args) > 0 {
		a := args[0].text
		switch {
		case a == "--":
			args = args[min(1+skip, len(args)):]
			return options, args, surely(all[:len(all)-len(args)])
		case !args[0].known && skip == 0:
			return options, args, surely(all[:len(all)-len(args)])
		case a == "-":
			args = args[1:]
		case strings.HasPrefix(a, "-"):
			var some optionList
			some, args = g.option(args)
			options = append(options, some...)
		case g.assigns && strings.Contains(a, "=") && !strings.HasPrefix(a, "/"):
			args = args[1:]
		case skip > 0:
			skip--
			args = args[1:]
		default:
			return options, args, surely(all[:len(all)-len(args)])
		}
	}
	return options, nil, surely(all)
}

// surely reports whether all words stay one each.
func surely(words []word) bool {
	for _, w := range words {
		if !w.known && !w.one {
			return false
		}
	}
	return true
}

// option reads an option with a name, or some of a letter each, the last of
// which may have a value in the same word or the next.
func (g runner) option(args []word) (options optionList, rest []word) {
	if name, ok := strings.CutPrefix(args[0].text, "--"); ok {
		name, value, has := strings.Cut(name, "=")
		switch {
		case has:
			return optionList{{name, word{text: value, known: args[0].known}}}, args[1:]
		case len(args) > 1 && listed(g.valued, name):
			return optionList{{name, args[1]}}, args[2:]
		}
		return optionList{{name: name}}, args[1:]
	}
	letters := args[0].text[1:]
	for i := range len(letters) {
		name, value := letters[i:i+1], letters[i+1:]
		switch {
		case !listed(g.valued, name):
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
