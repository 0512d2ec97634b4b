package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
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
		return Policy{}, locate(text, 0, "default").mistake(text, "default: %v", err)
	}
	if f.AskTimeout != "" {
		var err error
		if p.AskTimeout, err = time.ParseDuration(f.AskTimeout); err != nil || p.AskTimeout <= 0 {
			return Policy{}, locate(text, 0, "ask_timeout").mistake(text, "ask_timeout = %q: want a duration such as 45s", f.AskTimeout)
		}
	}
	for i, r := range f.Rule {
		rule := Rule{
			Decision: Decision(r.Decision), Tool: r.Tool, Agent: r.Agent,
			Command: r.Command, Path: r.Path, Write: r.Write, Reason: r.Reason,
		}
		if key, err := rule.complete(); err != nil {
			return Policy{}, locate(text, i+1, key).mistake(text, "rule %d: %v", i+1, err)
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
		return place{line, column, 1}.mistake(text, "unknown key %q", key)
	}
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return err
	}
	line, column := wrong.Position()
	says := strings.TrimPrefix(wrong.Error(), "toml: ")
	key := wrong.Key()
	switch {
	case len(key) > 0 && strings.HasPrefix(says, "cannot "):
		says = fmt.Sprintf("%s: want %s", strings.Join(key, "."), wanted(key[len(key)-1]))
	case strings.HasPrefix(says, "expected keyword"), strings.HasSuffix(says, "at start of value"):
		says = "not a value; text needs quotes"
	}
	return place{line, column, 1}.mistake(text, "%s", says)
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

// A place is where something stands in a text: line and column from 1, and a
// number of bytes. The zero value is nowhere.
type place struct{ line, column, width int }

// mistake makes the error of what is wrong at a place.
func (at place) mistake(text []byte, format string, args ...any) error {
	says := fmt.Sprintf(format, args...)
	lines := strings.Split(string(text), "\n")
	if at.line < 1 || at.line > len(lines) {
		return errors.New(says)
	}
	line := strings.TrimRight(lines[at.line-1], "\r")
	before := min(max(at.column-1, 0), len(line))
	width := max(utf8.RuneCountInString(line[before:min(before+at.width, len(line))]), 1)
	number := fmt.Sprintf("%4d", at.line)
	return fmt.Errorf("line %d: %s\n%s | %s\n%*s | %*s%s", at.line, says, number, strings.ReplaceAll(line, "\t", " "),
		len(number), "", utf8.RuneCountInString(line[:before]), "", strings.Repeat("^", width))
}

// locate finds a key of the rule with a number from 1, or of the file itself for
// 0; where the rule does not have the key, its head.
func locate(text []byte, rule int, key string) place {
	var p unstable.Parser
	p.Reset(bytes.Clone(text)) // places are told by the capacity of what is parsed
	table := 0
	var head place
	for p.NextExpression() {
		e := p.Expression()
		names := e.Key()
		if !names.Next() {
			continue
		}
		name := names.Node()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			if table++; table == rule {
				head = placeOf(&p, name.Raw)
			}
			continue
		}
		if table == rule && string(name.Data) == key {
			return placeOf(&p, e.Raw)
		}
	}
	return head
}

// placeOf is the part of a range on its first line.
func placeOf(p *unstable.Parser, r unstable.Range) place {
	raw, _, _ := bytes.Cut(p.Raw(r), []byte("\n"))
	start := p.Shape(r).Start
	return place{start.Line, start.Column, len(bytes.TrimRight(raw, " \t\r"))}
}
