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
	// roundsMost is how many calls may wait for an answer that comes with the
	// same call once more.
	roundsMost = 64
	// allowInput is what the answer is called.
	allowInput = "allow"
)

// rounds are the calls that were answered with a question (MCP 2026-07-28, Multi
// Round-Trip Requests): such programs cannot be asked anything while a call
// runs, so they call once more, with their person's answer and the state that
// they were given.
type rounds struct {
	mu    sync.Mutex
	open  map[string]*round
	order []string // of the states, oldest first
}

// A round is a call between its question and the answer to that.
type round struct {
	call      [sha256.Size]byte // whose it is, of what, with which arguments
	dashboard chan verdict      // at most one
	withdraw  context.CancelFunc
}

// A verdict is what became of a question.
type verdict struct {
	out api.PolicyCheckOutput
	err error
}

// asksInRounds reports whether an agent's program wants questions as answers,
// and can put them to its person.
func asksInRounds(f *toolkit.Agent, req *sdk.CallToolRequest) bool {
	if f.Options.NoElicit || req.ProtocolVersion() < toolkit.WithoutSessions {
		return false
	}
	can := req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// askInRounds puts a request before the person in the dashboard and has the
// agent's program ask too. There is more to answer first, or the call was made
// once more with what has been answered.
func (s *server) askInRounds(ctx context.Context, f *toolkit.Agent, in api.PolicyCheckInput, rule string, req *sdk.CallToolRequest) (out api.PolicyCheckOutput, more *toolkit.Result, err error) {
	call := sumOf(f, req)
	if r := s.rounds.take(req.Params.RequestState, call); r != nil {
		defer r.withdraw()
		out, err = r.settle(ctx, req.Params.InputResponses[allowInput])
		return out, nil, err
	}
	asking, withdraw := context.WithCancel(s.ctx)
	r := &round{call: call, dashboard: make(chan verdict, 1), withdraw: withdraw}
	s.tasks.Go(func() {
		out, err := api.PolicyCheck.Call(asking, f.Engine, in)
		r.dashboard <- verdict{out, err}
	})
	return out, &toolkit.Result{
		Input: sdk.InputRequestMap{allowInput: &sdk.ElicitParams{Mode: "form", Message: question(in, rule), RequestedSchema: elicitation}},
		State: s.rounds.put(r),
	}, nil
}

// settle is the first answer: the dashboard's if it is there, else the program's;
// where nobody has answered there, the dashboard is waited for.
func (r *round) settle(ctx context.Context, given sdk.InputResponse) (api.PolicyCheckOutput, error) {
	var out api.PolicyCheckOutput
	answered := false
	if a, ok := given.(*sdk.ElicitResult); ok {
		out, answered = decided(a)
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

// put opens a round, and forgets the oldest if there are too many. The state is
// what leads back to it.
func (q *rounds) put(r *round) (state string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == roundsMost {
		q.close(q.order[0]).withdraw()
	}
	if q.open == nil {
		q.open = map[string]*round{}
	}
	state = rand.Text()
	q.open[state], q.order = r, append(q.order, state)
	return state
}

// take ends a round; nil if the state is not of the call, so that an answer
// allows only what was asked about, and only once.
func (q *rounds) take(state string, call [sha256.Size]byte) *round {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.open[state]; r == nil || r.call != call {
		return nil
	}
	return q.close(state)
}

// close forgets a round. The lock is held.
func (q *rounds) close(state string) *round {
	r := q.open[state]
	delete(q.open, state)
	q.order = slices.DeleteFunc(q.order, func(s string) bool { return s == state })
	return r
}

// sumOf tells a call from others: by its agent, its tool and its arguments.
func sumOf(f *toolkit.Agent, req *sdk.CallToolRequest) [sha256.Size]byte {
	var args any
	_ = json.Unmarshal(req.Params.Arguments, &args)                // the tool says what is wrong with them
	text, _ := json.Marshal([]any{f.Owner, req.Params.Name, args}) // what was decoded can be encoded
	return sha256.Sum256(text)
}
