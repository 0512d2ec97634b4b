package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// An Action is what an agent is about to do.
type Action struct {
	Tool    string
	Agent   string   // the name that the person has given it; "" for none
	Host    string   // the other machine that it is to be done on; "" for this one
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
	rules := rulesFor(p.Rules, a)
	for _, it := range a.parts(slices.ContainsFunc(p.Rules, func(r Rule) bool { return len(r.Path) > 0 })) {
		if v := p.judge(rules, it); worst.Rule < 0 || v.Decision.strictness() > worst.Decision.strictness() {
			worst = v
		}
	}
	return worst
}

// A part is one thing that an action does: it runs a command, names a path, or
// is done by the tool itself.
type part struct {
	kind    kind
	command simple // that runs, or that names the path
	at      location
	guessed bool // the path is an argument that may not be a path at all
	write   bool
	unclear bool // a command that cannot be parsed
	steered bool // variables are set that the command may go by
	what    string
}

type kind int

const (
	ofTool kind = iota
	ofCommand
	ofFile
)

// parts takes an action apart. The paths among the arguments are for rules about
// paths.
func (a Action) parts(arguments bool) []part {
	var parts []part
	for _, p := range a.Paths {
		for _, at := range locations(p) {
			parts = append(parts, part{kind: ofFile, at: at, write: a.Write, what: p})
		}
	}
	r := a.reading()
	if r.err != nil {
		parts = append(parts, part{kind: ofCommand, unclear: true, write: true, what: a.line()})
	}
	for _, found := range r.found {
		for _, c := range found.starts() {
			it := part{kind: ofCommand, command: c, steered: r.steered, write: true, what: c.String()}
			if len(c.words) == 1 && !c.words[0].known {
				it.what = a.line()
			}
			parts = append(parts, it)
		}
	}
	s := search{action: a, arguments: arguments, left: maxSearch}
	parts = append(parts, s.parts(r)...)
	if len(parts) == 0 {
		parts = append(parts, part{write: a.Write})
	}
	return parts
}

// reading takes the command of an action apart.
func (a Action) reading() *reading {
	r := newReading(len(a.line()), a.Home)
	switch {
	case len(a.Argv) > 0:
		r.take(simple{words: literal(a.Argv)}, 0)
	case strings.TrimSpace(a.Command) != "":
		r.line(a.Command)
	}
	return r
}

// line is the command as it is shown.
func (a Action) line() string {
	if len(a.Argv) > 0 {
		return strings.Join(a.Argv, " ")
	}
	return a.Command
}

// A match is how sure it is that a rule is about something.
type match int

const (
	no match = iota
	maybe
	yes
)

// matches is no unless it is so.
func matches(is bool) match {
	if is {
		return yes
	}
	return no
}

// best is the surest of the matches of a list's patterns.
func best[T any](list []T, of func(T) match) match {
	m := no
	for _, one := range list {
		if m = max(m, of(one)); m == yes {
			break
		}
	}
	return m
}

// judge finds the rule for one part. A rule that may be about it has the person
// asked, unless what follows is stricter.
func (p Policy) judge(rules []rule, it part) Verdict {
	doubt := Verdict{Rule: -1}
	for _, r := range rules {
		m := r.covers(it)
		if m == yes {
			return stricter(doubt, Verdict{r.Decision, r.number, r.reason(), it.what})
		}
		if m == maybe && doubt.Rule < 0 {
			doubt = Verdict{Ask, r.number, r.doubt(it), it.what}
		}
	}
	d := p.Default
	if d == "" || it.guessed {
		d = Allow
	}
	return stricter(doubt, Verdict{Decision: d, Reason: p.defaultReason(), What: it.what})
}

func stricter(doubt, v Verdict) Verdict {
	if doubt.Rule > 0 && v.Decision.strictness() <= doubt.Decision.strictness() {
		return doubt
	}
	return v
}

// A rule is one of the policy's for an action.
type rule struct {
	Rule
	number int      // from 1
	paths  []string // its own without ~, and where links lead
}

