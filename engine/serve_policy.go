package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/names"
	"tandem/engine/secrets"
	"tandem/persist/store"
)

const (
	auditName    = "audit.jsonl"
	auditDefault = 100
	auditMost    = 10_000
)

// handlePolicy serves policy, requests and the audit log.
func (h *host) handlePolicy(m *server.Mux) {
	server.Handle(m, api.PolicyCheck, h.policyCheck)
	server.Handle(m, api.RequestList, h.requestList)
	server.Handle(m, api.RequestAnswer, h.requestAnswer)
	server.Handle(m, api.AuditAdd, h.auditAdd)
	server.Handle(m, api.AuditList, h.auditList)
}

// New makes the arbiter of the policy at path.
func (h *host) newArbiter(path string) *approval.Arbiter {
	return approval.New(path, h.log, func(e api.Event) { h.control.tell(e) })
}

func (h *host) policyCheck(ctx context.Context, in api.PolicyCheckInput) (api.PolicyCheckOutput, error) {
	if in.Tool == "" {
		return api.PolicyCheckOutput{}, api.Errorf(api.CodeInvalid, "check policy: no tool is given")
	}
	if caller := server.CallerOf(ctx); caller.Agent() {
		in.Actor = caller.Actor()
	}
	if in.CWD == "" && in.Session != "" && in.Command != "" {
		// A session that is not there cannot be typed into either.
		in.CWD, _ = h.folderOf(ctx, in.Session)
	}
	if in.Session != "" { // as the person knows it, and only this one
		if e, err := h.control.entry(ctx, in.Session); err == nil {
			in.Session = fmt.Sprintf("%s (%s)", e.rec.Name, e.rec.ID)
		}
	}
	return h.arbiter.Check(ctx, in)
}

func (h *host) requestList(context.Context, api.Empty) (api.RequestListOutput, error) {
	return api.RequestListOutput{Requests: h.arbiter.Requests()}, nil
}

// requestAnswer is for people: an agent that could answer would need no
// question.
func (h *host) requestAnswer(ctx context.Context, in api.RequestAnswerInput) (api.Request, error) {
	caller := server.CallerOf(ctx)
	if caller.Agent() {
		return api.Request{}, api.Errorf(api.CodeForbidden, "answer request %s: that is for the person", names.Shown(in.ID))
	}
	h.log.Info("request", "event", "answer", "id", in.ID, "allow", in.Allow, "by", caller.Name)
	return h.arbiter.Answer(in, caller.Name)
}

// auditDelay is how late at most a call may be told of.
const auditDelay = time.Minute

func (h *host) auditAdd(ctx context.Context, in api.AuditAddInput) (api.Empty, error) {
	caller, now := server.CallerOf(ctx), time.Now()
	var errs []error
	for _, e := range in.Entries {
		if ago := now.Sub(e.Time); ago < 0 || ago > auditDelay {
			e.Time = now
		}
		if caller.Agent() {
			e.Actor, e.Agent, e.Client = caller.Actor(), caller.Bounds.Name, caller.Owner
		}
		e.Arguments = approval.Auditable(e.Arguments)
		e.Error = approval.CutText(secrets.RedactLine(e.Error))
		errs = append(errs, h.audit.Append(e))
	}
	if err := errors.Join(errs...); err != nil {
		return api.Empty{}, api.Errorf(api.CodeInternal, "%v", err)
	}
	return api.Empty{}, nil
}

func (h *host) auditList(_ context.Context, in api.AuditListInput) (api.AuditListOutput, error) {
	limit := in.Limit
	if limit <= 0 {
		limit = auditDefault
	}
	limit = min(limit, auditMost)
	out := api.AuditListOutput{Entries: []api.AuditEntry{}}
	for line, err := range h.audit.Newest() {
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

// newAudit is the audit log of a data folder.
func newAudit(dataDir string) *store.Lines {
	return store.NewLines(filepath.Join(dataDir, auditName))
}
