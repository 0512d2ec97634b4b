package project

import (
	"context"
	"slices"
	"sync"

	"tandem/engine/api"
)

// Dependents returns, for every process in ours, the indexes of those to stop before it: its
// dependents. Without a file these are all processes started later.
func Dependents(file *File, ours []api.Process) [][]int {
	before := make([][]int, len(ours))
	for i, p := range ours {
		for j, q := range ours {
			if (file == nil && j > i) || (file != nil && j != i && dependsOn(file.Entry(q.Project.Name), p.Project.Name)) {
				before[i] = append(before[i], j)
			}
		}
	}
	return before
}

// StopLast changes the result of Dependents so that the session with the id callerID, if it is in
// ours, is stopped after all others, because its end kills the caller.
func StopLast(dependents [][]int, ours []api.Process, callerID string) [][]int {
	at := slices.IndexFunc(ours, func(p api.Process) bool { return p.ID == callerID })
	if at < 0 {
		return dependents
	}
	dependents[at] = nil
	for i := range dependents {
		if i != at {
			dependents[i] = slices.DeleteFunc(dependents[i], func(j int) bool { return j == at })
			dependents[at] = append(dependents[at], i)
		}
	}
	return dependents
}

func dependsOn(e *Entry, name string) bool {
	return e != nil && slices.ContainsFunc(e.After, func(d Dependency) bool { return d.Name == name })
}

// StopAll stops processes, each after its dependents, and continues after errors. If remove is set,
// it also deletes their records. dependents is the result of Dependents.
func StopAll(ctx context.Context, conn api.Engine, ours []api.Process, dependents [][]int, remove bool) ([]api.Process, []error) {
	done := make([]chan struct{}, len(ours))
	for i := range done {
		done[i] = make(chan struct{})
	}
	outs, errs := make([]api.Process, len(ours)), make([]error, len(ours))
	var calls sync.WaitGroup
	for i, p := range ours {
		calls.Go(func() {
			defer close(done[i])
			// before has no cycles, so this cannot deadlock.
			for _, j := range dependents[i] {
				<-done[j]
			}
			outs[i], errs[i] = stopOne(ctx, conn, p, remove)
		})
	}
	calls.Wait()
	return outs, errs
}

func stopOne(ctx context.Context, conn api.Engine, p api.Process, remove bool) (api.Process, error) {
	var err error
	if p.IsAlive() {
		if p, err = stopProcess(ctx, conn, p.ID); err != nil {
			return p, err
		}
	}
	if remove {
		_, err = api.ProcessRemove.Call(ctx, conn, api.IDInput{ID: p.ID})
	}
	return p, err
}

// stopProcess stops a process. It returns no error if the process exited by itself meanwhile.
func stopProcess(ctx context.Context, conn api.Engine, id string) (api.Process, error) {
	p, err := api.ProcessStop.Call(ctx, conn, api.ProcessStopInput{ID: id})
	if err == nil {
		return p, nil
	}
	// The process may have exited between the listing and the call.
	if now, failed := api.ProcessGet.Call(ctx, conn, api.IDInput{ID: id}); failed == nil && now.State.Ended() {
		return now, nil
	}
	return p, err
}
