package service

import (
	"context"
	"errors"
	"log/slog"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/record/audit"
	"tandem/engine/session/prompt"
)

// Approvals serves the operations on agents' requests, the policy, and the log of agents' calls.
type Approvals struct {
	Control *supervise.Control
	Arbiter *approval.Arbiter
	Audit   *audit.Log
	Log     *slog.Logger
}

// Handle registers the operations on policy, requests and the audit log.
func (s *Approvals) Handle(m *server.Mux) {
	server.Handle(m, api.PolicyCheck, s.checkPolicy)
	server.Handle(m, api.PolicyEnd, s.endCall)
	server.Handle(m, api.RequestList, s.listRequests)
	server.Handle(m, api.RequestAnswer, s.answerRequest)
	server.Handle(m, api.RequestUndo, s.undoAnswer)
	server.Handle(m, api.AuditList, s.listAudit)
}

func (s *Approvals) checkPolicy(ctx context.Context, in api.PolicyCheckInput) (api.Empty, error) {
	return api.Empty{}, s.Arbiter.CheckCall(ctx, in)
}

func (s *Approvals) endCall(ctx context.Context, _ api.Empty) (api.Empty, error) {
	s.Arbiter.End(ctx)
	return api.Empty{}, nil
}

// DescribeSession implements approval.Arbiter.Sessions.
func (s *Approvals) DescribeSession(ctx context.Context, id string) (approval.Session, bool) {
	e, err := s.Control.FindEntry(ctx, id)
	if err != nil {
		return approval.Session{}, false
	}
	folder := ""
	if e.Session != nil && e.View.PID != 0 {
		folder, _ = e.Session.Folder(e.View.PID)
	}
	return approval.Session{ID: e.Rec.ID, Name: e.Rec.Name, Folder: folder}, true
}

// ReadsSecret reports whether a session's program reads a secret, such as a password. All input of a
// private session counts as secret. If the
// session cannot be looked up, it returns true. It implements server.Mux.Secret.
func (s *Approvals) ReadsSecret(ctx context.Context, id string) bool {
	e, err := s.Control.FindEntry(ctx, id, api.KindSession)
	if err != nil {
		return !errors.Is(err, api.CodeNotFound)
	}
	return e.Rec.Private || e.Session != nil && e.View.PID != 0 && e.Session.Shell().UpdateNeed() == prompt.NeedSecret
}

func (s *Approvals) listRequests(context.Context, api.Empty) (api.RequestListOutput, error) {
	open, answered := s.Arbiter.Requests()
	return api.RequestListOutput{Requests: open, Answered: answered}, nil
}

// answerRequest is for the user only: an agent able to answer would not need to ask.
func (s *Approvals) answerRequest(ctx context.Context, in api.RequestAnswerInput) (api.Request, error) {
	caller := api.CallerOf(ctx)
	if caller.Agent() {
		return api.Request{}, api.Errorf(api.CodeForbidden, "answer request %s: only the user may do that", names.Shown(in.ID))
	}
	s.Log.Info("request", "event", "answer", "id", in.ID, "allow", in.Allow, "by", caller.Name)
	return s.Arbiter.Answer(in, caller.Name)
}

func (s *Approvals) undoAnswer(ctx context.Context, in api.RequestUndoInput) (api.Request, error) {
	r, err := s.Arbiter.Undo(in.ID)
	if err == nil {
		s.Log.Info("request", "event", "answer taken back", "id", r.ID, "by", api.CallerOf(ctx).Name)
	}
	return r, err
}

func (s *Approvals) listAudit(_ context.Context, in api.AuditListInput) (api.AuditListOutput, error) {
	return s.Audit.List(in)
}
