package native

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/mcp/profiles/plugin"
	"tandem/engine/mcp/toolkit"
)

const (
	// maxParallelStops is the number of processes stopped at the same time.
	maxParallelStops = 16
	// maxShownLeft is the maximum number of abandoned processes named.
	maxShownLeft = 5
)

// stopOwnTool is offered without the plugin profile, whose tool of the same name stops everything.
func stopOwnTool() toolkit.Tool {
	t := toolkit.Define[stopOwnInput, toolkit.None](toolkit.Tool{Name: "process_stop_all", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Stop what this connection started; with all, also the user's and other agents'."}, stopOwn)
	t.EngineJudged = true
	return t
}

type stopOwnInput struct {
	Signal string `json:"signal,omitempty" schema:"-"`
	All    bool   `json:"all,omitempty"`
}

// stopOwn stops the processes started over this connection and reports those still running. The
// owner of a process identifies the connection, as with leases.
func stopOwn(ctx context.Context, f *toolkit.Agent, in stopOwnInput) (toolkit.Result, error) {
	signal, err := plugin.StopSignal(in.Signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	if in.All {
		return plugin.StopAll(ctx, f, plugin.StopAllInput{Signal: in.Signal})
	}
	own, others, err := splitByOwner(ctx, f)
	if err != nil {
		return toolkit.Result{}, err
	}
	stopped, err := stopEach(ctx, f, own, signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(fmt.Sprintf("Stopped %d processes with %s.", stopped, signal) + RemainingNote(f, others)), nil
}

// RemainingNote states how many processes of others are running. It names those left by an agent of
// the same name, which may be the same agent after a reconnect.
func RemainingNote(f *toolkit.Agent, others []api.Process) string {
	if len(others) == 0 {
		return ""
	}
	text := fmt.Sprintf(" %d not started by this connection keep running; all stops them too.", len(others))
	var left []string
	for _, p := range others {
		if p.Actor == f.Actor && p.Owner != nil && p.Owner.Left {
			left = append(left, p.ID)
		}
	}
	if len(left) == 0 {
		return text
	}
	more := ""
	if len(left) > maxShownLeft {
		more = fmt.Sprintf(" and %d more", len(left)-maxShownLeft)
	}
	return text + fmt.Sprintf(" An earlier connection of yours left: %s%s.", strings.Join(left[:min(len(left), maxShownLeft)], ", "), more)
}

// splitByOwner returns the running processes of this client and those of others.
func splitByOwner(ctx context.Context, f *toolkit.Agent) (own, others []api.Process, err error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range out.Processes {
		switch {
		case p.Kind != api.KindProcess || p.State.Ended():
		case p.Owner != nil && p.Owner.Client == f.Owner:
			own = append(own, p)
		default:
			others = append(others, p)
		}
	}
	return own, others, nil
}

// stopEach stops processes in parallel and counts those it has stopped. A process may exit by
// itself before its turn.
func stopEach(ctx context.Context, f *toolkit.Agent, processes []api.Process, signal string) (stopped int, err error) {
	failures := make([]error, len(processes))
	turns := make(chan struct{}, maxParallelStops)
	var all sync.WaitGroup
	for i, p := range processes {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			_, failures[i] = api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: p.ID, Signal: signal})
		})
	}
	all.Wait()
	for _, failure := range failures {
		switch {
		case failure == nil:
			stopped++
		// It exited by itself before its turn.
		case !errors.Is(failure, api.CodeEnded) && !errors.Is(failure, api.CodeNotFound):
			err = errors.Join(err, failure)
		}
	}
	return stopped, err
}
