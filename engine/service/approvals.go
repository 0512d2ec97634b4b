package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/audit"
	"tandem/engine/names"
	"tandem/engine/supervise"
)

// Approvals serves agents' requests, the policy, and the log of agents' calls.
type Approvals struct {
	Control *supervise.Control
	Arbiter *approval.Arbiter
	Audit   *audit.Log
	Log     *slog.Logger
}

// Handle registers the operations on policy, requests and the audit log.
func (s *Approvals) Handle(m *server.Mux) {
	server.Handle(m, api.PolicyCheck, s.checkPolicy)
	server.Handle(m, api.RequestList, s.listRequests)
	server.Handle(m, api.RequestAnswer, s.answerRequest)
	server.Handle(m, api.AuditAdd, s.addAudit)
	server.Handle(m, api.AuditList, s.listAudit)
}

func (s *Approvals) checkPolicy(ctx context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	if in.Tool == "" {
		return api.PolicyCheckOutput{}, api.Errorf(api.CodeInvalid, "check policy: no tool given")
	}
	if caller := server.CallerOf(ctx); caller.Agent() {
		in.Actor = caller.Actor()
	}
	if in.Host != "" { // its sessions are on that machine
		return s.Arbiter.Check(ctx, in)
	}
	if in.CWD == "" && in.Session != "" && in.Command != "" {
		// An unknown session is no reason to fail: nothing can be typed into it anyway.
		in.CWD, _ = folderOf(ctx, s.Control, in.Session)
	}
	// Name this one session as the user knows it, so that an approval does not cover all of them.
	if in.Session != "" {
		if e, err := s.Control.FindEntry(ctx, in.Session); err == nil {
			in.Session = fmt.Sprintf("%s (%s)", e.Rec.Name, e.Rec.ID)
		}
	}
	return s.Arbiter.Check(ctx, in)
}

func (s *Approvals) listRequests(context.Context, api.Empty) (api.RequestListOutput, error) {
	return api.RequestListOutput{Requests: s.Arbiter.Requests()}, nil
}

// answerRequest is for the user only: an agent able to answer would not need to ask.
func (s *Approvals) answerRequest(ctx context.Context, in api.RequestAnswerInput) (api.Request, error) {
	caller := server.CallerOf(ctx)
	if caller.Agent() {
		return api.Request{}, api.Errorf(api.CodeForbidden, "answer request %s: only the user may do that", names.Shown(in.ID))
	}
	s.Log.Info("request", "event", "answer", "id", in.ID, "allow", in.Allow, "by", caller.Name)
	return s.Arbiter.Answer(in, caller.Name)
}

// maxAuditDelay is how late a call may be reported.
const maxAuditDelay = time.Minute

func (s *Approvals) addAudit(ctx context.Context, in api.AuditAddInput) (api.Empty, error) {
	caller, now := server.CallerOf(ctx), time.Now()
	var errs []error
	for _, e := range in.Entries {
		// Agents report their own calls: do not let one rewrite the past.
		if ago := now.Sub(e.Time); ago < 0 || ago > maxAuditDelay {
			e.Time = now
		}
		// The connection identifies the agent; its own statements do not count.
		if caller.Agent() {
			e.Actor, e.Agent, e.Client = caller.Actor(), caller.Bounds.Name, caller.Owner
		}
		e.From = caller.Origin.From
		e.ID, e.Call, e.Operation = "", "", "" // only the engine knows them
		e.Arguments = audit.Arguments(e.Arguments, false)
		errs = append(errs, s.Audit.Record(e))
	}
	if err := errors.Join(errs...); err != nil {
		return api.Empty{}, api.Errorf(api.CodeInternal, "%v", err)
	}
	return api.Empty{}, nil
}

func (s *Approvals) listAudit(_ context.Context, in api.AuditListInput) (api.AuditListOutput, error) {
	return s.Audit.List(in)
}
