package policy

import (
	"slices"
	"strings"
	"testing"
)

// hidden are commands that certainly run rm -rf.
var hidden = []string{
	"bash -c 'rm -rf zz'", "bash -o pipefail -c 'rm -rf zz'", "bash -euo pipefail -c 'rm -rf zz'", "bash +x -c 'rm -rf zz'",
	"bash +o posix -c 'rm -rf zz'", "bash -O extglob -c 'rm -rf zz'", "bash +O extglob -ec 'rm -rf zz'", "bash --rcfile /x -c 'rm -rf zz'",
	"bash --init-file x --norc -c 'rm -rf zz'", "bash -c -- 'rm -rf zz'", "bash -c -e 'rm -rf zz'", "bash -oc pipefail 'rm -rf zz'",
	"/bin/bash --login -xc 'rm -rf zz' name", "zsh --emulate sh -c 'rm -rf zz'", "dash -ec 'rm -rf zz'", "ash -c 'rm -rf zz'", "mksh -c 'rm -rf zz'",
	"sh -c \"sh -c 'rm -rf zz'\"", "ksh -c '[[ a ]] && rm -rf zz'", "sh -c '((rm -rf + zz))'", "((rm -rf + zz))",

	"find . -exec rm -rf {} +", "find . -exec rm -rf {} ';'", "find . -execdir rm -rf {} \\;", "find . -ok rm -rf {} \\;",
	"find . -okdir rm -rf {} \\;", "find . -exec ls {} \\; -exec rm -rf {} +", "find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
	"find . -exec ls + -exec rm -rf {} \\; ';' -exec rm -rf {} +", "find . -exec rm -rf",

	"env -i A=b rm -rf zz",
	"env -u A -C /x rm -rf zz", "env --unset A --chdir=/x rm -rf zz", "env - rm -rf zz",

	"bash <<<'rm -rf zz'", "bash <<EOF\nrm -rf zz\nEOF", "bash <<'EOF'\nrm -rf zz\nEOF", "bash <<-EOF\n\trm -rf zz\n\tEOF",
	"bash <<EOF\necho \\\"; rm -rf zz; echo \\\"\nEOF", "bash -s a b <<<'rm -rf zz'", "bash - <<<'rm -rf zz'", "bash -x /dev/stdin <<<'rm -rf zz'",
	"bash /dev/fd/3 3<<<'rm -rf zz'", "{ bash; } <<<'rm -rf zz'", "while true; do bash; done <<EOF\nrm -rf zz\nEOF", "sudo bash <<<'rm -rf zz'",
	"bash -c bash <<<'rm -rf zz'", "eval bash <<<'rm -rf zz'", "bash 3<<<'rm -rf zz' <&3",

	"trap 'rm -rf zz' EXIT", "trap -- 'rm -rf zz' EXIT INT", "alias x='rm -rf zz'", "alias -- y=1 x='sudo rm -rf zz'",
	"eval rm -rf zz", "eval -- 'rm -rf zz'", "eval 'rm' '-rf zz'", "builtin eval 'rm -rf zz'", "eval ::: ';rm -rf zz'",

	"flock F rm -rf zz", "flock -n -w 5 F rm -rf zz", "chroot /x rm -rf zz", "unshare rm -rf zz", "nsenter -t 1 -m rm -rf zz",
	"strace -f -o x rm -rf zz", "systemd-run --user -p A=b rm -rf zz", "parallel -j 4 rm -rf {} ::: a b", "prlimit --nofile=5 rm -rf zz",
	"runuser -u x -- rm -rf zz", "fd x -x rm -rf", "fd --exec-batch rm -rf", "fd -Hx rm -rf {} ';'",
	"chroot --userspec x:y --groups z /x rm -rf zz",
	"timeout 5 rm -rf zz", "timeout -k 3 -s KILL 5 rm -rf zz", "timeout --signal KILL 5 rm -rf zz", "timeout --sig KILL 5 rm -rf zz",
	"nice rm -rf zz", "nice -n 5 rm -rf zz", "nice -5 rm -rf zz", "nohup rm -rf zz", "setsid -f rm -rf zz", "ionice -c2 -n 7 rm -rf zz",
	"xargs rm -rf", "ls | xargs -0 -n 1 rm -rf", "ls | xargs -I {} rm -rf {}", "ls | xargs -l rm -rf", "ls | xargs -i rm -rf {}",
	"sudo rm -rf zz", "sudo -nu root rm -rf zz", "sudo --user root -E rm -rf zz", "sudo --login rm -rf zz", "sudo A=b rm -rf zz", "doas -u x rm -rf zz",
	"time rm -rf zz", "time -p rm -rf zz", "\\time -f x rm -rf zz", "command rm -rf zz", "command -p -- rm -rf zz", "builtin exec rm -rf zz",
	"exec -a x rm -rf zz", "stdbuf -oL -i 0 rm -rf zz", "taskset 1 rm -rf zz", "busybox rm -rf zz", "zsh -c 'noglob rm -rf zz'",
	"sudo nice -n 5 timeout 3 env A=b bash -euo pipefail -c 'nohup rm -rf zz'",
	"bash -c '(' ; rm -rf zz", "f() { rm -rf zz; }", "f() { rm -rf zz; }; export -f f; bash -c f", "coproc rm -rf zz", "coproc X { rm -rf zz; }",
	"echo ${x:-$(rm -rf zz)}", "cat <<EOF\n$(rm -rf zz)\nEOF", "cat <(rm -rf zz)", "a=$(rm -rf zz)", "a=($(rm -rf zz))", "echo $(( $(rm -rf zz) ))",
	"[[ -n $(rm -rf zz) ]]", "case $(rm -rf zz) in esac", "export A=$(rm -rf zz)", "echo \"`rm -rf zz`\"", "for x in $(rm -rf zz); do :; done",

	"csh -c 'rm -rf zz'", "fish -c 'rm -rf zz'", "fish -C 'rm -rf zz'", "fish --command='rm -rf zz'", "nu -c 'rm -rf zz'", "zsh -c '=rm -rf zz'",
	". /dev/stdin <<<'rm -rf zz'", "exec <<<'rm -rf zz'; bash", "at now <<<'rm -rf zz'", "batch <<EOF\nrm -rf zz\nEOF", "flock F -c 'rm -rf zz'", "flock --timeout 5 F --command 'rm -rf zz'", "watch -n 5 'ls; rm -rf zz'",
	"su -c 'rm -rf zz'", "su - root -lc 'rm -rf zz'", "script -qc 'rm -rf zz' /dev/null", "mapfile -C 'rm -rf zz' -c 1 a", "complete -C 'rm -rf zz' x",
	"command -v rm -rf", "command eval rm '-rf zz'", "zsh -c 'rm -rf zz' \"it's\"", "trap 'rm -rf zz' EXIT \"it's\"", "exec bash <<<'rm -rf zz'",
}

