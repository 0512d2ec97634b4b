package engine

import (
	"context"
	"testing"

	"tandem/engine/api"
)

func TestAuditLogRecordsRestartByAnAgent(t *testing.T) {
	p := newConfinedAgent(t)
	before := p.info().EnginePID
	if status, answer := p.post(p.bounds, "engine.stop", `{"restart":true}`); status >= 400 {
		t.Fatalf("restart: %d %s", status, answer)
	}
	p.eventually("another engine", func() bool {
		info, err := api.EngineInfo.Call(context.Background(), p.client, api.Empty{})
		return err == nil && info.EnginePID != before
	})
	for _, e := range call(p.machine, api.AuditList, api.AuditListInput{}).Entries {
		if e.Tool == "engine.stop" && e.Actor == agentsName && e.Agent == "confined" && e.Arguments["restart"] == true {
			return
		}
	}
	t.Error("the restart is not in the audit log")
}
