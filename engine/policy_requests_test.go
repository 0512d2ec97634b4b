package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestAuditLogHoldsAgentsCallsWithoutSecrets(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	agent := m.agent("owner1").client
	for _, e := range []api.AuditEntry{
		{Tool: "env_set", Arguments: map[string]any{"key": "API_TOKEN", "value": "hush"}, Outcome: "ok"},
		{Tool: "exec", Actor: "agent:somebody-else", Arguments: map[string]any{
			"command": "curl -H 'Authorization: Bearer hush' x", "env": map[string]any{"MY_PASSWORD": "hush"}, "long": strings.Repeat("x", 5000),
		}, Outcome: "denied"},
	} {
		if _, err := api.AuditAdd.Call(t.Context(), agent, api.AuditAddInput{Entries: []api.AuditEntry{e}}); err != nil {
			t.Fatal(err)
		}
	}
	all := call(m, api.AuditList, api.AuditListInput{})
	if len(all.Entries) != 2 || all.Entries[0].Tool != "exec" || all.Entries[0].Actor != "agent:tester/1" || all.Entries[0].Client != "owner1" {
		t.Fatalf("%+v", all)
	}
	if long := all.Entries[0].Arguments["long"].(string); len(long) > 3000 {
		t.Errorf("a long text takes %d bytes", len(long))
	}
	text, err := os.ReadFile(filepath.Join(m.dir, auditName))
	if err != nil || strings.Contains(string(text), "hush") {
		t.Errorf("%v\n%s", err, text)
	}
	if some := call(m, api.AuditList, api.AuditListInput{Tool: "env_set"}); len(some.Entries) != 1 {
		t.Errorf("of one tool: %+v", some)
	}
}

func TestAgentCannotAnswerRequests(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	agent := m.agent("owner1").client
	if _, err := api.RequestAnswer.Call(t.Context(), agent, api.RequestAnswerInput{ID: "x", Allow: true}); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("%v", err)
	}
}
