package service

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/panics"
	"tandem/engine/remote/copy"
)

// beginTransferBetween begins a transfer between machines. If files are in the way and the caller
// has not said what to do about them, it returns these conflicts instead.
func (s *Files) beginTransferBetween(asking context.Context, in api.FilesTransferInput) (out api.FilesTransferOutput, err error) {
	if from := api.CallerOf(asking).Origin.From; from != "" {
		return out, api.Errorf(api.CodeForbidden, "transfer files between machines: a connection from %s cannot reach other machines", from)
	}
	if in.Base != "" || len(in.Roots) > 0 {
		return out, api.Errorf(api.CodeInvalid, "transfer files between machines: must have neither base nor roots")
	}
	if err := checkTransfer(in); err != nil {
		return out, err
	}
	if in.Kind != api.TransferCopy && in.Kind != api.TransferMove {
		return out, api.Errorf(api.CodeNotSupported, "transfer files between machines: must be a copy or a move, not %s", in.Kind)
	}
	t := &copy.Transfer{Kind: in.Kind, Conflict: in.Conflict, Open: s.openEngine, Start: s.transfers.startTask}
	defer func() {
		if out.Job == "" {
			t.Close()
		}
	}()
	for _, item := range in.Items {
		one := api.FileMove{Path: in.In(item.Path), To: in.In(item.To)}
		t.Items = append(t.Items, one)
		switch there, err := t.Exists(asking, one.To); {
		case err != nil:
			return out, err
		case there && in.Conflict == "":
			out.Conflicts = append(out.Conflicts, item.To)
		}
	}
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	return s.transfers.beginTransfer(in.Kind, "", func(ctx context.Context, j *transfer) error {
		defer t.Close()
		t.Note = j.noteTemp
		return t.Run(ctx, j.update)
	})
}

// startTask runs a task of a transfer in the background. The task's context ends with the engine.
func (js *transfers) startTask(task func(context.Context)) {
	js.running.Go(panics.Logged(js.log, "task of a transfer", func() { task(js.ctx) }))
}

// openEngine returns the engine of a machine. "" means this machine.
func (s *Files) openEngine(ctx context.Context, machine string) (api.Engine, error) {
	if machine == "" {
		return s.own, nil
	}
	return s.Machines(ctx, machine)
}

// An ownEngine calls the handlers of this engine's operations by name, without access checks. Only
// the user's transfers between machines use it.
type ownEngine map[string]func(ctx context.Context, in, out any) error

// Do implements api.Engine.
func (e ownEngine) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	return e[name](ctx, in, out)
}

// handle registers a handler with the server and in e.
func handle[In, Out any](e ownEngine, m *server.Mux, op api.Operation[In, Out], f func(context.Context, In) (Out, error)) {
	server.Handle(m, op, f)
	e[op.Name] = func(ctx context.Context, in, out any) (err error) {
		*out.(*Out), err = f(ctx, in.(In))
		return err
	}
}
