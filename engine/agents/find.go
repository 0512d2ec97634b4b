package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/proctree"
	"tandem/engine/pty"
	"tandem/persist/store"
)

const (
	ancestorsMost = 16 // of the process in the foreground that are looked at
	scriptWords   = 4  // of a command line in which a script's path is looked for
)

// A Found is an agent's process.
type Found struct {
	Rule Rule
	Who  store.Identity
}

// find tells which agent has a terminal: the process in its foreground, one that has
// started it, or one of its group, as what npx starts. child is the process that the
// terminal was made for, above which nothing is looked at.
func find(rules []Rule, foreground, child int, bootID string) (f Found, ok bool) {
	is := func(pid int) bool {
		rule, known := ruleOf(rules, pid)
		if !known {
			return false
		}
		p, alive := proctree.Read(pid)
		f, ok = Found{rule, store.Identity{PID: pid, StartTime: p.StartTime, BootID: bootID}}, alive && !p.Zombie
		return ok
	}
	for pid, n := foreground, 0; pid > 1 && n < ancestorsMost; n++ {
		if is(pid) {
			return f, true
		}
		p, alive := proctree.Read(pid)
		if !alive || pid == child {
			break
		}
		pid = p.Parent
	}
	for _, pid := range pty.GroupMembers(foreground, child) {
		if is(pid) {
			return f, true
		}
	}
	return Found{}, false
}

// ruleOf is the rule for the agent that a process is.
func ruleOf(rules []Rule, pid int) (Rule, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(text) == 0 {
		return Rule{}, false
	}
	var argv []string
	for word := range bytes.SplitSeq(bytes.TrimRight(text, "\x00"), []byte{0}) {
		argv = append(argv, string(word))
	}
	exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // another user's cannot be read
	return recognise(rules, exe, argv)
}

// recognise is the rule for a program: by the name it was started under or that of its
// executable, by where that is installed, and for a script by the path that its
// interpreter was given.
func recognise(rules []Rule, exe string, argv []string) (Rule, bool) {
	names := []string{filepath.Base(exe), filepath.Base(argv[0])}
	for _, r := range rules {
		for _, p := range r.Programs {
			if slices.Contains(names, p) {
				return r, true
			}
		}
	}
	if !interprets(filepath.Base(exe)) && !interprets(filepath.Base(argv[0])) {
		return ruleOfScript(rules, argv[0], exe)
	}
	for _, word := range argv[1:min(len(argv), 1+scriptWords)] {
		if word == "-c" || word == "-e" { // a text follows, and no script
			return Rule{}, false
		}
		if strings.HasPrefix(word, "-") {
			continue
		}
		script := word
		if real, err := filepath.EvalSymlinks(word); err == nil {
			script = real
		}
		return ruleOfScript(rules, word, script)
	}
	return Rule{}, false
}

// ruleOfScript is the rule for a script, by its path as given and as it is.
func ruleOfScript(rules []Rule, given, real string) (Rule, bool) {
	for _, r := range rules {
		for _, part := range r.Scripts {
			if strings.Contains(given, part) || strings.Contains(real, part) {
				return r, true
			}
		}
		if slices.Contains(r.Programs, filepath.Base(given)) {
			return r, true
		}
	}
	return Rule{}, false
}

// interprets reports whether a program runs scripts.
func interprets(program string) bool {
	for _, name := range [...]string{"node", "bun", "deno", "python", "pypy", "uv", "sh", "bash", "dash"} {
		rest, ok := strings.CutPrefix(program, name)
		if ok && strings.Trim(rest, "0123456789.") == "" {
			return true
		}
	}
	return false
}