// doubtful are commands that may run rm -rf, as far as parsing shows.
var doubtful = []string{
	"$CMD", "\"$CMD\"", "rm $FLAGS", "rm \"$@\"", "r? -rf zz", "{rm,-rf,zz}", "rm -{rf,x} zz", "/bin/r[m] -rf zz", "$'rm' -rf zz", "sh -c \"$'rm' -rf zz\"", "$(which rm) -rf zz",
	"sh -c \"$X\"", "sh -c -$X", "sh $FLAGS 'rm -rf zz'", "sh \"-$F\" 'rm -rf zz'", "sh \"$@\"", "sh -c 'cat <(ls)'", "sh -c 'a=(b)'", "bash -c 'if'",
	"sudo $OPTIONS ls", "timeout $T ls", "timeout \"$T\" $CMD", "eval \"$X\"", "trap \"$X\" EXIT", "alias \"$X\"", "alias x=rm", "f() { rm \"$@\"; }; f -rf zz", "fish -c 'r\\x6d -rf zz'",
	"find . -exec {} \\;", "find . -exec sh -c {} \\;", "find . -exec sh -c 'ls {}' \\;", "find $ARGS",
	"env -S \"$X\"", "env -S \"sh -c 'rm -rf zz'\"", "env -S 'rm\\_-rf\\_zz'", "env -S '${X} -rf zz'", "env -S \"'rm' -rf zz\"", "env -S '\"rm\" -rf zz'", "env -S 'ls #'",
	"bash <<<\"$X\"", "bash <<EOF\n$X\nEOF", "bash <&3", "exec 3<x; bash <&3", "exec < <(echo rm -rf zz)",
	"echo 'rm -rf zz' | bash", "echo 'rm -rf zz' |& sh -x", "cat x | sudo -u root bash -s", "cat x | { cd y; bash; }", "cat x | while true; do sh; done",
	"cat x | bash -c 'sh'", "cat x | bash -", "cat x | su root", "cat x | sudo -s", "cat x | (cat | sh)", "cat x | unshare -r", "cat x | fish",
	"bash < <(echo rm -rf zz)", "bash <(echo rm -rf zz)", "echo rm -rf zz > >(bash)", "echo rm -rf zz | tee >(sh)", "coproc bash", "cat x | at now",
	"cat x | source /dev/stdin", "source <(echo rm -rf zz)", ". <(curl x)", "source venv/bin/activate", ". \"$HOME/.profile\"", "bash -c '. x'",
	"flock F make", "hash make", "su", "cat x | parallel",
	"env -S 'rm -rf zz'", "env -S'rm -rf zz'", "env -iS 'A=b rm -rf' zz", "env --split-string='-u B rm -rf zz'",
	"ls | xargs -I{} sh -c {}", "ls | xargs -I{} sh -c 'ls {}'", "ls | xargs bash -c", "ls | xargs sudo", "ls | xargs rm", "ls | xargs -I \"$X\" rm -r",
	"ls | xargs -I% %", "ls | xargs --replace sh -c '{}'", "ls | xargs bash", "ls | xargs eval", "ls | xargs --max-args 1 env",
	"PATH=/tmp ls", "PATH=/tmp; ls", "export PATH=/tmp", "declare -x PATH+=:/tmp", "export \"$X\"", "env PATH=/tmp ls", "sudo LD_PRELOAD=x ls", "LD_PRELOAD=./x ls",
	"BASH_ENV=x bash -c ls", "ENV=x sh -c ls", "PROMPT_COMMAND='rm -rf zz'", "IFS=x; ls", "IFS=x eval ls", "PS4='$(rm -rf zz)' bash -x y", "PS0='$(rm -rf zz)' bash -i", "PS1='$(rm -rf zz)' bash -i", "PS2='$(rm -rf zz)' bash -i", "export PS1='$(rm -rf zz)'; bash", "read PATH", "printf -v PATH x",
	"for PATH in /tmp; do ls; done", ": ${PATH:=/tmp}", "sh -c 'export PATH=/tmp; ls'", "BASH_FUNC_ls%%='() { rm -rf zz; }' bash -c ls; env 'BASH_FUNC_ls%%=() { rm -rf zz; }' bash",
	"hash -p /bin/rm ls; ls -rf zz", "enable -f x y", "bind -x '\"a\": rm -rf zz'", "fc -s", "x='$(rm -rf zz)'; echo ${x@P}",
	"trap - EXIT", "trap '' INT", "trap -p", "trap 'rm -f zz' EXIT", "alias ll='ls -la'", "alias", "exec >log 2>&1", "command -v rm",
}

