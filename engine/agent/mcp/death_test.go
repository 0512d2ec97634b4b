package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// killEngine kills the engine and waits until it has exited.
func (r *rig) killEngine() {
	r.Helper()
	info, err := api.EngineInfo.Call(r.Context(), r.agent.Engine, api.Empty{})
	if err != nil {
		r.Fatal(err)
	}
	wait.Kill(r, info.EnginePID)
}

// callInBackground calls a tool in the background and returns a channel with its text.
func (r *rig) callInBackground(name string, args object) <-chan string {
	text := make(chan string, 1)
	go func() { text <- resultText(r.call(name, args)) }()
	return text
}

func countRuns(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func createFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCallAfterEngineCrashReachesNextEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran := filepath.Join(r.home, "ran")
	r.killEngine()
	if got := resultText(r.call("exec", object{"command": "echo x >> " + ran + "; echo out"})); !strings.HasPrefix(got, "out\n") {
		t.Errorf("exec answers %q", got)
	}
	r.killEngine()
	id := r.call("process_start", object{"command": "echo x >> " + ran + "; exec sleep 1000"}).Process
	r.killEngine()
	if p := r.getProcess(id); p.State != api.StateRunning {
		t.Errorf("the process is %s", p.State)
	}
	session := r.call("session_start", object{"command": "cat", "name": "cat"}).Process
	r.killEngine()
	if got := resultText(r.call("session_write", object{"id": session, "text": "hello", "enter": true})); !strings.HasPrefix(got, "hello") {
		t.Errorf("session_write answers %q", got)
	}
	r.waitForScreen(session, "^hello\nhello$")
	wait.Poll(r, "the start of the process", func() (runs int, done bool) {
		runs = countRuns(t, ran)
		return runs, runs == 2
	})
}

func TestRunningCommandSurvivesEngineCrash(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran, end := filepath.Join(r.home, "ran"), filepath.Join(r.home, "end")
	for _, also := range []string{"", "kill the next one too"} {
		os.Remove(end)
		os.Remove(ran)
		answer := r.callInBackground("exec", object{"command": "echo x >> " + ran + "; until test -e " + end + "; do sleep 0.01; done; echo out; exit 3"})
		wait.File(t, ran)
		r.killEngine()
		if also != "" {
			r.killEngine()
		}
		createFile(t, end)
		if got := <-answer; !strings.HasPrefix(got, "out\n") || !strings.Contains(got, "xit code: 3") && !strings.Contains(got, "xit code 3") {
			t.Errorf("exec answers %q", got)
		}
		if n := countRuns(t, ran); n != 1 {
			t.Errorf("it ran %d times", n)
		}
	}
}

// A request sent to an engine before it crashed is not lost, even if the engine never read it.
func TestUnreadCommandRunsOnceAfterEngineCrash(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran := filepath.Join(r.home, "ran")
	for range 5 {
		info, err := api.EngineInfo.Call(t.Context(), r.userClient(), api.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(ran)
		if err := unix.Kill(info.EnginePID, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		answer := r.callInBackground("exec", object{"command": "echo x >> " + ran + "; echo out"})
		wait.Kill(t, info.EnginePID)
		if got := <-answer; !strings.HasPrefix(got, "out\n") || countRuns(t, ran) != 1 {
			t.Errorf("exec answers %q and ran %d times", got, countRuns(t, ran))
		}
	}
}

// The engine may crash at any point of a command.
func TestCommandRunsOnceWheneverEngineCrashes(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	for range 20 {
		ran := filepath.Join(t.TempDir(), "ran")
		info, err := api.EngineInfo.Call(t.Context(), r.agent.Engine, api.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		var all []<-chan string
		for range 4 {
			all = append(all, r.callInBackground("exec", object{"command": "echo x >> " + ran + "; echo out"}))
		}
		first := <-all[0]
		wait.Kill(t, info.EnginePID) // while other commands run
		for i, answer := range append([]<-chan string{}, all[1:]...) {
			if got := <-answer; !strings.HasPrefix(got, "out\n") {
				t.Errorf("exec %d answers %q", i, got)
			}
		}
		if n := countRuns(t, ran); n != 4 || !strings.HasPrefix(first, "out\n") {
			t.Fatalf("four commands ran %d times; the first answers %q", n, first)
		}
	}
}

func TestWaitsAndReadsSurviveEngineCrash(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	end, next := filepath.Join(r.home, "end"), filepath.Join(r.home, "next")
	id := r.call("process_start", object{"command": "until test -e " + next + "; do sleep 0.01; done; echo news; until test -e " + end + "; do sleep 0.01; done; exit 3"}).Process
	wait := r.callInBackground("process_wait", object{"id": id, "exit": true, "timeout_ms": 60_000})
	line := r.callInBackground("process_wait", object{"id": id, "log": "news", "timeout_ms": 60_000})
	read := r.callInBackground("process_log", object{"id": id, "since": 0, "wait_ms": 60_000})
	r.killEngine()
	createFile(t, next)
	if got := <-line; !strings.Contains(got, "Met: log") {
		t.Errorf("process_wait for a line answers %q", got)
	}
	if got := <-read; !strings.Contains(got, "news") {
		t.Errorf("process_log answers %q", got)
	}
	r.killEngine()
	createFile(t, end)
	if got := <-wait; !strings.Contains(got, "Met: exit") || !strings.Contains(got, "exit code 3") {
		t.Errorf("process_wait answers %q", got)
	}
}
