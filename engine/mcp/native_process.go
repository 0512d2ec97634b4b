package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tandem/engine/api"
)

// stopAtOnce is how many processes are being stopped at the same time.
const stopAtOnce = 16

// stopOwnTool stands where the profile plugin, whose tool of that name stops
// whatever runs, is not offered.
func stopOwnTool() tool {
	t := define[stopOwnInput, none](tool{name: "process_stop_all", effect: api.Destructive, profiles: []Profile{Native},
		doc: "Stop the processes you started; with all, everybody's."}, processStopOwn)
	t.judged = true
	return t
}

type stopOwnInput struct {
	Signal string `json:"signal,omitempty" enum:"SIGTERM,SIGINT,SIGHUP,SIGKILL"`
	All    bool   `json:"all,omitempty"`
}

// processStopOwn stops what this agent's client has started, and says how much
// others have running.
func processStopOwn(ctx context.Context, f *face, in stopOwnInput) (result, error) {
	signal, err := stopSignal(in.Signal)
	if err != nil {
		return result{}, err
	}
	if in.All {
		return processStopAll(ctx, f, stopAllInput{Signal: in.Signal})
	}
	own, others, err := f.runningProcesses(ctx)
	if err != nil {
		return result{}, err
	}
	stopped, err := f.stopEach(ctx, own, signal)
	if err != nil {
		return result{}, err
	}
	answer := fmt.Sprintf("Stopped %d processes with %s.", stopped, signal)
	if others > 0 {
		answer += fmt.Sprintf(" %d that you did not start run on; all stops them too.", others)
	}
	return text(answer), nil
}

// runningProcesses are the processes that this client has started, and the
// number of the others.
func (f *face) runningProcesses(ctx context.Context) (own []api.Process, others int, err error) {
	out, err := api.ProcessList.Call(ctx, f.engine, api.ProcessListInput{})
	if err != nil {
		return nil, 0, err
	}
	for _, p := range out.Processes {
		switch {
		case p.Kind != api.KindProcess || p.State.Ended():
		case p.Owner != nil && p.Owner.Client == f.owner:
			own = append(own, p)
		default:
			others++
		}
	}
	return own, others, nil
}

// stopEach stops processes side by side, and counts those that it has stopped:
// one may end by itself before.
func (f *face) stopEach(ctx context.Context, processes []api.Process, signal string) (stopped int, err error) {
	failures := make([]error, len(processes))
	turns := make(chan struct{}, stopAtOnce)
	var all sync.WaitGroup
	for i, p := range processes {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			_, failures[i] = api.ProcessStop.Call(ctx, f.engine, api.ProcessStopInput{ID: p.ID, Signal: signal})
		})
	}
	all.Wait()
	for _, failure := range failures {
		switch {
		case failure == nil:
			stopped++
		case !errors.Is(failure, api.CodeEnded) && !errors.Is(failure, api.CodeNotFound):
			err = errors.Join(err, failure)
		}
	}
	return stopped, err
}