// rulesFor are the rules that can matter for an action.
func rulesFor(all []Rule, a Action) []rule {
	var rules []rule
	for i, r := range all {
		if r.matchesNothing() || !anyGlob(r.Tool, a.Tool) || !r.isAbout(a.Agent) || !r.holdsOn(a.Host) {
			continue
		}
		of := rule{Rule: r, number: i + 1}
		for _, p := range r.Path {
			of.paths = append(of.paths, rulePaths(p, a.Home)...)
		}
		rules = append(rules, of)
	}
	return rules
}

// isAbout reports whether a rule is about an agent. One without a name is told
// apart by no rule.
func (r Rule) isAbout(agent string) bool {
	if agent == "" && len(r.Agent) > 0 {
		return r.Decision != Allow && slices.Contains(r.Agent, "*")
	}
	return anyGlob(r.Agent, agent)
}

// holdsOn reports whether a rule is about what is done on another machine, or with ""
// on this one.
func (r Rule) holdsOn(host string) bool {
	return len(r.Host) == 0 || host != "" && anyGlob(r.Host, host)
}

func (r rule) reason() string {
	if r.Reason != "" {
		return r.Reason
	}
	return "rule " + strconv.Itoa(r.number) + " of policy.toml"
}

// doubt says why the person is asked.
func (r rule) doubt(it part) string {
	if it.unclear {
		return "the command cannot be parsed"
	}
	return "only the shell can tell whether it matches: " + r.reason()
}

// covers reports whether a rule is about a part of an action. What cannot be
// known is no match for rules that allow, nor is a command with variables that may
// make another one of it.
func (r rule) covers(it part) match {
	switch {
	case r.Write && !it.write,
		it.guessed && (r.Decision == Allow || len(r.Path) == 0):
		return no
	}
	m := yes
	if len(r.Command) > 0 {
		m = min(m, r.coversCommand(it))
	}
	if len(r.Path) > 0 {
		m = min(m, r.coversPath(it))
	}
	if r.Decision == Allow && (m == maybe || it.steered && len(r.Command) > 0) {
		return no
	}
	return m
}

func (r rule) coversCommand(it part) match {
	switch {
	case it.unclear:
		return maybe
	case it.kind == ofFile && len(r.Path) == 0: // the command is a part of its own
		return no
	}
	starts := []simple{it.command}
	if it.kind == ofFile && r.Decision != Allow { // elsewhere each is a part of its own
		starts = it.command.starts()
	}
	return best(r.words, func(pattern []string) match {
		return best(starts, func(c simple) match { return matchWords(pattern, c, r.Decision == Allow) })
	})
}

func (r rule) coversPath(it part) match {
	switch {
	case it.unclear:
		return maybe
	case it.kind != ofFile:
		return no
	}
	return best(r.paths, it.at.within)
}

// matchWords tells whether a command begins with the words of a pattern. A
// program without a / in the pattern is meant wherever it lies, unless the rule
// allows it: then only where the system's are.
func matchWords(pattern []string, c simple, allows bool) match {
	if len(c.words) == 0 {
		return no
	}
	for i, g := range pattern {
		if i == len(c.words) {
			if c.more {
				return maybe
			}
			return no
		}
		w := c.words[i]
		text, wild := w.text, w.glob
		if i == 0 && !strings.Contains(g, "/") && !(allows && isElsewhere(text)) {
			text, wild = path.Base(text), path.Base(wild)
		}
		switch {
		case w.known && !glob(g, text):
			return no
		case w.known, g == "*" && (w.one || i == len(pattern)-1):
		case w.glob != "" && overlap(wild, g) == no:
			return no
		default:
			return maybe // it may stand for all words that follow
		}
	}
	return yes
}

// isElsewhere reports whether a program lies where anybody may have put it.
func isElsewhere(program string) bool {
	if !strings.Contains(program, "/") {
		return false
	}
	dir := path.Dir(path.Clean(program))
	return !slices.Contains([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}, dir)
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
