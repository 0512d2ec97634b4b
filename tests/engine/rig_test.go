package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/invariants"
	"tandem/tests/places"
	"tandem/tests/wait"
)

// A machine is a real keeper and engine with their own data directory.
type machine struct {
	testing.TB
	dir    string
	client *client.Client
	pinned bool // to the running engine: the test would notice a replacement
}

// startMachine starts a machine that is stopped at the end of the test.
func startMachine(t testing.TB) *machine {
	t.Helper()
	places.Take(t)
	m := newMachine(t)
	t.Cleanup(m.stopAll)
	return m
}

// shared is the machine of sharedMachine; nil before its first call.
var shared struct {
	sync.Mutex
	machine *machine
}

// sharedMachine returns a machine for tests that neither replace its engine or keeper nor depend on
// what else runs there.
func sharedMachine(t testing.TB) *machine {
	t.Helper()
	if invariants.Enabled { // the engine is replaced at random
		return startMachine(t)
	}
	places.Take(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.machine == nil {
		shared.machine = newMachine(t)
		shared.machine.pinned = true
	}
	m := shared.machine.in(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(m.log())
		}
	})
	return m
}

// A suite is the tests of the package, and stops the shared machine after them.
type suite struct{ *testing.M }

func (s suite) Run() int {
	code := s.M.Run()
	if shared.machine == nil {
		return code
	}
	end := &endOfTests{}
	shared.machine.in(end).stopAll()
	return max(code, end.code)
}

// endOfTests stands in for a test once all have run.
type endOfTests struct {
	testing.TB
	code int
}

func (*endOfTests) Helper()         {}
func (*endOfTests) Log(args ...any) { fmt.Fprintln(os.Stderr, args...) }
func (e *endOfTests) Failed() bool  { return e.code != 0 }

func (e *endOfTests) Errorf(format string, args ...any) {
	e.code = 1
	fmt.Fprintf(os.Stderr, "after all tests: "+format+"\n", args...)
}

func (e *endOfTests) Fatalf(format string, args ...any) {
	e.Errorf(format, args...)
	os.Exit(1)
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{TB: t, dir: dir}
	m.client, err = client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err, m.log())
	}
	return m
}

func (m *machine) options() client.Options {
	return client.Options{DataDir: m.dir, Version: "1.2.3", Name: "test"}
}

// stopAll stops everything, checks that nothing is left and removes the directory.
func (m *machine) stopAll() {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	m.checkInvariants()
	if m.Failed() {
		m.Log(m.log())
	}
	var info api.Info
	m.eventually("the engine's pids", func() bool {
		var err error
		info, err = api.EngineInfo.Call(ctx, m.client, api.Empty{})
		return err == nil && info.KeeperPID != 0
	})
	if _, err := api.EngineStop.Call(ctx, m.client, api.EngineStopInput{All: true}); err != nil {
		m.Errorf("stop: %v", err)
	}
	m.client.Close()
	wait.Exit(m, info.EnginePID)
	wait.Exit(m, info.KeeperPID)
	os.RemoveAll(m.dir)
}

func (m *machine) log() string {
	text, _ := os.ReadFile(filepath.Join(m.dir, "engine.log"))
	return string(text[max(0, len(text)-20000):])
}

// checkInvariants fails the test if an engine exited at a broken invariant, because the next one
// may hide it.
func (m *machine) checkInvariants() {
	for _, name := range []string{"engine.log", "engine.log.old"} {
		text, _ := os.ReadFile(filepath.Join(m.dir, name))
		if _, broken, found := strings.Cut(string(text), "invariant broken"); found {
			m.Errorf("an invariant is broken%s", broken[:min(len(broken), 4000)])
		}
	}
}

// mayHandOver replaces the engine at random in builds with the tag invariants.
func (m *machine) mayHandOver() {
	if !m.pinned && invariants.Sometimes("handover", 2) {
		m.restart()
	}
}

// eventually polls until holds returns true.
func (m *machine) eventually(what string, holds func() bool) {
	m.Helper()
	wait.Poll(m, what, func() (any, bool) { return nil, holds() })
}

// call runs an operation, and repeats it if the engine is just restarting.
func call[In, Out any](m *machine, op api.Operation[In, Out], in In) Out {
	m.Helper()
	var out Out
	var err error
	m.eventually(op.Name, func() bool {
		out, err = op.Call(context.Background(), m.client, in)
		return !errors.Is(err, api.CodeUnavailable)
	})
	if err != nil {
		m.Fatalf("%s: %v", op.Name, err)
	}
	return out
}

func (m *machine) info() api.Info { m.Helper(); return call(m, api.EngineInfo, api.Empty{}) }

func (m *machine) start(argv ...string) api.Process {
	m.Helper()
	m.mayHandOver()
	return call(m, api.SessionStart, api.SessionStartInput{Command: argv})
}

func (m *machine) get(id string) api.Process {
	m.Helper()
	return call(m, api.SessionGet, api.IDInput{ID: id})
}

func (m *machine) write(id, text string) {
	m.Helper()
	call(m, api.SessionWrite, api.SessionWriteInput{ID: id, Text: text})
}

func (m *machine) screen(id string) string {
	m.Helper()
	return strings.Join(call(m, api.SessionScreen, api.SessionScreenInput{ID: id}).Lines, "\n")
}

// awaitScreen waits until the screen of a session contains text.
func (m *machine) awaitScreen(id, text string) {
	m.Helper()
	m.mayHandOver()
	out := m.sessionWait(api.SessionWaitInput{ID: id, Screen: regexp.QuoteMeta(text)})
	if out.Met != "screen" {
		m.Fatalf("no %q on the screen of %s, which is %s:\n%s", text, id, out.Process.State, m.screen(id))
	}
}

// writeProgram writes an executable file. A child forked meanwhile would hold it open for writing,
// and the file could not be executed until the child has called execve.
func writeProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) logOf(p api.Process) string {
	m.Helper()
	text, err := os.ReadFile(p.LogPath)
	if err != nil {
		m.Fatal(err)
	}
	return strings.TrimRight(string(text), "\x00")
}
