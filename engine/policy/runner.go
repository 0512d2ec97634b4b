package policy

import (
	"slices"
	"strings"
)

// A runner is a program that runs the command behind its options. Its lists
// hold letters and names of options, with blanks between them.
type runner struct {
	valued  string // options with a value
	plain   string // options without, whose names are the beginnings of such ones
	scripts string // options with a text for a shell as value
	assigns bool   // variables for the command may stand before it
	skip    int    // arguments before the command
	nothing string // options with which it runs no command
	shell   string // options with which it is a shell if it has no command; "*": without any
	joined  bool   // its arguments, joined, are a text for a shell
	direct  string // options with which they are not
	until   string // the word that ends that text
	file    bool   // its first argument is a file with commands
	input   bool   // what it reads are commands
}

// What su and runuser share.
const (
	suOptions = "g G s w T group supp-group shell whitelist-environment"
	suScripts = "c command session-command"
)

// runners are the programs whose options all are read in the same way.
var runners = map[string]runner{
	"command": {nothing: "v V"}, "builtin": {}, "exec": {valued: "a"}, "and": {}, "or": {}, "not": {},
	"nohup": {}, "setsid": {}, "busybox": {}, "toybox": {}, "dbus-run-session": {valued: "config-file dbus-daemon"}, "unbuffer": {},
	"time": {valued: "f o format output"}, "nice": {valued: "n adjustment"},
	"ionice":  {valued: "c n class classdata", nothing: "p P u pid pgid uid"},
	"timeout": {valued: "k s kill-after signal", skip: 1}, "stdbuf": {valued: "i o e input output error"},
	"taskset": {skip: 1, nothing: "p pid"}, "prlimit": {valued: "o output", nothing: "p pid"},
	"chrt": {valued: "T P D sched-runtime sched-period sched-deadline", skip: 1, nothing: "p m pid max"},
	"sudo": {assigns: true, valued: "u g p C h D R r t T U user group prompt chdir chroot role type host other-user close-from command-timeout",
		nothing: "l v K V e list validate edit", shell: "s i shell login"},
	"doas": {valued: "u C", shell: "s"}, "pkexec": {valued: "user", shell: "*"}, "gosu": {skip: 1}, "su-exec": {skip: 1},
	"su":      {valued: suOptions, scripts: suScripts, skip: 1},
	"runuser": {valued: "u user " + suOptions, scripts: suScripts},
	"env":     {assigns: true, valued: "u C a S unset chdir argv0 split-string"},
	"xargs":   {valued: "a d E I L n P s arg-file delimiter max-args max-chars max-procs process-slot-var"},
	"chroot":  {valued: "groups userspec", skip: 1, shell: "*"},
	"unshare": {valued: "R w S G l root wd setuid setgid propagation setgroups map-user map-group map-users map-groups owner load-interp monotonic boottime",
		shell: "*"},
	"nsenter":  {valued: "t S G W target setuid setgid wdns", plain: "wd", shell: "*"},
	"fakeroot": {valued: "l i s b lib faked", shell: "*"},
	"setpriv": {valued: "ruid euid reuid rgid egid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig " +
		"ptracer selinux-label apparmor-profile landlock-access landlock-rule seccomp-filter"},
	"systemd-run": {valued: "H M p u E C property unit slice description host machine uid gid nice working-directory setenv service-type " +
		"on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar timer-property path-property socket-property " +
		"expand-environment background job-mode lightweight area json", shell: "S shell"},
	"systemd-inhibit": {valued: "what who why mode"},
	"strace": {valued: "a b e E I o O p P s S u U X attach env output user trace trace-path abbrev verbose raw signal status read write kvm " +
		"inject fault detach-on interruptible columns string-limit const-print-style argv0 summary-syscall-overhead summary-sort-by summary-columns",
		plain: "summary", nothing: "p attach"},
	"ltrace": {valued: "a A e l n o p s u w x F align config indent library output where", nothing: "p"},
	"flock":  {valued: "w E timeout wait conflict-exit-code", scripts: "c command", skip: 1},
	"script": {valued: "E I B O T m o log-in log-out log-io log-timing logging-format echo output-limit", scripts: "c command",
		skip: 1, shell: "*"},
	"watch": {valued: "n q s interval equexit shotsdir", joined: true, direct: "x exec"},
	"parallel": {valued: "j P I a S n N L s d C E jobs max-procs arg-file sshlogin max-args delimiter colsep delay timeout joblog results tmpdir " +
		"retries halt load memfree memsuspend workdir tagstring env basefile return sshloginfile ssh block recstart recend trim nice limit " +
		"compress-program arg-sep arg-file-sep rpl profile header group-by max-chars max-line-length transferfile trc total-jobs",
		plain: "tag", joined: true, until: ":::", shell: "*"},
	"fish": {valued: "d f o D p debug features debug-output debug-stack-frames profile profile-startup",
		scripts: "c C command init-command", file: true},
	"nu": {valued: "I m log-level config env-config include-path", scripts: "c e commands execute", file: true},
	"at": {input: true}, "batch": {input: true},
}

