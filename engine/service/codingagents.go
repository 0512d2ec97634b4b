package service

import (
	"context"
	"errors"
	"slices"

	"tandem/engine/agent/access"
	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
)

// maxReportText is the maximum length of a text in a report, in bytes.
const maxReportText = 4 << 10

// CodingAgents serves the state of coding agents in sessions.
type CodingAgents struct {
	Control *supervise.Control
	Guard   *access.Guard
	Agents  *coding.Registry
}

// Handle registers the operations.
func (s *CodingAgents) Handle(m *server.Mux) {
	server.Handle(m, api.AgentReport, s.reportState)
	server.Handle(m, api.AgentExplain, s.explainState)
	server.Handle(m, api.AgentSeen, s.markSeen)
	server.Handle(m, api.AgentWait, s.waitForAgent)
}

// findWatch returns the watch and the view of a running session. doing is what the caller is doing,
// for errors.
func (s *CodingAgents) findWatch(ctx context.Context, id, doing string) (w *coding.Watch, session api.Process, err error) {
	e, err := s.Control.FindEntry(ctx, id, api.KindSession)
	if err != nil {
		return nil, session, err
	}
	if w = s.Agents.Of(e.Rec.ID); w == nil {
		return nil, session, api.Errorf(api.CodeEnded, "%s of %s: it has exited", doing, e.View.Name)
	}
	return w, e.View, nil
}

func (s *CodingAgents) reportState(ctx context.Context, in api.AgentReportInput) (api.Empty, error) {
	switch {
	case !api.IsAgentState(in.State) && (in.State != "" || in.Conversation == ""):
		return api.Empty{}, api.Errorf(api.CodeInvalid, "report state %s: unknown", names.Shown(string(in.State))).
			WithHint("give working, blocked, done, idle or unknown")
	case len(in.Text) > maxReportText || len(in.Conversation) > maxReportText:
		return api.Empty{}, api.Errorf(api.CodeInvalid, "report state: text is longer than %d bytes", maxReportText)
	case in.Agent != "" && names.CheckLabel(in.Agent) != nil:
		return api.Empty{}, api.Invalid(names.CheckLabel(in.Agent))
	}
	// A hook of an agent may know only its conversation and folder, but not its session.
	if in.ID == "" {
		if in.ID = s.Agents.FindByConversation(in.Conversation, in.Folder); in.ID == "" {
			return api.Empty{}, api.Errorf(api.CodeNotFound, "report state: no session matches that conversation and folder").WithHint("give its id")
		}
	}
	w, view, err := s.findWatch(ctx, in.ID, "report state")
	if err == nil {
		err = s.Guard.MayReport(ctx, view)
	}
	if err == nil {
		w.Report(in.Agent, in.State, in.Text, in.Conversation)
	}
	return api.Empty{}, err
}

func (s *CodingAgents) explainState(ctx context.Context, in api.IDInput) (api.AgentExplainOutput, error) {
	w, view, err := s.findWatch(ctx, in.ID, "explain the agent")
	if err != nil {
		return api.AgentExplainOutput{}, err
	}
	out := w.Explain(view.ID)
	out.Name = view.Name
	return out, nil
}

func (s *CodingAgents) markSeen(ctx context.Context, in api.AgentSeenInput) (api.Empty, error) {
	w, _, err := s.findWatch(ctx, in.ID, "mark as seen the agent")
	if err == nil {
		w.MarkSeen(in.Since)
	}
	return api.Empty{}, err
}

// errMet ends a wait whose condition is met.
var errMet = errors.New("met")

func (s *CodingAgents) waitForAgent(ctx context.Context, in api.AgentWaitInput) (out api.AgentWaitOutput, err error) {
	if len(in.States) == 0 || !areAgentStates(in.States) || in.TimeoutMS < 0 {
		return out, api.Errorf(api.CodeInvalid, "wait for agents: must be states of working, blocked, done and idle")
	}
	live := make(map[string]bool) // ids of the sessions waited for
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
	check := func(p api.Process) {
		switch {
		case !any && !live[p.ID]:
		case p.State.Ended():
			delete(live, p.ID)
		case out.Process == nil && p.Agent != nil && slices.Contains(in.States, p.Agent.State) && (in.After.IsZero() || p.Agent.Since.After(in.After)):
			out.Process = &p
		}
	}
	err = s.Control.Watch(watch, "", true, onlySnapshot, func(e api.Event) error {
		for _, p := range e.Processes {
			check(p)
		}
		if e.Process != nil {
			check(*e.Process)
		}
		if e.Type == api.EventRemoved {
			delete(live, e.ID)
		}
		// If the caller named sessions, the wait cannot succeed once all of them have exited.
		if out.Ended = !any && len(live) == 0; out.Ended || out.Process != nil {
			return errMet
		}
		return nil
	})
	// If only the context of the watch ended, the wait timed out, which is no error.
	if errors.Is(err, errMet) || watch.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return out, err
}

func onlySnapshot(snapshot api.Event) []api.Event { return []api.Event{snapshot} }

func areAgentStates(states []api.AgentState) bool {
	return !slices.ContainsFunc(states, func(s api.AgentState) bool { return !api.IsAgentState(s) })
}
