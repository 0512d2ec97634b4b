package approval

import (
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

func TestDifferentRequestsHaveDifferentSameness(t *testing.T) {
	seen := map[string]api.PolicyCheckInput{}
	for _, in := range []api.PolicyCheckInput{
		{Tool: "exec", Argv: []string{"rm", "x"}},
		{Tool: "exec", Argv: []string{"rm\x00x"}},
		{Tool: "exec", Argv: []string{"rm"}, Paths: []string{"x"}},
		{Tool: "exec", Paths: []string{"rm", "x"}},
		{Tool: "exec", Argv: []string{"rm", "x", ""}},
		{Tool: "exec", Argv: []string{"rm1:x"}},
		{Tool: "exec", Argv: []string{"", "rm", "x"}},
		{Tool: "exec\x00rm", Argv: []string{"x"}},
		{Tool: "exec", Command: "rm\x00", Session: "x"},
		{Tool: "exec", Command: "rm", Session: "\x00x"},
		{Tool: "exec", Write: true, Argv: []string{"rm", "x"}},
	} {
		key := samenessOf(server.Caller{}, in)
		if before, ok := seen[key]; ok {
			t.Errorf("%+v and %+v are the same", before, in)
		}
		seen[key] = in
	}
	in, again := api.PolicyCheckInput{Tool: "exec", Argv: []string{"rm"}}, api.PolicyCheckInput{Tool: "exec", Argv: []string{"rm"}}
	if samenessOf(server.Caller{}, in) != samenessOf(server.Caller{}, again) {
		t.Error("the same request is another")
	}
	if samenessOf(server.Caller{Bounds: api.Bounds{Name: "ci"}}, in) == samenessOf(server.Caller{}, in) {
		t.Error("another agent's request is the same")
	}
}
