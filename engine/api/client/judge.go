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

// A Judgement is what the person's policy says about what is done with a
// context. Until that is known each operation called with the context carries
// the question; once it is refused, none is sent.
type Judgement struct {
	question []byte

	mu       sync.Mutex
	decision string // "" until the engine has told
}

type judgementKey struct{}

// Judged gives a context with which the engine carries out operations only if
// its policy allows what in says; an operation that it refuses fails with
// CodeForbidden. It asks nobody: where the person has to be asked, that is a
// refusal too, which policy.check can be asked about.
func Judged(ctx context.Context, in api.PolicyCheckInput) (context.Context, *Judgement, error) {
	in.NoAsk = true
	question, err := json.Marshal(in)
	if err != nil {
		return ctx, nil, api.Errorf(api.CodeInvalid, "call %s: encode what the policy is asked: %v", in.Tool, err)
	}
	j := &Judgement{question: question}
	return context.WithValue(ctx, judgementKey{}, j), j, nil
}

// Refused reports whether the engine has judged, and refused.
func (j *Judgement) Refused() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.decision != "" && j.decision != wire.Allowed
}

// judgementOf is the judgement of a context; nil if it has none.
func judgementOf(ctx context.Context) *Judgement {
	j, _ := ctx.Value(judgementKey{}).(*Judgement)
	return j
}

// withQuestion puts what the policy is still to be asked before the input of an
// operation, and tells its length.
func withQuestion(ctx context.Context, name string, input []byte) (body []byte, question int, err error) {
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
	return nil, 0, api.Errorf(api.CodeForbidden, "call %s: not allowed: the policy has refused what it is part of", name)
}

// heard takes down what an answer says of the question. A refusal stays one.
func heard(ctx context.Context, h http.Header) {
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
