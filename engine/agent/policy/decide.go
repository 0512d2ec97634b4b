package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// An Action is a call an agent is about to make.
type Action struct {
	Tool    string
	Agent   string   // name given by the user; "" for none
	Host    string   // machine it would run on; "" for this one
	Command string   // command line for a shell
	Argv    []string // or program and arguments
	Paths   []string // absolute paths the tool itself reads or writes
	Write   bool     // it changes something
	CWD     string   // working directory of a command, absolute
	Home    string
}

// A Verdict is a decision and its origin.
type Verdict struct {
	Decision Decision
	Rule     int    // from 1; 0 is the default
	Reason   string // the rule's reason, or why it is doubtful whether the rule applies
	What     string // the command or path that decided; "" is the tool itself
}

// Decide applies the rules to an action: to the tool itself, each simple command and each path
// separately. The strictest decision counts.
func (p Policy) Decide(a Action) Verdict {
	worst := Verdict{Decision: Allow, Rule: -1}
	// Resolving the rules' paths reads the file system, so it is done once for all parts.
	rules := rulesFor(p.Rules, a)
	for _, it := range a.splitParts(slices.ContainsFunc(p.Rules, func(r Rule) bool { return len(r.Path) > 0 })) {
		if v := p.evaluatePart(rules, it); worst.Rule < 0 || v.Decision.StricterThan(worst.Decision) {
			worst = v
		}
	}
	return worst
}

// A part is one aspect of an action: a command it runs, a path it names, or the tool itself.
type part struct {
	kind       kind
	command    simpleCommand // the command itself, or the one naming the path
	at         location
	guessed    bool // the path is an argument, and may not be a path at all
	write      bool
	unclear    bool // the command cannot be parsed
	envChanged bool // variables are set that may affect the command
	what       string
}

type kind int

const (
	toolPart kind = iota
	commandPart
	filePart
)

// splitParts splits an action into parts. If arguments is set, it includes the paths among the
// arguments of commands, which only rules about paths need.
func (a Action) splitParts(arguments bool) []part {
	var parts []part
	for _, p := range a.Paths {
		for _, at := range locations(p) {
			parts = append(parts, part{kind: filePart, at: at, write: a.Write, what: p})
		}
	}
	r := a.analyze()
	if r.err != nil {
		parts = append(parts, part{kind: commandPart, unclear: true, write: true, what: a.commandLine()})
	}
	for _, found := range r.found {
		for _, c := range found.starts() {
			it := part{kind: commandPart, command: c, envChanged: r.envChanged, write: true, what: c.String()}
			if len(c.words) == 1 && !c.words[0].known {
				it.what = a.commandLine()
			}
			parts = append(parts, it)
		}
	}
	s := pathSearch{action: a, arguments: arguments, left: maxSearch}
	parts = append(parts, s.findParts(r)...)
	if len(parts) == 0 {
		parts = append(parts, part{write: a.Write})
	}
	return parts
}

// analyze parses the command of an action.
func (a Action) analyze() *analysis {
	r := newAnalysis(len(a.commandLine()), a.Home)
	switch {
	case len(a.Argv) > 0:
		r.addCommand(simpleCommand{words: literalWords(a.Argv)}, 0)
	case strings.TrimSpace(a.Command) != "":
		r.parseLine(a.Command)
	}
	return r
}

// commandLine returns the command for display.
func (a Action) commandLine() string {
	if len(a.Argv) > 0 {
		return strings.Join(a.Argv, " ")
	}
	return a.Command
}

// A match is how certain it is that a rule applies.
type match int

const (
	no match = iota
	maybe
	yes
)

// matchIf returns yes or no.
func matchIf(is bool) match {
	if is {
		return yes
	}
	return no
}

// bestMatch returns the most certain result of matchOf for the patterns in a list.
func bestMatch[T any](list []T, matchOf func(T) match) match {
	m := no
	for _, one := range list {
		if m = max(m, matchOf(one)); m == yes {
			break
		}
	}
	return m
}

