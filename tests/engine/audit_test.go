package engine

import (
	"testing"

	"tandem/engine/api"
)

func TestAuditLogRecordsRestartByAnAgent(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	before := m.info()
	agent := m.agentWithin(api.Bounds{Name: "confined", Sandbox: &api.Sandbox{}})
	if _, err := api.EngineStop.Call(t.Context(), agent, api.EngineStopInput{Restart: true}); err != nil {
		t.Fatal(err)
	}
	m.awaitNextEngine(before)
	for _, e := range call(m, api.AuditList, api.AuditListInput{}).Entries {
		if e.Tool == "engine.stop" && e.Actor == "agent:confined/1" && e.Agent == "confined" && e.Arguments["restart"] == true {
			return
		}
	}
	t.Error("the restart is not in the audit log")
}
