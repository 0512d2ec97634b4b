package policy

import (
	"slices"
	"strings"

	"tandem/persist/diag"
)

// CheckTools returns the first mistake in a policy: an error of Parse, or a pattern matching none
// of the known tools. Parse itself accepts such a pattern, because a newer release or another
// machine may have the tool.
func CheckTools(text []byte, known []string) error {
	return checkNames(text, "tool", func(r Rule) []string { return r.Tool }, func(pattern string) string {
		return unknownName("no tool or operation is named", pattern, known)
	})
}

// CheckAgents is CheckTools for agents. An unknown name may still be right: `tandem --serve --as`
// gives agents names that appear in no file.
func CheckAgents(text []byte, known []string) error {
	return checkNames(text, "agent", func(r Rule) []string { return r.Agent }, func(pattern string) string {
		what := unknownName("no token is named", pattern, known)
		if what != "" {
			what += " (ignore this if you give the name with --as)"
		}
		return what
	})
}

// CheckLists returns the first rule with an empty list, which matches nothing.
func CheckLists(text []byte) error {
	p, err := Parse(text)
	if err != nil {
		return err
	}
	for i, r := range p.Rules {
		if r.matchesNothing() {
			return diag.Errorf(text, diag.Locate(text, "rule", i+1, ""), "rule %d matches nothing, because one of its lists is empty", i+1)
		}
	}
	return nil
}

// checkNames returns the first mistake in the patterns that the rules have under key. list returns
// these patterns for one rule. wrong describes the mistake in a pattern, or returns "".
func checkNames(text []byte, key string, list func(Rule) []string, wrong func(pattern string) string) error {
	p, err := Parse(text)
	if err != nil {
		return err
	}
	for i, r := range p.Rules {
		for _, pattern := range list(r) {
			if what := wrong(pattern); what != "" {
				return diag.Errorf(text, diag.Locate(text, "rule", i+1, key), "rule %d: %s", i+1, what)
			}
		}
	}
	return nil
}

// unknownName describes a pattern matching none of the known names, and suggests the nearest; "" if
// it matches one.
func unknownName(what, pattern string, known []string) string {
	if pattern == "*" || slices.ContainsFunc(known, func(name string) bool { return glob(pattern, name) }) {
		return ""
	}
	what += " \"" + pattern + "\""
	if near := diag.Nearest(strings.ToLower(pattern), known); near != "" {
		what += "; did you mean \"" + near + "\"?"
	}
	return what
}
