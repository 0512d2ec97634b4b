package client

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A Judgement is the policy's decision on the calls made with a context. Until it is known, each
// call carries the question; after a denial, none is sent.
type Judgement struct {
	question []byte

	mu       sync.Mutex
	decision string // "" until the engine has decided
}

type judgementKey struct{}

// WithJudgement returns a context whose calls the engine carries out only if its policy allows in;
// otherwise they fail with CodeForbidden. The user is not asked: a policy that requires a question
// denies the call, and policy.check can then ask it.
func WithJudgement(ctx context.Context, in api.PolicyCheckInput) (context.Context, *Judgement, error) {
	in.NoAsk = true
	question, err := json.Marshal(in)
	if err != nil {
		return ctx, nil, api.Errorf(api.CodeInvalid, "call %s: encode question to the policy: %v", in.Tool, err)
	}
	j := &Judgement{question: question}
	return context.WithValue(ctx, judgementKey{}, j), j, nil
}

// Refused reports whether the engine has decided, and denied the call.
func (j *Judgement) Refused() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.decision != "" && j.decision != wire.Allowed
}

func judgementOf(ctx context.Context) *Judgement {
	j, _ := ctx.Value(judgementKey{}).(*Judgement)
	return j
}

// prependQuestion puts the open question of ctx before the input of an operation and returns its
// length, 0 if there is none.
func prependQuestion(ctx context.Context, name string, input []byte) (body []byte, question int, err error) {
	j := judgementOf(ctx)
	if j == nil {
		return input, 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch j.decision {
	case wire.Allowed:
		return input, 0, nil
	case "":
		return slices.Concat(j.question, input), len(j.question), nil
	}
	return nil, 0, api.Errorf(api.CodeForbidden, "call %s: not allowed: the policy denied the call it is part of", name)
}

// recordDecision stores the decision in a response header. A denial is never overwritten.
func recordDecision(ctx context.Context, h http.Header) {
	j, decision := judgementOf(ctx), h.Get(wire.JudgeHeader)
	if j == nil || decision == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.decision == "" || decision != wire.Allowed {
		j.decision = decision
	}
}
