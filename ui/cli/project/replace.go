package project

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
)

// A changed entry's process is stopped before its replacement starts, because both may need the
// same port. The old process is deleted only when the replacement runs; until then it can be
// started again.

// trialTime is how long a replacement must run, unless it becomes ready or completes sooner. A shell
// needs some of it to find that a program does not exist.
const trialTime = time.Second

// notFoundCodes are the exit codes of a shell that cannot run a program.
var notFoundCodes = []int{126, 127}

// isOnTrial reports whether it is too early to tell if a replacement runs. If the replacement does
// not run, isOnTrial records its error.
func (r *Run) isOnTrial(s *step) bool {
	p := s.process
	if s.newID == "" || s.settled || s.err != nil || slices.Contains([]api.State{api.StateWaiting, api.StateStarting, api.StateFailed}, p.State) {
		return false
	}
	if p.State != api.StateRunning && p.ExitCode != nil && slices.Contains(notFoundCodes, *p.ExitCode) {
		s.err = fmt.Errorf("start %s: exited with %d; its program probably cannot be run", s.entry.Name, *p.ExitCode)
		return false
	}
	if s.runningSince.IsZero() {
		s.runningSince = time.Now()
	}
	return !p.State.Ended() && !(s.entry.Start.Ready != nil && p.IsReady()) && time.Since(s.runningSince) < trialTime
}

// settleReplaced deletes a replaced process once its replacement runs. If the replacement has
// failed, it deletes that instead and starts the replaced process again.
func (r *Run) settleReplaced(ctx context.Context, s *step) {
	failed := s.err != nil && !s.announced && !errors.Is(s.err, api.CodeUnsure) && s.process.State != api.StateWaiting && s.process.State != api.StateStarting
	switch {
	case s.newID == "" || s.settled || ctx.Err() != nil:
	case s.announced:
		s.settled = true
		if _, err := stopOne(ctx, r.Conn.Client, *s.existing, true); err != nil {
			r.errs = append(r.errs, err)
		}
	case failed:
		s.settled = true
		r.restoreReplaced(ctx, s)
	}
}

// restoreReplaced deletes a failed replacement and starts the replaced process again, if it ran.
func (r *Run) restoreReplaced(ctx context.Context, s *step) {
	if s.process.ID != "" { // the engine keeps no record of a definition that it rejected
		r.printLastLine(ctx, s)
		if _, err := stopOne(ctx, r.Conn.Client, s.process, true); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	s.restored = s.existing
	if s.existing.State.Ended() {
		return
	}
	p, err := api.ProcessRestart.Call(ctx, r.Conn, api.ProcessRestartInput{ID: s.existing.ID, RestartID: api.NewID()})
	if err != nil {
		s.err = fmt.Errorf("%w; start the previous %s again: %w", s.err, s.entry.Name, err)
		return
	}
	s.restored = &p
	s.err = fmt.Errorf("%w; the previous %s was started again", s.err, s.entry.Name)
}
