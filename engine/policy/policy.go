// Package policy says what an agent may do: allow, ask or deny, by rules that
// only the person writes (policy.toml). A command is parsed as a shell would
// parse it and each of its simple commands judged alone. Rules are advice about
// intent and no wall, as a program can do under another name what it may not do
// under its own: what must not happen is for the sandbox to prevent.
package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A Decision is what becomes of an action.
type Decision string

const (
	Allow Decision = "allow"
	Ask   Decision = "ask" // the person, who may refuse or not answer
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

// DefaultAskTimeout is how long a person has to answer; agents' own clients
// give up after a minute.
const DefaultAskTimeout = 45 * time.Second

// A Policy is a read policy.toml. Its zero value allows everything.
type Policy struct {
	Default    Decision      // of what no rule is about; "" is Allow
	AskTimeout time.Duration // 0 is DefaultAskTimeout
	Rules      []Rule        // the first that matches counts
}

// A Rule is about actions that match every list it has; a list matches if one
// of its patterns does.
type Rule struct {
	Decision Decision
	Tool     []string // globs of tools' names
	Agent    []string // globs of agents' NAME/VERSION
	Command  []string // words of a simple command from its program on, each a glob
	Path     []string // globs of absolute paths, with ** for any depth and ~ for the home folder
	Write    bool     // only what changes something
	Reason   string   // told to the agent and the person

	words [][]string // of Command, parsed
}

// file is policy.toml as it is written.
type file struct {
	Default    string `toml:"default"`
	AskTimeout string `toml:"ask_timeout"`
	Rule       []struct {
		Decision string   `toml:"decision"`
		Tool     []string `toml:"tool"`
		Agent    []string `toml:"agent"`
		Command  []string `toml:"command"`
		Path     []string `toml:"path"`
		Write    bool     `toml:"write"`
		Reason   string   `toml:"reason"`
	} `toml:"rule"`
}

// Parse reads policy.toml. Its errors show the line with a caret, or name the
// rule by its number from 1.
func Parse(text []byte) (Policy, error) {
	var f file
	d := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Policy{}, explain(err)
	}
	p := Policy{Default: Decision(f.Default)}
	if err := checkDecision(p.Default, true); err != nil {
		return Policy{}, fmt.Errorf("default: %w", err)
	}
	if f.AskTimeout != "" {
		var err error
		if p.AskTimeout, err = time.ParseDuration(f.AskTimeout); err != nil || p.AskTimeout <= 0 {
			return Policy{}, fmt.Errorf("ask_timeout = %q: want a duration such as 45s", f.AskTimeout)
		}
	}
	for i, r := range f.Rule {
		rule := Rule{
			Decision: Decision(r.Decision), Tool: r.Tool, Agent: r.Agent,
			Command: r.Command, Path: r.Path, Write: r.Write, Reason: r.Reason,
		}
		if err := rule.complete(); err != nil {
			return Policy{}, fmt.Errorf("rule %d: %w", i+1, err)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

func explain(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		line, _ := unknown.Errors[0].Position()
		return fmt.Errorf("line %d: no such key\n%s", line, unknown.Errors[0].String())
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("line %d\n%s", line, wrong.String())
	}
	return err
}

func checkDecision(d Decision, optional bool) error {
	switch d {
	case Allow, Ask, Deny:
		return nil
	case "":
		if optional {
			return nil
		}
		return errors.New(`decision is missing: want "allow", "ask" or "deny"`)
	}
	return fmt.Errorf(`decision %q: want "allow", "ask" or "deny"`, d)
}

// complete checks a rule and parses its patterns.
func (r *Rule) complete() error {
	if err := checkDecision(r.Decision, false); err != nil {
		return err
	}
	for _, list := range [][]string{r.Tool, r.Agent, r.Path} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				return fmt.Errorf("pattern %q: %w", pattern, path.ErrBadPattern)
			}
		}
	}
	for _, pattern := range r.Path {
		if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~/") {
			return fmt.Errorf("path %q: want an absolute path or one that begins with ~/", pattern)
		}
	}
	for _, pattern := range r.Command {
		words, err := patternWords(pattern)
		if err != nil {
			return fmt.Errorf("command %q: %w", pattern, err)
		}
		r.words = append(r.words, words)
	}
	return nil
}
