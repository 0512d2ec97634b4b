package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestAuditLogHoldsAgentsCallsWithoutSecrets(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(3)) }
	agent := m.agent("owner1").client
	asTool := func(tool string) context.Context {
		return api.WithToolCall(t.Context(), &api.ToolCall{ID: api.NewID(), Tools: []string{tool}})
	}
	if err := api.EnvSet.Run(asTool("env_set"), agent, api.EnvSetInput{Name: "API_TOKEN", Value: "hush"}); err != nil {
		t.Fatal(err)
	}
	long := "curl -H 'Authorization: Bearer hush' x; exit 3 #" + strings.Repeat("x", 5000)
	if err := api.Exec.Run(asTool("exec"), agent, api.ExecInput{
		Command: []string{"sh", "-c", long}, Actor: "agent:somebody-else", Env: map[string]string{"MY_PASSWORD": "hush"}, CWD: "/",
	}); err != nil {
		t.Fatal(err)
	}
	all := call(m.machine, api.AuditList, api.AuditListInput{})
	if len(all.Entries) != 3 { // with engine.info, when it connected
		t.Fatalf("%+v", all)
	}
	e := all.Entries[0]
	if e.Tool != "exec" || e.Operation != "exec" || e.Actor != "agent:tester/1" || e.Client != "owner1" || e.Outcome != "error" || e.Error != "exit code 3" || e.Process == "" {
		t.Errorf("%+v", e)
	}
	text, err := os.ReadFile(filepath.Join(m.dir, auditName))
	if err != nil || strings.Contains(string(text), "hush") || len(text) > 6000 {
		t.Errorf("%v\n%s", err, text)
	}
	if some := call(m.machine, api.AuditList, api.AuditListInput{Tool: "env_set"}); len(some.Entries) != 1 {
		t.Errorf("of one tool: %+v", some)
	}
}

func TestAgentCannotAnswerRequests(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	agent := m.agent("owner1").client
	if _, err := api.RequestAnswer.Call(t.Context(), agent, api.RequestAnswerInput{ID: "x", Allow: true}); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("%v", err)
	}
}
