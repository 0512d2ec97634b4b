package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"tandem/engine/api"
)

// What is started has an id of ours: when the engine is lost before it has
// answered, the next one knows what came of it.

// newID makes an id of a session or process. Two that are the same are refused.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// begin calls an operation that starts something under the id that its input
// has.
func begin[In any](ctx context.Context, a *app, op api.Operation[In, api.Process], in In, what, id string) (api.Process, error) {
	p, err := a.patiently(ctx)
	if err != nil {
		return api.Process{}, err
	}
	defer p.close()
	begun, err := op.Call(ctx, p.client, in)
	if errors.Is(err, api.CodeUnavailable) {
		return p.begun(ctx, what, id, err)
	}
	return begun, err
}

// begun is what was started under an id though the answer was lost; the error
// says that it was not, or that nobody can tell.
func (p *patient) begun(ctx context.Context, what, id string, lost error) (api.Process, error) {
	now, err := ask(ctx, p, api.ProcessGet, api.IDInput{ID: id})
	switch {
	case err == nil:
		return now, nil
	case errors.Is(err, api.CodeNotFound):
		return api.Process{}, api.Errorf(api.CodeUnavailable, "start %s: it was not started: %v", what, lost).WithHint("try again")
	}
	return api.Process{}, api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: %v", what, id, lost).
		WithHint("`tandem ps` shows whether it runs")
}
