package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	// maxRounds is the maximum number of calls waiting to be repeated with an answer.
	maxRounds = 64
	// allowInput is the name of the answer.
	allowInput = "allow"
)

// rounds holds calls whose result was a question (MCP 2026-07-28, Multi Round-Trip Requests).
// Clients of these versions cannot be asked anything during a call. They repeat the call with the
// user's answer and the state from the first result.
type rounds struct {
	mu    sync.Mutex
	open  map[string]*round
	order []string // states, oldest first
}

// A round is a call between its question and the answer.
type round struct {
	call      [sha256.Size]byte // digest of its agent, tool and arguments
	dashboard chan verdict      // at most one
	withdraw  context.CancelFunc
}

// A verdict is the outcome of a question.
type verdict struct {
	out api.PolicyCheckOutput
	err error
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

// askInRounds asks the user in the dashboard and returns a question for the client as more. When
// the client repeats the call, it returns the decision as out.
func (s *server) askInRounds(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, rule string, req *sdk.CallToolRequest) (out api.PolicyCheckOutput, more *toolkit.Result, err error) {
	call := callDigest(f, req)
	if r := s.rounds.takeRound(req.Params.RequestState, call); r != nil {
		defer r.withdraw()
		out, err = r.awaitVerdict(ctx, req.Params.InputResponses[allowInput])
		return out, nil, err
	}
	// From the server's context: the question stays open after this call has returned.
	asking, withdraw := context.WithCancel(s.ctx)
	r := &round{call: call, dashboard: make(chan verdict, 1), withdraw: withdraw}
	s.tasks.Go(func() {
		out, err := api.PolicyCheck.Call(asking, f.Engine, in)
		r.dashboard <- verdict{out, err}
	})
	return out, &toolkit.Result{
		Input: sdk.InputRequestMap{allowInput: &sdk.ElicitParams{Mode: "form", Message: questionText(in, rule), RequestedSchema: elicitation}},
		State: s.rounds.openRound(r),
	}, nil
}

// awaitVerdict returns the first decision: the dashboard's if there is one, otherwise the client's.
// Without either, it waits for the dashboard.
func (r *round) awaitVerdict(ctx context.Context, given sdk.InputResponse) (api.PolicyCheckOutput, error) {
	var out api.PolicyCheckOutput
	answered := false
	if a, ok := given.(*sdk.ElicitResult); ok {
		out, answered = decisionFrom(a)
	}
	select {
	case v := <-r.dashboard:
		if v.err == nil || !answered {
			return v.out, v.err
		}
	default:
	}
	if answered {
		return out, nil
	}
	select {
	case v := <-r.dashboard:
		return v.out, v.err
	case <-ctx.Done():
		return out, ctx.Err()
	}
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
