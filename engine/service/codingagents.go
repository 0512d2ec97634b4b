package service

import (
	"context"
	"errors"
	"slices"

	"tandem/engine/access"
	"tandem/engine/agents"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/supervise"
)

// textMost bounds what is kept of a question, in bytes.
const textMost = 4 << 10

// CodingAgents serves what is known of coding agents in sessions.
type CodingAgents struct {
	Control *supervise.Control
	Guard   *access.Guard
	Agents  *agents.Registry
}

// Handle serves the operations.
func (s *CodingAgents) Handle(m *server.Mux) {
	server.Handle(m, api.AgentReport, s.report)
	server.Handle(m, api.AgentExplain, s.explain)
	server.Handle(m, api.AgentSeen, s.seen)
	server.Handle(m, api.AgentWait, s.wait)
}

// watch is that of a session which runs.
func (s *CodingAgents) watch(ctx context.Context, id, doing string) (w *agents.Watch, session api.Process, err error) {
	e, err := s.Control.FindEntry(ctx, id, api.KindSession)
	if err != nil {
		return nil, session, err
	}
	if w = s.Agents.Of(e.Rec.ID); w == nil {
		return nil, session, api.Errorf(api.CodeEnded, "%s of %s: it has ended", doing, e.View.Name)
	}
	return w, e.View, nil
}

func (s *CodingAgents) report(ctx context.Context, in api.AgentReportInput) (api.Empty, error) {
	switch {
	case !api.IsAgentState(in.State) && (in.State != "" || in.Conversation == ""):
		return api.Empty{}, api.Errorf(api.CodeInvalid, "report state %s: unknown", names.Shown(string(in.State))).
			WithHint("give working, blocked, done, idle or unknown")
	case len(in.Text) > textMost || len(in.Conversation) > textMost:
		return api.Empty{}, api.Errorf(api.CodeInvalid, "report state: text is longer than %d bytes", textMost)
	case in.Agent != "" && names.Check(in.Agent) != nil:
		return api.Empty{}, names.Check(in.Agent)
	}
	if in.ID == "" {
		if in.ID = s.Agents.Talking(in.Conversation, in.Folder); in.ID == "" {
			return api.Empty{}, api.Errorf(api.CodeNotFound, "report state: no session is known by that conversation and folder").WithHint("give its id")
		}
	}
	w, view, err := s.watch(ctx, in.ID, "report state")
	if err == nil {
		err = s.Guard.MayReport(ctx, view)
	}
	if err == nil {
		w.Report(in.Agent, in.State, in.Text, in.Conversation)
	}
	return api.Empty{}, err
}

func (s *CodingAgents) explain(ctx context.Context, in api.IDInput) (api.AgentExplainOutput, error) {
	w, view, err := s.watch(ctx, in.ID, "explain the agent")
	if err != nil {
		return api.AgentExplainOutput{}, err
	}
	return w.Explain(view.ID), nil
}

func (s *CodingAgents) seen(ctx context.Context, in api.AgentSeenInput) (api.Empty, error) {
	w, _, err := s.watch(ctx, in.ID, "note as seen the agent")
	if err == nil {
		w.Seen(in.Since)
	}
	return api.Empty{}, err
}

// errMet ends a wait.
var errMet = errors.New("met")

func (s *CodingAgents) wait(ctx context.Context, in api.AgentWaitInput) (out api.AgentWaitOutput, err error) {
	if len(in.States) == 0 || !allAgentStates(in.States) || in.TimeoutMS < 0 {
		return out, api.Errorf(api.CodeInvalid, "wait for agents: must be states of working, blocked, done and idle")
	}
	live := make(map[string]bool) // of the sessions waited for
	for _, id := range in.IDs {
		e, err := s.Control.FindEntry(ctx, id, api.KindSession)
		if err != nil {
			return out, err
		}
		live[e.Rec.ID] = true
	}
	watch, cancel := waitTimeout(ctx, in.TimeoutMS)
	defer cancel()
	any := len(in.IDs) == 0
	see := func(p api.Process) {
		switch {
		case !any && !live[p.ID]:
		case p.State.Ended():
			delete(live, p.ID)
		case out.Process == nil && p.Agent != nil && slices.Contains(in.States, p.Agent.State) && (in.After.IsZero() || p.Agent.Since.After(in.After)):
			out.Process = &p
		}
	}
	err = s.Control.Watch(watch, "", true, only, func(e api.Event) error {
		for _, p := range e.Processes {
			see(p)
		}
		if e.Process != nil {
			see(*e.Process)
		}
		if e.Type == api.EventRemoved {
			delete(live, e.ID)
		}
		if out.Ended = !any && len(live) == 0; out.Ended || out.Process != nil {
			return errMet
		}
		return nil
	})
	if errors.Is(err, errMet) || watch.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return out, err
}

func only(snapshot api.Event) []api.Event { return []api.Event{snapshot} }

func allAgentStates(states []api.AgentState) bool {
	return !slices.ContainsFunc(states, func(s api.AgentState) bool { return !api.IsAgentState(s) })
}
