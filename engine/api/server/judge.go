package server

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// judgeRequest lets the policy decide on a request with a question, and returns the rest of the
// body, the operation's input. It returns an error if the policy does not allow the request.
func (m *Mux) judgeRequest(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, body []byte) ([]byte, *api.Error) {
	said := r.Header.Get(wire.JudgeHeader)
	if said == "" {
		return body, nil
	}
	length, err := strconv.ParseUint(said, 10, 31)
	if err != nil || length == 0 || int(length) > len(body) {
		return nil, api.Errorf(api.CodeInvalid, "call %s: the policy question's length is %q, in an input of %d bytes", name, said, len(body))
	}
	if m.policy == nil {
		return nil, api.Errorf(api.CodeUnavailable, "call %s: there is no policy to judge it", name)
	}
	var in api.PolicyCheckInput
	if err := api.DecodeInput(api.PolicyCheck.Name, body[:length], &in); err != nil {
		return nil, err
	}
	in.NoAsk = true // the user may take minutes: the client asks with policy.check instead
	var out api.PolicyCheckOutput
	err = m.guardPanics(api.PolicyCheck.Name, func() (err error) {
		out, err = m.policy(ctx, in)
		return err
	})
	if err != nil {
		return nil, handlerError(err)
	}
	w.Header().Set(wire.JudgeHeader, out.Decision)
	if out.Decision != wire.Allowed {
		return nil, api.Errorf(api.CodeForbidden, "call %s: not allowed: %s", name, out.Reason).WithHint(out.Hint)
	}
	return body[length:], nil
}

// readInput decodes a request's body into in, after the policy has allowed it if the body has a
// question. An empty body is the zero input. Unknown fields are listed in the answer's header if
// the client may be newer; otherwise they are an error.
func (m *Mux) readInput(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, in any) *api.Error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBody))
	if err != nil {
		return bodyError(name, err)
	}
	body, refused := m.judgeRequest(ctx, w, r, name, body)
	if refused != nil {
		return refused
	}
	if !mayBeNewer(r) {
		return api.DecodeInput(name, body, in)
	}
	ignored, refused := api.DecodeKnown(name, body, in)
	if len(ignored) > 0 {
		w.Header().Set(api.IgnoredHeader, strings.Join(ignored, ","))
	}
	return refused
}
