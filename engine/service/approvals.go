package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/names"
	"tandem/engine/secrets"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

const (
	auditDefault = 100
	auditMost    = 10_000
)

// Approvals serves what agents ask to be allowed, and the log of what they did.
type Approvals struct {
	Control *supervise.Control
	Arbiter *approval.Arbiter
	Audit   *store.Lines
	Log     *slog.Logger
}

// Handle serves the operations on policy, requests and the audit log.
func (s *Approvals) Handle(m *server.Mux) {
	server.Handle(m, api.PolicyCheck, s.check)
	server.Handle(m, api.RequestList, s.requests)
	server.Handle(m, api.RequestAnswer, s.answer)
	server.Handle(m, api.AuditAdd, s.addAudit)
	server.Handle(m, api.AuditList, s.listAudit)
}

func (s *Approvals) check(ctx context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	if in.Tool == "" {
		return api.PolicyCheckOutput{}, api.Errorf(api.CodeInvalid, "check policy: no tool given")
	}
	if caller := server.CallerOf(ctx); caller.Agent() {
		in.Actor = caller.Actor()
	}
	if in.Host != "" { // its sessions are not this machine's
		return s.Arbiter.Check(ctx, in)
	}
	if in.CWD == "" && in.Session != "" && in.Command != "" {
		// A session that is not there cannot be typed into either.
		in.CWD, _ = folderOf(ctx, s.Control, in.Session)
	}
	if in.Session != "" { // as the person knows it, and only this one
		if e, err := s.Control.FindEntry(ctx, in.Session); err == nil {
			in.Session = fmt.Sprintf("%s (%s)", e.Rec.Name, e.Rec.ID)
		}
	}
	return s.Arbiter.Check(ctx, in)
}

func (s *Approvals) requests(context.Context, api.Empty) (api.RequestListOutput, error) {
	return api.RequestListOutput{Requests: s.Arbiter.Requests()}, nil
}

// answer is for people: an agent that could answer would need no
// question.
func (s *Approvals) answer(ctx context.Context, in api.RequestAnswerInput) (api.Request, error) {
	caller := server.CallerOf(ctx)
	if caller.Agent() {
		return api.Request{}, api.Errorf(api.CodeForbidden, "answer request %s: only the user may do that", names.Shown(in.ID))
	}
	s.Log.Info("request", "event", "answer", "id", in.ID, "allow", in.Allow, "by", caller.Name)
	return s.Arbiter.Answer(in, caller.Name)
}

// auditDelay is how late at most a call may be told of.
const auditDelay = time.Minute

func (s *Approvals) addAudit(ctx context.Context, in api.AuditAddInput) (api.Empty, error) {
	caller, now := server.CallerOf(ctx), time.Now()
	var errs []error
	for _, e := range in.Entries {
		if ago := now.Sub(e.Time); ago < 0 || ago > auditDelay {
			e.Time = now
		}
		if caller.Agent() {
			e.Actor, e.Agent, e.Client = caller.Actor(), caller.Bounds.Name, caller.Owner
		}
		e.From = caller.Origin.From
		e.Arguments = approval.Auditable(e.Arguments)
		e.Error = approval.CutText(secrets.RedactLine(e.Error))
		errs = append(errs, s.Audit.Append(e))
	}
	if err := errors.Join(errs...); err != nil {
		return api.Empty{}, api.Errorf(api.CodeInternal, "%v", err)
	}
	return api.Empty{}, nil
}

func (s *Approvals) listAudit(_ context.Context, in api.AuditListInput) (api.AuditListOutput, error) {
	limit := in.Limit
	if limit <= 0 {
		limit = auditDefault
	}
	limit = min(limit, auditMost)
	out := api.AuditListOutput{Entries: []api.AuditEntry{}}
	for line, err := range s.Audit.Newest() {
		if err != nil {
			return out, api.Errorf(api.CodeUnavailable, "read audit log: %v", store.Cause(err))
		}
		var e api.AuditEntry
		if json.Unmarshal(line, &e) != nil || in.Actor != "" && e.Actor != in.Actor || in.Tool != "" && e.Tool != in.Tool {
			continue
		}
		if out.Entries = append(out.Entries, e); len(out.Entries) == limit {
			break
		}
	}
	return out, nil
}