// harmless are commands that only mention rm -rf.
var harmless = []string{
	"grep -c bash -o x", "grep rm -rf x", "find . -name rm", "find . -name rm -newer -rf", "find . -exec rm {} +", "find . -name '*.o' -exec ls {} \\;",
	"find . -name *.o", "find \"$DIR\" -name x",
	"echo watch rm -rf zz", "ls watch", "git commit -m 'rm -rf zz'", "printf '%s' bash -c 'rm -rf zz'", "man bash", "which bash sudo rm",
	"sudo -l rm -rf", "bash script.sh rm -rf", "bash ./x -c 'rm -rf zz'", "bash \"$DIR/x.sh\" 'rm -rf zz'", "bash \"$f\" build",
	"bash $DIR/x.sh", "for f in a b; do sh \"$f\"; done", "cat x | bash y.sh", "bash --version", "bash < script", "cat <<EOF\nrm -rf zz\nEOF",
	"cat <<<'rm -rf zz'", "bash x <<<'rm -rf zz'", "bash -c 'cat' <<<'rm -rf zz'",
	"env A=b make", "env", "xargs -n 1 echo",
	"ls | xargs -I{} cp {} /x/{}", "timeout 5 make", "sudo -u \"$USER\" make", "nohup make &",
	"rm -r zz", "rm *.o", "ls | grep bash", "fd -e go rm", "time make", "bash <<EOF\nls\nEOF", "true | xargs",
	"echo 'rm -rf zz' > bash", "bash -o pipefail x.sh", "python3 -c 'print(1)' bash",
	"[ -f x ] && ls", "git show HEAD@{1} stash@{0}", "echo {}", "while IFS= read -r l; do ls; done", "A=b ls", "export A=\"$(ls)\"", "read -r x",
	"[[ -f x && -n $y ]] && ls", "((x > 3)) && ls", "echo $PATH",
}

