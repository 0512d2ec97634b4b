package service

import (
	"context"
	"errors"

	"tandem/engine/api"
	"tandem/engine/record/kept"
	"tandem/engine/record/outputs"
)

// findKept finds a run whose record was removed to make room. If there is none, it returns notFound,
// the error of looking for the record.
func findKept(ctx context.Context, from *kept.Output, id string, notFound error) (outputs.Target, error) {
	if from == nil || !errors.Is(notFound, api.CodeNotFound) {
		return outputs.Target{}, notFound
	}
	t, ok, err := from.Find(ctx, id)
	if err == nil && !ok {
		err = notFound
	}
	return t, err
}

// readKept serves process.log for a run without a record. out and err are the answer without it.
func (s *Processes) readKept(ctx context.Context, in api.ProcessLogInput, out api.ProcessLogOutput, err error) (api.ProcessLogOutput, error) {
	t, findErr := findKept(ctx, s.Kept, in.ID, api.CodeNotFound)
	if findErr != nil {
		return out, err
	}
	out, err = s.Logs.Read(ctx, in, t.Source)
	out.Process = &t.Process
	return out, err
}

// removeKept deletes the output of a run without a record.
func (s *Processes) removeKept(ctx context.Context, id string, notFound error) error {
	t, err := findKept(ctx, s.Kept, id, notFound)
	if err != nil {
		return err
	}
	_, err = s.Kept.Remove(t.Process.ID)
	return err
}
