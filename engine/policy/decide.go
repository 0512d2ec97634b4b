package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxFolders bounds how many folders are followed that a command goes to.
const maxFolders = 16

// An Action is what an agent is about to do.
type Action struct {
	Tool    string
	Agent   string   // NAME/VERSION
	Command string   // a line for a shell
	Argv    []string // or program and arguments
	Paths   []string // absolute paths that the tool itself reads or writes
	Write   bool     // it changes something
	CWD     string   // where a command runs, absolute
	Home    string
}

// A Verdict is a decision with what it comes from.
type Verdict struct {
	Decision Decision
	Rule     int    // from 1; 0 is the default
	Reason   string // the rule's, or what could not be told
	What     string // the simple command or path that decided; "" is the tool itself
}

// Decide judges an action: the tool as such, each simple command and each path
// by itself. The strictest decision counts.
func (p Policy) Decide(a Action) Verdict {
	worst := Verdict{Decision: Allow, Rule: -1}
	for _, part := range a.parts() {
		v := p.judge(a, part)
		if worst.Rule < 0 || v.Decision.strictness() > worst.Decision.strictness() {
			worst = v
		}
	}
	return worst
}

// A part is one thing that an action does.
type part struct {
	command []word // a simple command
	path    string // or a path, absolute and clean
	guessed bool   // the path is an argument that may not be a path at all
	write   bool
	unclear bool // a command that cannot be parsed
	what    string
}

// parts takes an action apart.
func (a Action) parts() []part {
	var parts []part
	for _, p := range a.Paths {
		parts = append(parts, a.pathParts(p, a.Write, false)...)
	}
	commands, err := a.commands()
	if err != nil {
		parts = append(parts, part{unclear: true, write: true, what: a.line()})
	}
	folders := []string{a.CWD} // where a command may run: cd is not sure to have worked
	for _, c := range commands {
		parts = append(parts, part{command: c.words, write: true, what: c.String()})
		for _, a.CWD = range folders {
			parts = append(parts, a.pathsOf(c)...)
		}
		if to, ok := c.folder(); ok && len(folders) < maxFolders {
			folders = append(folders, a.absolute(to))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, part{write: a.Write})
	}
	return parts
}

// commands are the simple commands of an action; with an error not all of them.
func (a Action) commands() ([]simple, error) {
	switch {
	case len(a.Argv) > 0:
		return parseArgv(a.Argv)
	case strings.TrimSpace(a.Command) != "":
		return parse(a.Command)
	}
	return nil, nil
}

// line is the command as it is shown.
func (a Action) line() string {
	if len(a.Argv) > 0 {
		return strings.Join(a.Argv, " ")
	}
	return a.Command
}

// pathsOf are the paths that a simple command names.
func (a Action) pathsOf(c simple) []part {
	var parts []part
	for _, target := range c.writes {
		parts = append(parts, a.pathParts(a.absolute(target), true, false)...)
	}
	for _, target := range c.reads {
		parts = append(parts, a.pathParts(a.absolute(target), false, false)...)
	}
	for _, w := range c.words[min(1, len(c.words)):] {
		if w.known && looksLikePath(w.text) {
			parts = append(parts, a.pathParts(a.absolute(w.text), true, true)...)
		}
	}
	return parts
}

// folder is where a command that changes the folder leads.
func (c simple) folder() (to string, ok bool) {
	if len(c.words) == 0 || c.words[0].text != "cd" && c.words[0].text != "pushd" {
		return "", false
	}
	last := c.words[len(c.words)-1]
	if len(c.words) == 1 {
		return "~", true
	}
	return last.text, last.known
}

// pathParts are a path as it was given and, where links lead elsewhere, as it
// is meant.
func (a Action) pathParts(p string, write, guessed bool) []part {
	p = filepath.Clean(p)
	parts := []part{{path: p, write: write, guessed: guessed, what: p}}
	if real := resolved(p); real != p {
		parts = append(parts, part{path: real, write: write, guessed: guessed, what: p})
	}
	return parts
}