func TestCommandIsFoundInsideRunners(t *testing.T) {
	for _, decision := range []Decision{Deny, Ask} {
		p := parsePolicy(t, "[[rule]]\ndecision = \""+string(decision)+"\"\ncommand = [\"rm -rf\"]")
		for want, commands := range map[Decision][]string{decision: hidden, Ask: doubtful, Allow: harmless} {
			for _, command := range commands {
				v := p.Decide(Action{Tool: "exec", Command: command, Write: true, CWD: "/w", Home: "/h"})
				if v.Decision != want || v.Decision != Allow && v.Rule != 1 {
					t.Errorf("%s: %+v, want %s", command, v, want)
				}
			}
		}
	}
}

func TestDeniedArgvIsDeniedInsideRunners(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\ncommand = [\"rm -rf\"]")
	for _, argv := range [][]string{
		{"bash", "-euo", "pipefail", "-c", "rm -rf zz"}, {"find", ".", "-exec", "rm", "-rf", "{}", ";"}, {"env", "-i", "rm", "-rf", "zz"},
		{"time", "-p", "rm", "-rf", "zz"}, {"eval", "rm -rf", "zz"},
	} {
		if v := p.Decide(Action{Argv: argv}); v.Decision != Deny {
			t.Errorf("%q: %+v", argv, v)
		}
	}
	for _, argv := range [][]string{{"echo", "|", "bash"}, {"bash", "x", "<<<", "rm -rf zz"}, {"grep", "-c", "rm -rf"}} {
		if v := p.Decide(Action{Argv: argv}); v.Decision != Allow {
			t.Errorf("%q: %+v", argv, v)
		}
	}
}

func TestAllowedCommandIsAllowedInsideRunners(t *testing.T) {
	p := parsePolicy(t, "default = \"ask\"\n[[rule]]\ndecision = \"allow\"\ncommand = [\"bash\", \"ls\", \"timeout\", \"find\", \"env\", \"cat\", \"trap\", \"watch\", \"command\"]")
	for command, want := range map[string]Decision{
		"bash -euo pipefail -c 'ls'": Allow, "timeout --signal KILL 5 ls": Allow, "find . -exec ls {} +": Allow, "env -u A LC_ALL=c ls": Allow,
		"bash <<<ls": Allow, "trap ls EXIT": Ask, "watch -n 1 ls": Ask, "command -v make": Ask,
		"bash -euo pipefail -c 'make'": Ask, "timeout --signal KILL 5 make": Ask, "find . -exec make {} +": Ask, "env -u A B=c make": Ask,
		"bash <<<make": Ask, "trap make EXIT": Ask, "watch -n 1 make": Ask, "cat x | bash": Ask, "bash <(cat x)": Ask,
	} {
		if v := p.Decide(Action{Command: command, CWD: "/w", Home: "/h"}); v.Decision != want {
			t.Errorf("%s: %+v, want %s", command, v, want)
		}
	}
}

// Unclear runners run an unknown command: a rule allowing the runner does not allow it, and a rule
// about any other program asks.
func TestUnclearRunnersCountAsUnknown(t *testing.T) {
	for _, name := range []string{"mksh", "ksh", "zsh", "eval", "source", ".", "trap", "alias", "doas", "command", "builtin", "exec", "noglob", "setsid", "time"} {
		if !slices.Contains(unclearRunners, name) {
			t.Errorf("%s is missing from unclearRunners", name)
		}
	}
	denied := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\"]")
	for _, name := range append([]string{"fd -x", "fdfind -X"}, unclearRunners...) {
		program, _, _ := strings.Cut(name, " ")
		allowed := parsePolicy(t, "default = \"ask\"\n[[rule]]\ndecision = \"allow\"\ncommand = [\""+program+"\", \"ls\", \"sh\", \"sudo\", \"-?\"]")
		for _, args := range []string{"", " ls", " -c ls", " x=ls"} {
			line := name + args
			argv := strings.Fields(line)
			for _, a := range []Action{{Argv: argv}, {Argv: append([]string{"sudo"}, argv...)}, {Command: "\\" + line}, {Command: "sh -c '\\" + line + "'"}} {
				if v := denied.Decide(a); v.Decision != Ask {
					t.Errorf("rm is denied: %q %s: %+v, want ask", a.Argv, a.Command, v)
				}
				if v := allowed.Decide(a); v.Decision != Ask {
					t.Errorf("%s and ls are allowed: %q %s: %+v, want ask", program, a.Argv, a.Command, v)
				}
			}
		}
		for _, args := range []string{"rm x", "'rm x'", "x='rm x'", "-a b rm x", "bash -c 'rm x'", "<<<'rm x'"} {
			if v := denied.Decide(Action{Command: "\\" + name + " " + args}); v.Decision != Deny {
				t.Errorf("%s %s: %+v, want deny", name, args, v)
			}
		}
	}
}