// An option of a command; one that has no value has an unknown one.
type option struct {
	name  string
	value word
}

type optionList []option

// has reports whether one of the options of a list is there.
func (l optionList) has(list string) bool {
	for _, o := range l {
		if _, ok := listed(list, o.name); ok {
			return true
		}
	}
	return false
}

// values are those of the options of a list.
func (l optionList) values(list string) (values []word) {
	for _, o := range l {
		if _, ok := listed(list, o.name); ok {
			values = append(values, o.value)
		}
	}
	return values
}

// listed finds an option in a list; a long one may be cut short.
func listed(list, name string) (full string, ok bool) {
	for known := range strings.FieldsSeq(list) {
		if known == name || len(name) > 1 && len(known) > 1 && strings.HasPrefix(known, name) {
			return known, true
		}
	}
	return "", false
}

// takesValue finds an option that has a value.
func (g runner) takesValue(name string) (full string, ok bool) {
	if slices.Contains(strings.Fields(g.plain), name) {
		return "", false
	}
	if full, ok = listed(g.valued, name); ok {
		return full, true
	}
	return listed(g.scripts, name)
}

// options reads the options, and leaves out variables that are set for the
// command and the arguments before it.
func (g runner) options(args []word) (options optionList, rest []word) {
	skip := g.skip
	for len(args) > 0 {
		a := args[0].text
		switch {
		case a == "--":
			args = args[1:]
			return options, args[min(skip, len(args)):]
		case a == "-":
			args = args[1:]
		case strings.HasPrefix(a, "--"):
			var o option
			o, args = g.long(args)
			options = append(options, o)
		case strings.HasPrefix(a, "-"):
			var some optionList
			some, args = g.cluster(args)
			options = append(options, some...)
		case g.assigns && strings.Contains(a, "=") && !strings.HasPrefix(a, "/"):
			args = args[1:]
		case skip > 0:
			skip--
			args = args[1:]
		default:
			return options, args
		}
	}
	return options, nil
}

// long reads an option with a name.
func (g runner) long(args []word) (o option, rest []word) {
	name, value, has := strings.Cut(args[0].text[2:], "=")
	full, valued := g.takesValue(name)
	switch {
	case has:
		o, rest = option{name, word{text: value, known: args[0].known}}, args[1:]
	case valued && len(args) > 1:
		o, rest = option{name, args[1]}, args[2:]
	default:
		o, rest = option{name: name}, args[1:]
	}
	if valued {
		o.name = full
	}
	return o, rest
}

// cluster reads options of a letter each; the last may have a value, in the same
// word or the next.
func (g runner) cluster(args []word) (options optionList, rest []word) {
	letters := args[0].text[1:]
	for i := range len(letters) {
		name := letters[i : i+1]
		if _, valued := g.takesValue(name); !valued {
			options = append(options, option{name: name})
			continue
		}
		if value := letters[i+1:]; value != "" {
			return append(options, option{name, word{text: value, known: args[0].known}}), args[1:]
		}
		if len(args) > 1 {
			return append(options, option{name, args[1]}), args[2:]
		}
		return append(options, option{name: name}), nil
	}
	return options, args[1:]
}
