package retry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// What is started has an id of ours: when the engine is lost before it has
// answered, the next one knows what came of it.

// NewID makes an id of a session or process. Two that are the same are refused.
func NewID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Start calls an operation that starts something under the id that its input
// has. What names it in errors.
func Start[In any](ctx context.Context, connect func(context.Context) (*client.Client, error), op api.Operation[In, api.Process], in In, what, id string) (api.Process, error) {
	c, err := Connect(ctx, connect)
	if err != nil {
		return api.Process{}, err
	}
	defer c.Close()
	started, err := Once(ctx, c, op, in)
	if errors.Is(err, api.CodeUnavailable) {
		return c.Started(ctx, what, id, err)
	}
	return started, err
}

// Started is what was started under an id though the answer was lost; the error
// says that it was not, or that nobody can tell.
func (c *Conn) Started(ctx context.Context, what, id string, lost error) (api.Process, error) {
	now, err := Call(ctx, c, api.ProcessGet, api.IDInput{ID: id})
	switch {
	case err == nil:
		return now, nil
	case errors.Is(err, api.CodeNotFound):
		return api.Process{}, api.Errorf(api.CodeUnavailable, "start %s: it was not started: %v", what, lost).WithHint("try again")
	}
	return api.Process{}, api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: %v", what, id, lost).
		WithHint("`tandem ps` shows whether it runs")
}
