package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
)

func TestInstructionsNameOnlyOfferedTools(t *testing.T) {
	t.Parallel()
	all := selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}})
	name := regexp.MustCompile(`[a-z_]+`)
	for _, o := range []toolkit.Options{
		{Profiles: []toolkit.Profile{toolkit.Native}}, {Profiles: []toolkit.Profile{toolkit.All}}, {Profiles: []toolkit.Profile{toolkit.Plugin}}, {Profiles: []toolkit.Profile{toolkit.Core, toolkit.OS}},
		{Profiles: []toolkit.Profile{toolkit.Native}, ReadOnly: true},
	} {
		tools := selectTools(o)
		for _, word := range name.FindAllString(instructions("", tools), -1) {
			is := func(t toolkit.Tool) bool { return t.Name == word }
			if slices.ContainsFunc(all, is) && !slices.ContainsFunc(tools, is) && word != "read" {
				t.Errorf("%v: it speaks of %s", o.Profiles, word)
			}
		}
	}
	native := instructions("", selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}}))
	if want := "exec shows up to 8000 characters of each stream, or the first and last 2000 of longer output"; !strings.Contains(native, want) {
		t.Errorf("they do not say how exec shortens output: %s", native)
	}
	if got := instructions("t_", selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}})); !regexp.MustCompile(`\bt_exec\b`).MatchString(got) {
		t.Errorf("without the prefix: %s", got)
	}
}
