package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestCompletionSuggestsProcessesAndSessions(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	started, err := api.ProcessStart.Call(t.Context(), r.agent.Engine, api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	shell, err := api.SessionStart.Call(t.Context(), r.agent.Engine, api.SessionStartInput{Command: []string{"sleep", "1000"}, CWD: "/", Name: "work"})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(name string) *sdk.CompleteReference {
		return &sdk.CompleteReference{Type: "ref/prompt", Name: name}
	}
	resource := func(uri string) *sdk.CompleteReference { return &sdk.CompleteReference{Type: "ref/resource", URI: uri} }
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		session := serveClient(t, *r.agent.Options, version, nil)
		complete := func(ref *sdk.CompleteReference, name, value string) string {
			got, err := session.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: name, Value: value}})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(got.Completion.Values, got.Completion.Total, got.Completion.HasMore)
		}
		for _, c := range []struct {
			ref               *sdk.CompleteReference
			name, value, want string
		}{
			{prompt("debug-process"), "process", "w", "[web work] 2 false"},
			{prompt("debug-process"), "process", "web", "[web] 1 false"},
			{prompt("debug-process"), "process", started.ID[:6], "[" + started.ID + "] 1 false"},
			{prompt("debug-process"), "process", "nothing", "[] 0 false"},
			{prompt("watch-dev-server"), "command", "n", "[] 0 false"},
			{resource(logURI), "id", "we", "[web] 1 false"},
			{resource(screenURI), "id", "w", "[work] 1 false"},
			{resource(screenURI), "id", shell.ID[:6], "[" + shell.ID + "] 1 false"},
			{prompt("debug-process"), "id", "w", `"debug-process" has no argument "id"`},
			{prompt("nope"), "x", "", `"nope" has no argument "x"`},
			{resource("file:///{x}"), "x", "", `"file:///{x}" has no argument "x"`},
			{resource(logURI), "x", "", `"tandem://process/{id}/log" has no argument "x"`},
		} {
			got := complete(c.ref, c.name, c.value)
			if sortPair(got) != sortPair(c.want) && !strings.Contains(got, c.want) {
				t.Errorf("%s: %+v %s=%q: %s, want %s", version, c.ref, c.name, c.value, got, c.want)
			}
		}
	}
}

// sortPair puts a list of two names in a fixed order.
func sortPair(s string) string { return strings.Replace(s, "[work web]", "[web work]", 1) }

func TestCompletionListsRunningFirstUpTo100(t *testing.T) {
	t.Parallel()
	all := []api.Process{
		{ID: "a1", Name: "old", State: api.StateExited}, {ID: "a2", Name: "now", State: api.StateRunning},
		{ID: "a3", Name: "a b/c", State: api.StateRunning}, {ID: "a4", Name: "now", State: api.StateExited},
	}
	if diff := cmp.Diff([]string{"now", "a b/c", "old", "a4"}, completionValues(all, "", false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"now", "a3", "old", "a4"}, completionValues(all, "", true)); diff != "" {
		t.Error(diff)
	}
	var many []api.Process
	for i := range maxCompletions + 5 {
		many = append(many, api.Process{ID: fmt.Sprintf("%012x", i), Name: fmt.Sprintf("n%d", i), State: api.StateRunning})
	}
	got := completionDetails(completionValues(many, "", false))
	if len(got.Values) != maxCompletions || got.Total != maxCompletions+5 || !got.HasMore {
		t.Errorf("%+v", got)
	}
}
