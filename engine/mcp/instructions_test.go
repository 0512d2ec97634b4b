package mcp

import (
	"regexp"
	"slices"
	"testing"
)

func TestInstructionsNameOnlyToolsThatThereAre(t *testing.T) {
	all := toolset(Options{Profiles: []Profile{All}})
	name := regexp.MustCompile(`[a-z_]+`)
	for _, o := range []Options{
		{Profiles: []Profile{Native}}, {Profiles: []Profile{All}}, {Profiles: []Profile{Plugin}}, {Profiles: []Profile{Core, OS}},
		{Profiles: []Profile{Native}, ReadOnly: true},
	} {
		tools := toolset(o)
		for _, word := range name.FindAllString(instructions("", tools), -1) {
			is := func(t tool) bool { return t.name == word }
			if slices.ContainsFunc(all, is) && !slices.ContainsFunc(tools, is) && word != "read" {
				t.Errorf("%v: it speaks of %s", o.Profiles, word)
			}
		}
	}
	if got := instructions("t_", toolset(Options{Profiles: []Profile{Native}})); !regexp.MustCompile(`\bt_exec\b`).MatchString(got) {
		t.Errorf("without the prefix: %s", got)
	}
}
