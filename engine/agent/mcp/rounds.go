package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	// maxRounds is the maximum number of calls waiting to be repeated with an answer.
	maxRounds = 64
	// allowInput is the name of the answer.
	allowInput = "allow"
)

// rounds holds calls whose result was a question (MCP 2026-07-28, Multi Round-Trip Requests).
// Clients with this protocol version cannot be asked anything during a call. They repeat the call with
// the user's answer and the state from the first result.
type rounds struct {
	mu    sync.Mutex
	open  map[string]*round
	order []string // states, oldest first
}

// A round is a call between its question and the answer.
type round struct {
	id        string            // of the call in the engine
	call      [sha256.Size]byte // digest of its agent, tool and arguments
	question  api.PolicyCheckInput
	dashboard chan error // at most one: nil if the user has allowed it there
	withdraw  context.CancelFunc
}

// supportsRounds reports whether an agent's client takes questions as results and can show them to
// its user.
func supportsRounds(f *toolkit.Agent, req *sdk.CallToolRequest) bool {
	if f.Options.NoElicit || req.ProtocolVersion() < toolkit.WithoutSessions {
		return false
	}
	can := req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// openRound asks the user in the dashboard, and returns the question for the agent's program.
func (p *permit) openRound(f *toolkit.Agent, in api.PolicyCheckInput, request api.Request) *toolkit.Result {
	// Use the server's context, because the question stays open after this call has returned.
	asking, withdraw := context.WithCancel(p.s.ctx)
	r := &round{id: p.id, call: callDigest(p.call.own, p.call.req), question: in, dashboard: make(chan error, 1), withdraw: withdraw}
	p.s.tasks.Go(func() { r.dashboard <- p.check(asking, f, in, "") })
	return &toolkit.Result{
		Input: sdk.InputRequestMap{allowInput: &sdk.ElicitParams{Mode: "form", Message: questionText(request), RequestedSchema: elicitation}},
		State: p.s.rounds.openRound(r),
	}
}

// awaitAnswer returns the answer given by the agent's client. If the client has not answered, it
// waits for the dashboard and returns its outcome as err, with answer "". If both have answered,
// the dashboard's outcome counts.
func (r *round) awaitAnswer(ctx context.Context, given sdk.InputResponse) (answer string, err error) {
	if a, ok := given.(*sdk.ElicitResult); ok {
		answer = answerFrom(a)
	}
	select {
	case err := <-r.dashboard:
		return "", err
	default:
	}
	if answer != "" {
		r.withdraw()
		if err := <-r.dashboard; errors.Is(err, api.ReasonDenied) {
			return "", err // the user denied it in the dashboard at the same moment
		}
		return answer, nil
	}
	select {
	case err := <-r.dashboard:
		return "", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// isOpen reports whether the agent's client was asked a question about the call id, and has not yet
// repeated the call with the answer.
func (q *rounds) isOpen(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.open {
		if r.id == id {
			return true
		}
	}
	return false
}

// openRound stores a round, dropping the oldest if there are too many, and returns the state to
// find it again.
func (q *rounds) openRound(r *round) (state string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == maxRounds {
		q.closeRound(q.order[0]).withdraw()
	}
	if q.open == nil {
		q.open = map[string]*round{}
	}
	state = rand.Text()
	q.open[state], q.order = r, append(q.order, state)
	return state
}

// takeRound removes and returns the round of a state. It returns nil if the round is about another
// call: an answer allows only the call in question, and only once.
func (q *rounds) takeRound(state string, call [sha256.Size]byte) *round {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.open[state]; r == nil || r.call != call {
		return nil
	}
	return q.closeRound(state)
}

// closeRound removes a round. The caller holds mu.
func (q *rounds) closeRound(state string) *round {
	r := q.open[state]
	delete(q.open, state)
	q.order = slices.DeleteFunc(q.order, func(s string) bool { return s == state })
	return r
}

// callDigest identifies a call by its agent, tool and arguments. Decoding makes it independent of
// white space and key order.
func callDigest(f *toolkit.Agent, req *sdk.CallToolRequest) [sha256.Size]byte {
	var args any
	_ = json.Unmarshal(req.Params.Arguments, &args)                // the tool reports invalid arguments
	text, _ := json.Marshal([]any{f.Owner, req.Params.Name, args}) // decoded values can be encoded
	return sha256.Sum256(text)
}
