package panestest

import (
	"context"

	"tandem/engine/api"
	"tandem/panes"
)

// An Engine carries out the operations that On gives it. What it has neither an
// operation nor a method for is nil.
type Engine struct {
	panes.Engine
	operations map[string]func(ctx context.Context, in, out any) error
}

// NewEngine returns an engine without operations.
func NewEngine() *Engine {
	return &Engine{operations: map[string]func(ctx context.Context, in, out any) error{}}
}

// On has an operation carried out by do.
func On[In, Out any](e *Engine, o api.Operation[In, Out], do func(context.Context, In) (Out, error)) {
	e.operations[o.Name] = func(ctx context.Context, in, out any) (err error) {
		*out.(*Out), err = do(ctx, in.(In))
		return err
	}
}

// Do carries out an operation; see api.Engine.
func (e *Engine) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	do := e.operations[name]
	if do == nil {
		return api.Errorf(api.CodeUnavailable, "%s: the fake engine cannot do that", name)
	}
	return do(ctx, in, out)
}
