package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tandem/persist/diag"
)

// file is policy.toml as it is written.
type file struct {
	Default    string     `toml:"default"`
	AskTimeout string     `toml:"ask_timeout"`
	Rule       []fileRule `toml:"rule"`
}

type fileRule struct {
	Decision string   `toml:"decision"`
	Tool     []string `toml:"tool"`
	Agent    []string `toml:"agent"`
	Command  []string `toml:"command"`
	Path     []string `toml:"path"`
	Write    bool     `toml:"write"`
	Reason   string   `toml:"reason"`
}

// Parse reads policy.toml. The first line of an error says in which line of the
// text the mistake is, in which rule by its number from 1, and what it is; that
// line follows with a caret below the place.
func Parse(text []byte) (Policy, error) {
	var f file
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return Policy{}, explain(text, err)
	}
	p := Policy{Default: Decision(f.Default)}
	if err := checkDecision(p.Default, true); err != nil {
		return Policy{}, mistake(text, locate(text, 0, "default"), "default: %v", err)
	}
	if f.AskTimeout != "" {
		var err error
		if p.AskTimeout, err = time.ParseDuration(f.AskTimeout); err != nil || p.AskTimeout <= 0 {
			return Policy{}, mistake(text, locate(text, 0, "ask_timeout"), "ask_timeout = %q: want a duration such as 45s", f.AskTimeout)
		}
	}
	for i, r := range f.Rule {
		rule := Rule{
			Decision: Decision(r.Decision), Tool: r.Tool, Agent: r.Agent,
			Command: r.Command, Path: r.Path, Write: r.Write, Reason: r.Reason,
		}
		if key, err := rule.complete(); err != nil {
			return Policy{}, mistake(text, locate(text, i+1, key), "rule %d: %v", i+1, err)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// explain says in words of the file what the decoder does not take.
func explain(text []byte, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		first := unknown.Errors[0]
		key := strings.Join(first.Key(), ".")
		line, column := first.Position()
		return mistake(text, diag.Span{Line: line, Column: column, Width: 1}, "unknown key %q", key)
	}
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return err
	}
	line, column := wrong.Position()
	says, key := diag.Syntax(wrong), wrong.Key()
	if len(key) > 0 && strings.HasPrefix(says, "cannot ") {
		says = fmt.Sprintf("%s: want %s", strings.Join(key, "."), wanted(key[len(key)-1]))
	}
	return mistake(text, diag.Span{Line: line, Column: column, Width: 1}, "%s", says)
}

// wanted says what the value of a key is.
func wanted(key string) string {
	switch key {
	case "rule":
		return "tables that begin with [[rule]]"
	case "write":
		return "true or false"
	case "tool", "agent", "command", "path":
		return "a list of patterns in quotes"
	}
	return "a word in quotes"
}

func mistake(text []byte, at diag.Span, format string, args ...any) error {
	return errors.New(at.Mistake(text, fmt.Sprintf(format, args...)))
}

// locate finds a key of the rule with a number from 1, or of the file itself for
// 0; where the rule does not have the key, its head.
func locate(text []byte, rule int, key string) diag.Span {
	var p unstable.Parser
	p.Reset(bytes.Clone(text)) // places are told by the capacity of what is parsed
	table := 0
	var head diag.Span
	for p.NextExpression() {
		e := p.Expression()
		names := e.Key()
		if !names.Next() {
			continue
		}
		name := names.Node()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			if table++; table == rule {
				head = diag.SpanOf(&p, name.Raw)
			}
			continue
		}
		if table == rule && string(name.Data) == key {
			return diag.SpanOf(&p, e.Raw)
		}
	}
	return head
}
