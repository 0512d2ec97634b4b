// Package policy decides what an agent may do: allow, ask or deny, by the user's rules
// (policy.toml). A command is parsed as a shell would parse it, and each of its simple commands is
// decided separately. Rules express intent and are no barrier: a program can do under another name
// what its own name is denied. Enforcement belongs to the sandbox.
package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// A Decision is the answer to an action.
type Decision string

const (
	Allow Decision = "allow"
	Ask   Decision = "ask" // the user, who may deny or not answer
	Deny  Decision = "deny"
)

// strictness orders decisions.
func (d Decision) strictness() int {
	switch d {
	case Deny:
		return 2
	case Ask:
		return 1
	}
	return 0
}

// AllowsAll reports whether a policy allows every action.
func (p Policy) AllowsAll() bool {
	return len(p.Rules) == 0 && (p.Default == Allow || p.Default == "")
}

// StricterThan reports whether d allows less than the decision other.
func (d Decision) StricterThan(other Decision) bool { return d.strictness() > other.strictness() }

// DefaultAskTimeout is how long the user has to answer; agents' own clients give up after a minute.
const DefaultAskTimeout = 45 * time.Second

// A Policy is a parsed policy.toml. Its zero value allows everything.
type Policy struct {
	Default    Decision      // without a matching rule; "" is Allow
	AskTimeout time.Duration // 0 is DefaultAskTimeout
	Rules      []Rule        // the first match counts

	why string // the reason for Default; "" if the file gives it
}

// A Rule applies to actions matching every list it has. A list matches if one of its patterns does,
// so an empty one, unlike nil, matches nothing.
type Rule struct {
	Decision Decision
	Tool     []string // globs of tool names
	Agent    []string // globs of the names the user has given to agents
	Host     []string // globs of the names of other machines; nil: all machines, including this one
	Command  []string // words of a simple command starting with its program, each a glob
	Path     []string // globs of absolute paths, with ** for any depth and ~ for the home directory
	Write    bool     // only actions that change something
	Reason   string   // shown to the agent and the user

	words [][]string // Command, parsed
}

func checkDecision(d Decision, optional bool) error {
	switch d {
	case Allow, Ask, Deny:
		return nil
	case "":
		if optional {
			return nil
		}
		return errors.New(`decision is missing: must be "allow", "ask" or "deny"`)
	}
	return fmt.Errorf(`decision %q: must be "allow", "ask" or "deny"`, d)
}

// lists returns all lists of a rule; nil for a missing one.
func (r Rule) lists() [][]string { return [][]string{r.Tool, r.Agent, r.Host, r.Command, r.Path} }

// matchesNothing reports whether one of a rule's lists is empty.
func (r Rule) matchesNothing() bool {
	return slices.ContainsFunc(r.lists(), func(list []string) bool { return list != nil && len(list) == 0 })
}

// checkAndParse checks a rule and parses its patterns. With an error, key is the key of the wrong
// value.
func (r *Rule) checkAndParse() (key string, err error) {
	if err := checkDecision(r.Decision, false); err != nil {
		return "decision", err
	}
	// Without any list, a rule would match every action.
	if !slices.ContainsFunc(r.lists(), func(list []string) bool { return list != nil }) {
		return "", errors.New(`must have a list such as command = ["git push"], or tool = ["*"] for everything`)
	}
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"tool", r.Tool}, {"agent", r.Agent}, {"host", r.Host}, {"path", r.Path}} {
		for _, pattern := range list.patterns {
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				return list.key, fmt.Errorf("pattern %q: %w", pattern, path.ErrBadPattern)
			}
		}
	}
	for _, pattern := range r.Agent {
		if strings.Contains(pattern, "/") {
			return "agent", fmt.Errorf(`agent %q: must be the name of a token or of --as, which has no "/"`, pattern)
		}
	}
	for _, pattern := range r.Path {
		if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~/") {
			return "path", fmt.Errorf("path %q: must be an absolute path or one that begins with ~/", pattern)
		}
	}
	for _, pattern := range r.Command {
		words, err := patternWords(pattern)
		if err != nil {
			return "command", fmt.Errorf("command %q: %w", pattern, err)
		}
		r.words = append(r.words, words)
	}
	return "", nil
}