func TestDecideAsksAboutTooDeepNesting(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\ncommand = [\"rm -rf\"]")
	for _, command := range []string{strings.Repeat("sudo ", 40) + "rm -rf zz", strings.Repeat("eval ", 60) + "rm -rf zz"} {
		if v := p.Decide(Action{Command: command}); v.Decision != Ask {
			t.Errorf("%s: %+v", command, v)
		}
	}
	if v := p.Decide(Action{Command: "rm -rf zz; bash -c '('"}); v.Decision != Deny {
		t.Errorf("next to an unparsable script: %+v", v)
	}
}

// The parsed text is limited by the length of the command, however often it repeats.
func TestParsingIsLimited(t *testing.T) {
	const n = 5000
	for name, command := range map[string]string{
		"one text for many shells": "{ " + strings.Repeat("sh;", n) + "} <<<'" + strings.Repeat("ls;", n) + "'",
		"many texts":               "{ " + strings.Repeat("sh;", n) + "} " + strings.Repeat("3<<<a ", n),
		"shells in shells":         strings.Repeat("sh -c 'ls';", n),
		"evals":                    strings.Repeat("eval x;", n),
		"aliases":                  "alias" + strings.Repeat(" a=b", n),
		"executions":               "find" + strings.Repeat(" -exec ls", n),
		"arguments":                "env" + strings.Repeat(" -S x", n),
		"runners":                  strings.Repeat("sudo ", n),
		"what a program may run":   "flock" + strings.Repeat(" a", n),
	} {
		r := newAnalysis(len(command), "/h")
		r.parseScript(word{text: command, known: true}, bash, stdin{}, 0)
		words := 0
		for _, c := range r.found {
			for _, start := range c.starts() {
				words += len(start.words)
			}
		}
		if len(r.found) > parseFactor*len(command) || words > maxTails*len(command) {
			t.Errorf("%s: %d left, %d found of %d bytes: %v", name, r.left, len(r.found), len(command), r.err)
		}
		if failed := r.left < 0; failed != (r.err != nil) && name != "runners" {
			t.Errorf("%s: %d left, %v", name, r.left, r.err)
		}
		if r.err != nil && name != "one text for many shells" && name != "many texts" && name != "runners" {
			t.Errorf("%s: %v", name, r.err)
		}
	}
}

func FuzzRunnersDoNotRelaxDecisions(f *testing.F) {
	for _, s := range slices.Concat(hidden, doubtful, harmless) {
		f.Add(s)
	}
	p, err := Parse([]byte("[[rule]]\ndecision = \"deny\"\ncommand = [\"rm -rf\"]"))
	if err != nil {
		f.Fatal(err)
	}
	decide := func(command string) Decision {
		return p.Decide(Action{Tool: "exec", Command: command, CWD: "/", Home: "/home/u"}).Decision
	}
	f.Fuzz(func(t *testing.T, command string) {
		if strings.Contains(command, "((") || strings.Contains(command, "[[") {
			return // shells differ about it
		}
		bare := decide(command)
		if bare == Allow || len(command) > maxCommand/4 || strings.Contains(command, "\x00") || command[0] == '-' || command[0] == '+' {
			return // text starting like an option would become one
		}
		quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
		for _, around := range []string{"bash -euo pipefail -c %", "bash <<<%", "trap -- % EXIT", "su -c % x", "watch %", "sudo -n env -i bash -c %"} {
			if got := decide(strings.Replace(around, "%", quoted, 1)); got == Allow {
				t.Fatalf("%s with %q: %s, and %s without", around, command, got, bare)
			}
		}
	})
}

func TestVariablesRevokeAnAllowedCommand(t *testing.T) {
	p := parsePolicy(t, "default = \"deny\"\n[[rule]]\ndecision = \"allow\"\ncommand = [\"git status\", \"env\", \"export\", \"ls\"]\n")
	for line, want := range map[string]Decision{
		"git status":                 Allow,
		"LANG=C LC_ALL=C git status": Allow,
		"env NO_COLOR=1 git status":  Allow,
		`GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='touch x' git status`: Deny,
		"GIT_DIR=/tmp/x git status":          Deny,
		"PAGER='sh -c x' git status":         Deny,
		"env GIT_DIR=/tmp/x git status":      Deny,
		"export GIT_PAGER=x; git status":     Deny,
		"bash -c 'TAR_OPTIONS=x git status'": Deny,
	} {
		if v := p.Decide(Action{Tool: "exec", Command: line, CWD: "/", Home: "/home/me"}); v.Decision != want {
			t.Errorf("%s: %s, want %s", line, v.Decision, want)
		}
	}
}
