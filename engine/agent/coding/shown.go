package coding

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/persist/store"
)

// ToAPI returns the description of an agent for clients.
func ToAPI(a *store.Agent) *api.CodingAgent {
	d := Decide(a.Words)
	return &api.CodingAgent{
		Name: a.Name, State: d.State, Text: d.Text, Source: d.Source, Since: d.Since, Conversation: a.Conversation, Cost: a.Cost,
		Seen: d.State == api.AgentDone && d.Since.Equal(a.Seen),
	}
}

// orderedWords returns everything known about an agent, most trusted source first.
func orderedWords(a *store.Agent) (all []api.AgentWord) {
	decides := Decide(a.Words).Source
	for _, source := range trustOrder {
		i := slices.IndexFunc(a.Words, func(w store.AgentWord) bool { return w.Source == source })
		if i >= 0 {
			w := a.Words[i]
			all = append(all, api.AgentWord{Source: source, State: api.AgentState(w.State), Text: w.Text, At: w.At, Decides: source == decides})
		}
	}
	return all
}

// Explain returns everything known about a session's agent, with the sources.
func (w *Watch) Explain(session string) api.AgentExplainOutput {
	w.inspect()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := api.AgentExplainOutput{Session: session}
	if w.agentState == nil {
		return out
	}
	out.Agent, out.PID, out.Words = ToAPI(w.agentState), processOf(w.agentState).PID, orderedWords(w.agentState)
	out.Lines = w.takesLines()
	if w.agentState.Process != nil {
		if rows, err := w.terminal.Rows(context.Background()); err == nil && out.Agent.State == api.AgentBlocked {
			out.Yes, out.No = w.rule.answerKeys(rows)
		}
		out.Sources, out.Transcript = w.rule.Sources, w.rule.findTranscript(w.readableTree(), w.o.Home, w.agentState.Conversation, processOf(w.agentState).PID)
	}
	return out
}
