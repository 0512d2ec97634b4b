package policy

import (
	"bytes"
	"time"

	"github.com/pelletier/go-toml/v2"

	"tandem/persist/diag"
)

// file is the structure of policy.toml.
type file struct {
	Default    string     `toml:"default"`
	AskTimeout string     `toml:"ask_timeout"`
	Rule       []fileRule `toml:"rule"`
}

type fileRule struct {
	Decision string   `toml:"decision"`
	Tool     []string `toml:"tool"`
	Agent    []string `toml:"agent"`
	Host     []string `toml:"host"`
	Command  []string `toml:"command"`
	Path     []string `toml:"path"`
	Write    bool     `toml:"write"`
	Reason   string   `toml:"reason"`
}

// Parse parses policy.toml. The first line of an error names the line of the mistake, the rule's
// number from 1, and the mistake. The line itself follows, with a caret below the place.
func Parse(text []byte) (Policy, error) {
	text = diag.TrimBOM(text)
	var f file
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return Policy{}, diag.Explain(text, err, valueKind)
	}
	p := Policy{Default: Decision(f.Default)}
	if err := checkDecision(p.Default, true); err != nil {
		return Policy{}, diag.Errorf(text, diag.Locate(text, "", 0, "default"), "default: %v", err)
	}
	if f.AskTimeout != "" {
		var err error
		if p.AskTimeout, err = time.ParseDuration(f.AskTimeout); err != nil || p.AskTimeout <= 0 {
			return Policy{}, diag.Errorf(text, diag.Locate(text, "", 0, "ask_timeout"), "ask_timeout = %q: must be a duration such as 45s", f.AskTimeout)
		}
	}
	for i, r := range f.Rule {
		rule := Rule{
			Decision: Decision(r.Decision), Tool: r.Tool, Agent: r.Agent, Host: r.Host,
			Command: r.Command, Path: r.Path, Write: r.Write, Reason: r.Reason,
		}
		if key, err := rule.checkAndParse(); err != nil {
			return Policy{}, diag.Errorf(text, diag.Locate(text, "rule", i+1, key), "rule %d: %v", i+1, err)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// valueKind describes the value of a key.
func valueKind(key string) string {
	switch key {
	case "rule":
		return "tables that begin with [[rule]]"
	case "write":
		return "true or false"
	case "tool", "agent", "host", "command", "path":
		return "a list of patterns in quotes"
	}
	return "a word in quotes"
}
