package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// An agent's server can have the engine judge a call by the person's policy in
// the request that asks for the operation, instead of asking policy.check before
// it: what was judged is what is carried out, by the rules of that moment. The
// body is the input of policy.check, whose length judgeHeader tells, then the
// operation's own. The same header of the answer is the decision. Who does not
// know the header cannot read such a body, and so carries nothing out.
const (
	judgeHeader = "Tandem-Judge"
	allowed     = "allow" // the decision with which something is done
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
func Judged(ctx context.Context, in PolicyCheckInput) (context.Context, *Judgement, error) {
	in.NoAsk = true
	question, err := json.Marshal(in)
	if err != nil {
		return ctx, nil, Errorf(CodeInvalid, "call %s: encode what the policy is asked: %v", in.Tool, err)
	}
	j := &Judgement{question: question}
	return context.WithValue(ctx, judgementKey{}, j), j, nil
}

// Refused reports whether the engine has judged, and refused.
func (j *Judgement) Refused() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.decision != "" && j.decision != allowed
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
	case allowed:
		return input, 0, nil
	case "":
		return slices.Concat(j.question, input), len(j.question), nil
	}
	return nil, 0, Errorf(CodeForbidden, "call %s: not allowed: the policy has refused what it is part of", name)
}

// heard takes down what an answer says of the question. A refusal stays one.
func heard(ctx context.Context, h http.Header) {
	j, decision := judgementOf(ctx), h.Get(judgeHeader)
	if j == nil || decision == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.decision == "" || decision != allowed {
		j.decision = decision
	}
}

// judge has the policy decide about a request that carries a question, and gives
// the body of the operation alone. Nothing is done for a request that it refuses.
func (m *Mux) judge(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, body []byte) ([]byte, *Error) {
	said := r.Header.Get(judgeHeader)
	if said == "" {
		return body, nil
	}
	length, err := strconv.ParseUint(said, 10, 31)
	if err != nil || length == 0 || int(length) > len(body) {
		return nil, Errorf(CodeInvalid, "call %s: of %d bytes of input no %q are a question to the policy", name, len(body), said)
	}
	if m.policy == nil {
		return nil, Errorf(CodeUnavailable, "call %s: there is no policy to judge it", name)
	}
	var in PolicyCheckInput
	if err := DecodeInput(PolicyCheck.Name, body[:length], &in); err != nil {
		return nil, err
	}
	in.NoAsk = true
	var out PolicyCheckOutput
	err = guard(PolicyCheck.Name, func() (err error) {
		out, err = m.policy(ctx, in)
		return err
	})
	if err != nil {
		return nil, handlerError(PolicyCheck.Name, err)
	}
	w.Header().Set(judgeHeader, out.Decision)
	if out.Decision != allowed {
		return nil, Errorf(CodeForbidden, "call %s: not allowed: %s", name, out.Reason).WithHint(out.Hint)
	}
	return body[length:], nil
}

// readInput decodes a request's body strictly, once the policy has let it pass
// if that is asked; no body is the zero input.
func (m *Mux) readInput(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, in any) *Error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		return bodyError(name, err)
	}
	body, refused := m.judge(ctx, w, r, name, body)
	if refused != nil {
		return refused
	}
	return DecodeInput(name, body, in)
}
