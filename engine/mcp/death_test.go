package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/tests/needs"
)

// engineDies kills the engine and returns when it is gone.
func (r *rig) engineDies() {
	r.Helper()
	info, err := api.EngineInfo.Call(r.Context(), r.agent.Engine, api.Empty{})
	if err != nil {
		r.Fatal(err)
	}
	kill(r, info.EnginePID)
	r.eventually("the engine's death", func() bool { return !alive(info.EnginePID) })
}

// begins calls a tool in the background and gives what it says.
func (r *rig) begins(name string, args object) <-chan string {
	text := make(chan string, 1)
	go func() { text <- said(r.call(name, args)) }()
	return text
}

func timesRan(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func exists(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestACallAfterTheEnginesDeathReachesTheNext(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran := filepath.Join(r.home, "ran")
	r.engineDies()
	if got := said(r.call("exec", object{"command": "echo x >> " + ran + "; echo out"})); !strings.HasPrefix(got, "out\n") {
		t.Errorf("exec answers %q", got)
	}
	r.engineDies()
	id := r.call("process_start", object{"command": "echo x >> " + ran + "; exec sleep 1000"}).Process
	r.engineDies()
	if p := r.process(id); p.State != api.StateRunning {
		t.Errorf("the process is %s", p.State)
	}
	session := r.call("session_start", object{"command": "cat", "name": "cat"}).Process
	r.engineDies()
	if got := said(r.call("session_write", object{"id": session, "text": "hello", "enter": true})); !strings.HasPrefix(got, "hello") {
		t.Errorf("session_write answers %q", got)
	}
	r.eventually("the echo", func() bool {
		return strings.Contains(said(r.call("session_screen", object{"id": session})), "hello\nhello\n")
	})
	r.eventually("the start of the process", func() bool { return timesRan(t, ran) == 2 })
}

func TestACommandInFlightOutlivesTheEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran, end := filepath.Join(r.home, "ran"), filepath.Join(r.home, "end")
	for _, also := range []string{"", "kill the next one too"} {
		os.Remove(end)
		os.Remove(ran)
		answer := r.begins("exec", object{"command": "echo x >> " + ran + "; until test -e " + end + "; do sleep 0.01; done; echo out; exit 3"})
		r.eventually("the command", exists(ran))
		r.engineDies()
		if also != "" {
			r.engineDies()
		}
		touch(t, end)
		if got := <-answer; !strings.HasPrefix(got, "out\n") || !strings.Contains(got, "xit code: 3") && !strings.Contains(got, "xit code 3") {
			t.Errorf("exec answers %q", got)
		}
		if n := timesRan(t, ran); n != 1 {
			t.Errorf("it ran %d times", n)
		}
	}
}

// What was sent to an engine that never read it is not lost either.
func TestACommandThatTheEngineHasNotReadRunsOnce(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	ran := filepath.Join(r.home, "ran")
	for range 5 {
		info, err := api.EngineInfo.Call(t.Context(), r.person(), api.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(ran)
		if err := unix.Kill(info.EnginePID, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		answer := r.begins("exec", object{"command": "echo x >> " + ran + "; echo out"})
		kill(t, info.EnginePID)
		if got := <-answer; !strings.HasPrefix(got, "out\n") || timesRan(t, ran) != 1 {
			t.Errorf("exec answers %q and ran %d times", got, timesRan(t, ran))
		}
	}
}

// However far a command has come when the engine dies, it runs once.
func TestCommandsRunOnceWhereverTheEngineDies(t *testing.T) {
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
			all = append(all, r.begins("exec", object{"command": "echo x >> " + ran + "; echo out"}))
		}
		first := <-all[0]
		kill(t, info.EnginePID) // while the others are anywhere
		for i, answer := range append([]<-chan string{}, all[1:]...) {
			if got := <-answer; !strings.HasPrefix(got, "out\n") {
				t.Errorf("exec %d answers %q", i, got)
			}
		}
		if n := timesRan(t, ran); n != 4 || !strings.HasPrefix(first, "out\n") {
			t.Fatalf("four commands ran %d times; the first answers %q", n, first)
		}
	}
}

func TestWaitsAndReadsInFlightOutliveTheEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	end, next := filepath.Join(r.home, "end"), filepath.Join(r.home, "next")
	id := r.call("process_start", object{"command": "until test -e " + next + "; do sleep 0.01; done; echo news; until test -e " + end + "; do sleep 0.01; done; exit 3"}).Process
	wait := r.begins("process_wait", object{"id": id, "exit": true, "timeout_ms": 19_000})
	line := r.begins("process_wait", object{"id": id, "log": "news", "timeout_ms": 19_000})
	read := r.begins("process_log", object{"id": id, "since": 0, "wait_ms": 19_000})
	r.engineDies()
	touch(t, next)
	if got := <-line; !strings.Contains(got, "Met: log") {
		t.Errorf("process_wait for a line answers %q", got)
	}
	if got := <-read; !strings.Contains(got, "news") {
		t.Errorf("process_log answers %q", got)
	}
	r.engineDies()
	touch(t, end)
	if got := <-wait; !strings.Contains(got, "Met: exit") || !strings.Contains(got, "exit code 3") {
		t.Errorf("process_wait answers %q", got)
	}
}
