package service

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/record/audit"
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
	r.mux.Audit = s.Audit
	agent := r.agent()
	agent.bounds.Name = "profile"
	wantError(t, agent, api.RequestAnswer, api.RequestAnswerInput{ID: "x\x1b", Allow: true}, api.CodeForbidden, "only the user may do that")
	wantError(t, r, api.RequestAnswer, api.RequestAnswerInput{ID: "x", Allow: true}, api.CodeNotFound, "")
	wantError(t, agent, api.PolicyCheck, api.PolicyCheckInput{}, api.CodeInvalid, "must name the call")
	if out := call(t, r, api.RequestList, api.Empty{}); out.Requests == nil || len(out.Requests) != 0 {
		t.Errorf("requests are %+v", out)
	}
	all := call(t, r, api.AuditList, api.AuditListInput{}).Entries
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, e := range all {
		if e.Actor != "agent:claude" || e.Agent != "profile" || e.Client != "owner-1" || e.Outcome == api.OutcomeOK {
			t.Errorf("recorded %+v", e)
		}
	}
}

func TestInputIsSecretIfSessionLookupFails(t *testing.T) {
	r := newRig(t)
	s := &Approvals{Control: r.control}
	if s.ReadsSecret(t.Context(), "missing") {
		t.Error("the input of a missing session is secret")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	s.Control = supervise.NewControl(canceled, r.executor, r.executor, slog.New(slog.DiscardHandler))
	s.Control.Run() // ends at once, so every lookup fails
	if !s.ReadsSecret(t.Context(), "missing") {
		t.Error("input is not secret after a failed lookup")
	}
}
