package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/wait"
)

// idle holds the shared machines that no test uses.
var idle machines

// A machines is a set of machines, by data directory.
type machines struct {
	mu   sync.Mutex
	dirs []string
}

// take removes a machine from the set. It returns "" if there is none.
func (m *machines) take() (dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := len(m.dirs) - 1; last >= 0 {
		dir, m.dirs = m.dirs[last], m.dirs[:last]
	}
	return dir
}

func (m *machines) add(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dirs = append(m.dirs, dir)
}

// release empties the rig's machine for the next test. After a failure, it stops the machine.
func (r *rig) release() {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	r.agent.Engine.Close()
	if !r.Failed() {
		if err := emptyMachine(ctx, r.userClient()); err != nil {
			r.Errorf("empty the machine: %v", err)
		}
	}
	if r.Failed() {
		r.cleanUp()
		return
	}
	r.userClient().Close()
	idle.add(r.dir)
}

// emptyMachine removes all processes, commands and variables from a machine.
func emptyMachine(ctx context.Context, user *client.Client) error {
	if _, err := api.ProcessStopAll.Call(ctx, user, api.ProcessStopAllInput{Signal: "KILL", Sessions: true}); err != nil {
		return err
	}
	all, err := api.ProcessList.Call(ctx, user, api.ProcessListInput{})
	for _, p := range all.Processes {
		_, failed := api.ProcessRemove.Call(ctx, user, api.IDInput{ID: p.ID})
		err = errors.Join(err, failed)
	}
	vars, failed := api.EnvList.Call(ctx, user, api.EnvListInput{})
	err = errors.Join(err, failed)
	for _, v := range vars.Variables {
		_, failed := api.EnvUnset.Call(ctx, user, api.EnvInput{Name: v.Name})
		err = errors.Join(err, failed)
	}
	_, failed = api.HistoryClear.Call(ctx, user, api.Empty{})
	err = errors.Join(err, failed)
	_, failed = api.CommandsReplace.Call(ctx, user, api.CommandsInput{Commands: []string{}})
	return errors.Join(err, failed)
}

// stopMachine stops an engine, its keeper and all that they run, and returns once both have exited.
func stopMachine(t wait.Failer, user *client.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	info, err := api.EngineInfo.Call(ctx, user, api.Empty{})
	if err != nil {
		t.Fatalf("find the engine: %v", err)
	}
	if _, err := api.EngineStop.Call(ctx, user, api.EngineStopInput{All: true}); err != nil {
		t.Fatalf("stop the engine: %v", err)
	}
	for _, pid := range []int{info.EnginePID, info.KeeperPID} {
		wait.Exit(t, pid)
	}
}

// stopIdle stops the shared machines after all tests.
func stopIdle() {
	for dir := idle.take(); dir != ""; dir = idle.take() {
		user, err := client.Activate(context.Background(), client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
		if err != nil {
			afterTests{}.Fatalf("connect to the engine: %v", err)
		}
		stopMachine(afterTests{}, user)
		user.Close()
		os.RemoveAll(dir)
	}
}

// afterTests fails the package once all its tests have passed.
type afterTests struct{}

func (afterTests) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "after all tests: "+format+"\n", args...)
	os.Exit(1)
}