// evaluatePart finds the rule for one part. If a rule may apply, the user is asked, unless a later
// rule is stricter.
func (p Policy) evaluatePart(rules []rule, it part) Verdict {
	doubt := Verdict{Rule: -1}
	for _, r := range rules {
		m := r.matchPart(it)
		if m == yes {
			return stricterOf(doubt, Verdict{r.Decision, r.number, r.reasonText(), it.what})
		}
		// Rules apply in order, so only the first doubt counts.
		if m == maybe && doubt.Rule < 0 {
			doubt = Verdict{Ask, r.number, r.doubtReason(it), it.what}
		}
	}
	d := p.Default
	if d == "" || it.guessed {
		d = Allow
	}
	return stricterOf(doubt, Verdict{Decision: d, Reason: p.defaultReason(), What: it.what})
}

func stricterOf(doubt, v Verdict) Verdict {
	if doubt.Rule > 0 && v.Decision.strictness() <= doubt.Decision.strictness() {
		return doubt
	}
	return v
}

// A rule is one of the policy's rules, prepared for an action.
type rule struct {
	Rule
	number int      // from 1
	paths  []string // its own without ~, and the targets of links
}

// rulesFor returns the rules that can apply to an action.
func rulesFor(all []Rule, a Action) []rule {
	var rules []rule
	for i, r := range all {
		if r.matchesNothing() || !anyGlob(r.Tool, a.Tool) || !r.appliesToAgent(a.Agent) || !r.appliesToHost(a.Host) {
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

// appliesToAgent reports whether a rule applies to an agent. For an unnamed agent, only
// restrictions of all agents apply.
func (r Rule) appliesToAgent(agent string) bool {
	if agent == "" && len(r.Agent) > 0 {
		return r.Decision != Allow && slices.Contains(r.Agent, "*")
	}
	return anyGlob(r.Agent, agent)
}

// appliesToHost reports whether a rule applies to an action on another machine, or with "" on this
// one.
func (r Rule) appliesToHost(host string) bool {
	return len(r.Host) == 0 || host != "" && anyGlob(r.Host, host)
}

func (r rule) reasonText() string {
	if r.Reason != "" {
		return r.Reason
	}
	return "rule " + strconv.Itoa(r.number) + " of policy.toml"
}

// doubtReason returns why the user is asked.
func (r rule) doubtReason(it part) string {
	if it.unclear {
		return "the command cannot be parsed"
	}
	return "only the shell can tell whether it matches: " + r.reasonText()
}

// matchPart returns whether a rule applies to a part of an action. Rules that allow never match an
// uncertain command, nor one with variables that may change its meaning.
func (r rule) matchPart(it part) match {
	switch {
	case r.Write && !it.write,
		it.guessed && (r.Decision == Allow || len(r.Path) == 0):
		return no
	}
	m := yes
	if len(r.Command) > 0 {
		m = min(m, r.matchCommand(it))
	}
	if len(r.Path) > 0 {
		m = min(m, r.matchPath(it))
	}
	if r.Decision == Allow && (m == maybe || it.envChanged && len(r.Command) > 0) {
		return no
	}
	return m
}

func (r rule) matchCommand(it part) match {
	switch {
	case it.unclear:
		return maybe
	case it.kind == filePart && len(r.Path) == 0: // the command has its own part
		return no
	}
	starts := []simpleCommand{it.command}
	if it.kind == filePart && r.Decision != Allow { // otherwise each start has its own part
		starts = it.command.starts()
	}
	return bestMatch(r.words, func(pattern []string) match {
		return bestMatch(starts, func(c simpleCommand) match { return matchWords(pattern, c, r.Decision == Allow) })
	})
}

func (r rule) matchPath(it part) match {
	switch {
	case it.unclear:
		return maybe
	case it.kind != filePart:
		return no
	}
	return bestMatch(r.paths, it.at.matchPattern)
}

// matchWords returns whether a command begins with the words of a pattern. A program without a / in
// the pattern matches in any directory; if the rule allows, only in the system's.
func matchWords(pattern []string, c simpleCommand, allows bool) match {
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
			return maybe // it may stand for all following words
		}
	}
	return yes
}

// isElsewhere reports whether a program lies outside the system's directories, where anybody may
// have put it.
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

// glob matches a pattern; * matches anything, including /.
func glob(pattern, s string) bool {
	pattern, s = strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(s, "/", "\x00")
	ok, err := path.Match(pattern, s)
	return ok && err == nil
}
