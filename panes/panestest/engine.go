package panestest

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes"
)

// An Engine answers the operations registered with On. Other operations fail, and calling a method
// that it does not define panics.
type Engine struct {
	panes.Engine
	operations map[string]func(ctx context.Context, in, out any) error
}

// NewEngine returns an engine without operations, except for process.logs, which it answers with
// calls of process.log.
func NewEngine() *Engine {
	e := &Engine{operations: map[string]func(ctx context.Context, in, out any) error{}}
	On(e, api.ProcessLogs, func(ctx context.Context, in api.ProcessLogsInput) (api.ProcessLogsOutput, error) {
		return logmerge.Read(ctx, e, in)
	})
	return e
}

// On registers do as the answer to an operation.
func On[In, Out any](e *Engine, o api.Operation[In, Out], do func(context.Context, In) (Out, error)) {
	e.operations[o.Name] = func(ctx context.Context, in, out any) (err error) {
		*out.(*Out), err = do(ctx, in.(In))
		return err
	}
}

// Do answers an operation; see api.Engine.
func (e *Engine) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	do := e.operations[name]
	// Return an error, not a panic, so that a test that needs the operation fails with a clear
	// message.
	if do == nil {
		return api.Errorf(api.CodeUnavailable, "%s: the fake engine cannot do that", name)
	}
	return do(ctx, in, out)
}
