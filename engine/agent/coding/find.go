package coding

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/system/proctree"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

const (
	maxAncestors   = 16 // of the foreground process
	maxScriptWords = 4  // words of a command line searched for a script's path
)

// A Found is the process of a recognized agent.
type Found struct {
	Rule Rule
	Who  store.Identity
}

// findAgent finds the agent using a terminal: the foreground process, one of its ancestors up to
// child, the terminal's first process, or a member of its group, such as one started by npx.
func findAgent(rules []Rule, foreground, child int, bootID string) (f Found, ok bool) {
	is := func(pid int) bool {
		rule, known := ruleForProcess(rules, pid)
		if !known {
			return false
		}
		p, alive := proctree.Read(pid)
		f, ok = Found{rule, store.Identity{PID: pid, StartTime: p.StartTime, BootID: bootID}}, alive && !p.IsZombie()
		return ok
	}
	// Ancestors first: a tool run by the agent may be in the foreground.
	for pid, n := foreground, 0; pid > 1 && n < maxAncestors; n++ {
		if is(pid) {
			return f, true
		}
		p, alive := proctree.Read(pid)
		if !alive || pid == child {
			break
		}
		pid = p.Parent
	}
	// npx and the like stay in the foreground with the agent as their child.
	for _, pid := range pty.GroupMembers(foreground, child) {
		if is(pid) {
			return f, true
		}
	}
	return Found{}, false
}

// ruleForProcess returns the rule matching a process.
func ruleForProcess(rules []Rule, pid int) (Rule, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(text) == 0 {
		return Rule{}, false
	}
	var argv []string
	for word := range bytes.SplitSeq(bytes.TrimRight(text, "\x00"), []byte{0}) {
		argv = append(argv, string(word))
	}
	exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // fails for another user's process
	return matchProgram(rules, exe, argv)
}

// matchProgram returns the rule matching a program: by its name, by its executable's name or
// location, or for a script by the path given to its interpreter.
func matchProgram(rules []Rule, exe string, argv []string) (Rule, bool) {
	names := []string{filepath.Base(exe), filepath.Base(argv[0])}
	for _, r := range rules {
		for _, p := range r.Programs {
			if slices.Contains(names, p) {
				return r, true
			}
		}
	}
	if !isInterpreter(filepath.Base(exe)) && !isInterpreter(filepath.Base(argv[0])) {
		return matchScript(rules, argv[0], exe)
	}
	for _, word := range argv[1:min(len(argv), 1+maxScriptWords)] {
		if word == "-c" || word == "-e" { // followed by code, not by a script
			return Rule{}, false
		}
		if strings.HasPrefix(word, "-") {
			continue
		}
		script := word
		if real, err := filepath.EvalSymlinks(word); err == nil {
			script = real
		}
		return matchScript(rules, word, script)
	}
	return Rule{}, false
}

// matchScript returns the rule matching a script by its given or its resolved path.
func matchScript(rules []Rule, given, real string) (Rule, bool) {
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

// isInterpreter reports whether a program runs scripts.
func isInterpreter(program string) bool {
	for _, name := range [...]string{"node", "bun", "deno", "python", "pypy", "uv", "sh", "bash", "dash"} {
		rest, ok := strings.CutPrefix(program, name)
		if ok && strings.Trim(rest, "0123456789.") == "" {
			return true
		}
	}
	return false
}
