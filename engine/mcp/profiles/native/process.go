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
	// stopAtOnce is how many processes are being stopped at the same time.
	stopAtOnce = 16
	// leftShown is how many that were left behind are named.
	leftShown = 5
)

// stopOwnTool stands where the profile plugin, whose tool of that name stops
// whatever runs, is not offered.
func stopOwnTool() toolkit.Tool {
	t := toolkit.Define[stopOwnInput, toolkit.None](toolkit.Tool{Name: "process_stop_all", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Stop what this connection started; with all, also the user's and other agents'."}, processStopOwn)
	t.EngineJudged = true
	return t
}

type stopOwnInput struct {
	Signal string `json:"signal,omitempty" schema:"-"`
	All    bool   `json:"all,omitempty"`
}

// processStopOwn stops what this agent's connection has started, and says what
// runs on: own is what carries this client as its owner, as for leases.
func processStopOwn(ctx context.Context, f *toolkit.Agent, in stopOwnInput) (toolkit.Result, error) {
	signal, err := plugin.StopSignal(in.Signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	if in.All {
		return plugin.ProcessStopAll(ctx, f, plugin.StopAllInput{Signal: in.Signal})
	}
	own, others, err := runningProcesses(ctx, f)
	if err != nil {
		return toolkit.Result{}, err
	}
	stopped, err := stopEach(ctx, f, own, signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(fmt.Sprintf("Stopped %d processes with %s.", stopped, signal) + RunningOn(f, others)), nil
}

// RunningOn says how many processes others have running, and which of them an
// agent of this name has left behind: it may be the same one, connected anew.
func RunningOn(f *toolkit.Agent, others []api.Process) string {
	if len(others) == 0 {
		return ""
	}
	said := fmt.Sprintf(" %d not started by this connection keep running; all stops them too.", len(others))
	var left []string
	for _, p := range others {
		if p.Actor == f.Actor && p.Owner != nil && p.Owner.Left {
			left = append(left, p.ID)
		}
	}
	if len(left) == 0 {
		return said
	}
	more := ""
	if len(left) > leftShown {
		more = fmt.Sprintf(" and %d more", len(left)-leftShown)
	}
	return said + fmt.Sprintf(" An earlier connection of yours left: %s%s.", strings.Join(left[:min(len(left), leftShown)], ", "), more)
}

// runningProcesses are the processes that this client has started, and those of
// others.
func runningProcesses(ctx context.Context, f *toolkit.Agent) (own, others []api.Process, err error) {
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

// stopEach stops processes side by side, and counts those that it has stopped:
// one may end by itself before.
func stopEach(ctx context.Context, f *toolkit.Agent, processes []api.Process, signal string) (stopped int, err error) {
	failures := make([]error, len(processes))
	turns := make(chan struct{}, stopAtOnce)
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
		case !errors.Is(failure, api.CodeEnded) && !errors.Is(failure, api.CodeNotFound):
			err = errors.Join(err, failure)
		}
	}
	return stopped, err
}
