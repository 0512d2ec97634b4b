package policy

import "strings"

// A how says what a runner runs.
type how int

const (
	arguments how = iota // the arguments behind its options are a command
	shell                // a script, as a shell does
	script               // its arguments, joined, are a script
	words                // like arguments, with NAME=VALUE and -S before it
	input                // like arguments, with more that it reads
	executes             // find's -exec
	sourced              // a file, in the same shell
	trapped              // its first argument is a script
	renamed              // NAME=SCRIPT
	something            // what only it knows
)

// A runner is a program or builtin that runs other commands. Options are
// letters and names, with blanks between them.
type runner struct {
	name    string
	how     how
	grammar grammar // of a shell
	valued  string  // options that take a value
	skip    int     // arguments before the command
	script  string  // options whose value is a script
	nothing string  // options with which it runs nothing
	only    string  // options without which it runs nothing
	shell   string  // options with which it is a shell if no command follows; "*": without any
}

// runners are all programs that are known to run others. Where reading their
// options would take more than a line, what they run counts as unknown.
var runners = []runner{
	{name: "sh", how: shell, grammar: posix},
	{name: "dash", how: shell, grammar: posix},
	{name: "ash", how: shell, grammar: posix},
	{name: "posh", how: shell, grammar: posix},
	{name: "bash", how: shell, grammar: bash},
	{name: "rbash", how: shell, grammar: bash},
	{name: "mksh", how: shell, grammar: mksh},
	{name: "lksh", how: shell, grammar: mksh},
	{name: "ksh", how: shell, grammar: mksh},
	{name: "zsh", how: shell, grammar: zsh},
	{name: "eval", how: script},
	{name: "source", how: sourced},
	{name: ".", how: sourced},
	{name: "trap", how: trapped},
	{name: "alias", how: renamed},
	{name: "find", how: executes},
	{name: "xargs", how: input, valued: "a d E I L n P s arg-file delimiter max-args max-chars max-procs process-slot-var"},
	{name: "env", how: words, valued: "u C a S unset chdir argv0 split-string"},
	{name: "sudo", how: words, valued: "u g p C h D R r t T U user group prompt chdir chroot role type host other-user close-from command-timeout",
		nothing: "l v K V e list validate edit", shell: "s i shell login"},
	{name: "doas", valued: "u C", shell: "s"},
	{name: "command", nothing: "v V"},
	{name: "builtin"},
	{name: "exec", valued: "a"},
	{name: "coproc", how: something},
	{name: "noglob"},
	{name: "nocorrect"},
	{name: "busybox"},
	{name: "toybox"},
	{name: "nohup"},
	{name: "setsid"},
	{name: "repeat", skip: 1},
	{name: "time", valued: "f o format output"},
	{name: "nice", valued: "n adjustment"},
	{name: "ionice", valued: "c n class classdata", nothing: "p P u pid pgid uid"},
	{name: "taskset", skip: 1, nothing: "p pid"},
	{name: "timeout", valued: "k s kill-after signal", skip: 1},
	{name: "stdbuf", valued: "i o e input output error"},
	{name: "flock", valued: "w E timeout wait conflict-exit-code", skip: 1, script: "c command"},
	{name: "chroot", valued: "groups userspec", skip: 1, shell: "*"},
	{name: "fd", how: something, only: "x X exec exec-batch"},
	{name: "fdfind", how: something, only: "x X exec exec-batch"},
	{name: "hash", how: something, only: "p"},
	{name: "enable", how: something, only: "f"},
	{name: "bind", how: something, only: "x"},
	{name: "mapfile", how: something, only: "C"},
	{name: "readarray", how: something, only: "C"},
	{name: "complete", how: something, only: "C F"},
	{name: "compgen", how: something, only: "C F"},
	{name: "fc", how: something},
	{name: "su", how: something},
	{name: "runuser", how: something},
	{name: "pkexec", how: something},
	{name: "gosu", how: something},
	{name: "su-exec", how: something},
	{name: "setpriv", how: something},
	{name: "unshare", how: something},
	{name: "nsenter", how: something},
	{name: "fakeroot", how: something},
	{name: "systemd-run", how: something},
	{name: "systemd-inhibit", how: something},
	{name: "dbus-run-session", how: something},
	{name: "strace", how: something},
	{name: "ltrace", how: something},
	{name: "chrt", how: something},
	{name: "prlimit", how: something},
	{name: "unbuffer", how: something},
	{name: "watch", how: something},
	{name: "script", how: something},
	{name: "parallel", how: something},
	{name: "at", how: something},
	{name: "batch", how: something},
	{name: "yash", how: something},
	{name: "fish", how: something},
	{name: "csh", how: something},
	{name: "tcsh", how: something},
	{name: "nu", how: something},
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
		case g.how == words && strings.Contains(a, "=") && !strings.HasPrefix(a, "/"):
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
	valued := g.valued + " " + g.script
	if name, ok := strings.CutPrefix(args[0].text, "--"); ok {
		name, value, has := strings.Cut(name, "=")
		switch {
		case has:
			return optionList{{name, word{text: value, known: args[0].known}}}, args[1:]
		case len(args) > 1 && listed(valued, name):
			return optionList{{name, args[1]}}, args[2:]
		}
		return optionList{{name: name}}, args[1:]
	}
	letters := args[0].text[1:]
	for i := range len(letters) {
		name, value := letters[i:i+1], letters[i+1:]
		switch {
		case !listed(valued, name):
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
