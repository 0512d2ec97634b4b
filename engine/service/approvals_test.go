package service

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/approval"
	"tandem/engine/audit"
	"tandem/persist/store"
)

func TestAgentsCannotForgeAuditLinesOrAnswers(t *testing.T) {
	r := newRig(t)
	log := slog.New(slog.DiscardHandler)
	s := &Approvals{
		Control: r.control, Log: log, Audit: audit.New(store.NewLines(filepath.Join(r.work, "audit"))),
		Arbiter: approval.New(filepath.Join(r.work, "policy.toml"), log, func(api.Event) {}),
	}
	s.Handle(r.mux)
	agent := r.agent()
	agent.bounds.Name = "profile"
	wantError(t, agent, api.RequestAnswer, api.RequestAnswerInput{ID: "x\x1b", Allow: true}, api.CodeForbidden, "only the user may do that")
	wantError(t, r, api.RequestAnswer, api.RequestAnswerInput{ID: "x", Allow: true}, api.CodeNotFound, "")
	wantError(t, agent, api.PolicyCheck, api.PolicyCheckInput{}, api.CodeInvalid, "no tool given")
	if out := call(t, r, api.RequestList, api.Empty{}); out.Requests == nil || len(out.Requests) != 0 {
		t.Errorf("requests are %+v", out)
	}
	now := time.Now()
	for _, at := range []time.Time{{}, now.Add(time.Hour), now.Add(-time.Hour), now.Add(-time.Second)} {
		e := api.AuditEntry{Time: at, Actor: "person", Agent: "other", Client: "owner-2", From: "u@h", Tool: "exec", Outcome: "ok", ID: "1", Call: "2", Operation: "files.delete"}
		call(t, agent, api.AuditAdd, api.AuditAddInput{Entries: []api.AuditEntry{e}})
		got := call(t, r, api.AuditList, api.AuditListInput{Limit: 1}).Entries[0]
		if got.Actor != "agent:claude" || got.Agent != "profile" || got.Client != "owner-1" || got.From != "" || got.ID != "" || got.Call != "" || got.Operation != "" {
			t.Errorf("an agent forged %+v", got)
		}
		if ago := time.Since(got.Time); ago < 0 || ago > maxAuditDelay {
			t.Errorf("reported at %v, recorded at %v", at, got.Time)
		}
	}
	if _, err := api.AuditAdd.Call(t.Context(), r, api.AuditAddInput{}); err != nil && !errors.Is(err, api.CodeInvalid) {
		t.Error(err)
	}
}
