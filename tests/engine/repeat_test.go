package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/wait"
)

func TestRepeatedExecFindsItsCommandAfterAnEngineCrash(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	dir := t.TempDir()
	ran, end := filepath.Join(dir, "ran"), filepath.Join(dir, "end")
	in := api.ExecInput{ID: api.NewID(), TimeoutMS: 60_000,
		Command: sh("echo x >> " + ran + "; until test -e " + end + "; do sleep 0.01; done; echo out")}
	lost := make(chan error)
	go func() {
		_, err := api.Exec.Call(context.Background(), m.client, in)
		lost <- err
	}()
	wait.File(m, ran)
	wait.Kill(m, m.info().EnginePID)
	if err := <-lost; !errors.Is(err, api.CodeUnavailable) {
		t.Fatalf("the call whose engine died: %v", err)
	}
	short := in
	short.TimeoutMS = 1
	if out := call(m, api.Exec, short); !out.TimedOut {
		t.Errorf("its time is over, counted from its start: %+v", out)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := call(m, api.Exec, in); out.Stdout != "out\n" || out.Process.ExitCode == nil || out.TimedOut {
		t.Errorf("asked again it answers %+v", out)
	}
	if out := call(m, api.Exec, short); out.TimedOut { // it has exited by now
		t.Errorf("what has ended timed out: %+v", out)
	}
	if text, err := os.ReadFile(ran); err != nil || string(text) != "x\n" {
		t.Errorf("it ran %d times, %v", strings.Count(string(text), "x"), err)
	}
}

// A crash may come after an id was claimed, or after the record is saved and before the keeper is
// asked for a child.
func TestUnstartedRequestIsStartedByTheNextEngine(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	folder := func(id string) string { return filepath.Join(m.dir, "processes", id) }
	command := []string{"echo", "out"}
	record := call(m, api.Exec, api.ExecInput{ID: api.NewID(), Command: command})
	text, err := os.ReadFile(filepath.Join(folder(record.Process.ID), "record.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r store.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	engine := m.info().EnginePID
	claimed, written := api.NewID(), api.NewID()
	r.ID, r.State, r.Identity, r.Runs = written, string(api.StateStarting), nil, nil
	half := filepath.Join(folder(claimed), fmt.Sprintf(".persist-record.json-%d-1.tmp", os.Getpid())) // of a running process
	for _, id := range []string{claimed, written} {
		if err := os.MkdirAll(folder(id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(r); err == nil {
		err = os.WriteFile(filepath.Join(folder(written), "record.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	wait.Kill(m, engine)
	for _, id := range []string{claimed, written} {
		out := call(m, api.Exec, api.ExecInput{ID: id, Command: command})
		if out.Process.ID != id || out.Stdout != "out\n" || out.Process.ExitCode == nil || *out.Process.ExitCode != 0 {
			t.Errorf("%s: %+v", id, out)
		}
	}
}