// resolved follows links as far as a path exists.
func resolved(p string) string {
	rest := ""
	for dir := p; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == "/" || dir == "." {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// absolute is what a word of a command means as a path.
func (a Action) absolute(word string) string {
	switch {
	case word == "~":
		return a.Home
	case strings.HasPrefix(word, "~/"):
		return filepath.Join(a.Home, word[2:])
	case filepath.IsAbs(word):
		return word
	}
	return filepath.Join(a.CWD, word)
}

// looksLikePath reports whether an argument may name a file, also as the value
// of an option. A bare name is left to the sandbox.
func looksLikePath(s string) bool {
	return strings.Contains(s, "/") && !strings.Contains(s, "://") || s == "~" || s == ".."
}

// judge finds the rule for one part.
func (p Policy) judge(a Action, it part) Verdict {
	for i, r := range p.Rules {
		if !r.covers(a, it) {
			continue
		}
		if it.unclear && len(r.Command)+len(r.Path) > 0 {
			return Verdict{Ask, i + 1, "the command cannot be parsed", it.what}
		}
		reason := r.Reason
		if reason == "" {
			reason = "rule " + strconv.Itoa(i+1) + " of policy.toml"
		}
		return Verdict{r.Decision, i + 1, reason, it.what}
	}
	if it.guessed {
		return Verdict{Decision: Allow, What: it.what}
	}
	d := p.Default
	if d == "" {
		d = Allow
	}
	return Verdict{Decision: d, Reason: "the policy's default", What: it.what}
}

// covers reports whether a rule is about a part of an action. What cannot be
// known counts as a match for rules that restrict and as none for those that
// allow.
func (r Rule) covers(a Action, it part) bool {
	if r.Write && !it.write || !anyGlob(r.Tool, a.Tool) || !anyGlob(r.Agent, a.Agent) {
		return false
	}
	if it.guessed && (r.Decision == Allow || len(r.Path) == 0) {
		return false
	}
	if it.unclear && len(r.Command)+len(r.Path) > 0 {
		return r.Decision != Allow
	}
	if len(r.Command) > 0 && !r.coversCommand(it) {
		return false
	}
	if len(r.Path) > 0 {
		return it.path != "" && slices.ContainsFunc(r.Path, func(g string) bool { return matchPath(home(g, a.Home), it.path) })
	}
	return true
}

func (r Rule) coversCommand(it part) bool {
	return len(it.command) > 0 && slices.ContainsFunc(r.words, func(words []string) bool {
		return matchWords(words, it.command, r.Decision != Allow)
	})
}

// anyGlob reports whether one of the patterns matches; no patterns match all.
func anyGlob(patterns []string, s string) bool {
	if len(patterns) == 0 {
		return true
	}
	return slices.ContainsFunc(patterns, func(p string) bool { return glob(p, s) })
}

// glob matches * against anything, / included.
func glob(pattern, s string) bool {
	pattern, s = strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(s, "/", "\x00")
	ok, err := path.Match(pattern, s)
	return ok && err == nil
}

func home(pattern, home string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return pattern
}

// matchPath matches a path part by part; ** stands for any number of parts. A
// pattern for a folder is one for all in it.
func matchPath(pattern, p string) bool {
	return matchParts(strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(p, "/"), "/"))
}

// matchParts runs in time proportional to the product of both lengths.
func matchParts(pattern, parts []string) bool {
	reached := make([]bool, len(parts)+1) // by parts that are matched so far
	reached[0] = true
	for _, g := range pattern {
		next := make([]bool, len(parts)+1)
		for i, ok := range reached {
			if !ok {
				continue
			}
			if g == "**" {
				for j := i; j <= len(parts); j++ {
					next[j] = true
				}
				break
			}
			if i < len(parts) {
				if ok, err := path.Match(g, parts[i]); ok && err == nil {
					next[i+1] = true
				}
			}
		}
		reached = next
	}
	return slices.Contains(reached, true)
}
