package agents

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/persist/store"
)

// Shown is what clients are told of an agent.
func Shown(a *store.Agent) *api.CodingAgent {
	d := Decide(a.Words)
	return &api.CodingAgent{
		Name: a.Name, State: d.State, Text: d.Text, Source: d.Source, Since: d.Since, Conversation: a.Conversation, Cost: a.Cost,
		Seen: d.State == api.AgentDone && d.Since.Equal(a.Seen),
	}
}

// words are what is known of an agent, in the order of trust.
func words(a *store.Agent) (all []api.AgentWord) {
	decides := Decide(a.Words).Source
	for _, source := range order {
		i := slices.IndexFunc(a.Words, func(w store.AgentWord) bool { return w.Source == source })
		if i >= 0 {
			w := a.Words[i]
			all = append(all, api.AgentWord{Source: source, State: api.AgentState(w.State), Text: w.Text, At: w.At, Decides: source == decides})
		}
	}
	return all
}

// Explain tells what is known, and from what.
func (w *Watch) Explain(session string) api.AgentExplainOutput {
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := api.AgentExplainOutput{Session: session}
	if w.known == nil {
		return out
	}
	out.Agent, out.PID, out.Words = Shown(w.known), identity(w.known).PID, words(w.known)
	out.Lines = w.takesLines()
	if w.known.Process != nil {
		if rows, err := w.terminal.Rows(context.Background()); err == nil && out.Agent.State == api.AgentBlocked {
			out.Yes, out.No = w.rule.answers(rows)
		}
		out.Sources, out.Transcript = w.rule.Sources, w.rule.transcript(w.tree(), w.o.Home, w.known.Conversation, identity(w.known).PID)
	}
	return out
}
