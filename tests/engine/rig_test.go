package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/invariants"
	"tandem/tests/places"
)

// testTimeout bounds every wait of a test.
const testTimeout = 60 * time.Second

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
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
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
	for _, pid := range []int{info.EnginePID, info.KeeperPID} {
		m.eventually("the end of engine and keeper", func() bool { return !isRunning(pid) })
	}
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

// eventually waits until holds returns true.
func (m *machine) eventually(what string, holds func() bool) {
	m.Helper()
	for begin := time.Now(); !holds(); pause(begin) {
		if time.Since(begin) > testTimeout {
			m.Fatalf("waited in vain for %s\n%s", what, m.log())
		}
	}
}

// pause sleeps between two polls of a wait: the longer the wait, the rarer the polls.
func pause(begin time.Time) {
	time.Sleep(min(max(time.Since(begin)/16, 5*time.Millisecond), 200*time.Millisecond))
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

// awaitEnd waits for the end of a session.
func (m *machine) awaitEnd(id string) api.Process {
	m.Helper()
	m.mayHandOver()
	var p api.Process
	m.eventually("the end of "+id, func() bool { p = m.get(id); return p.State.Ended() })
	return p
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
	var last string
	for begin := time.Now(); ; pause(begin) {
		if last = m.screen(id); strings.Contains(last, text) {
			return
		}
		if time.Since(begin) > testTimeout {
			m.Fatalf("no %q on the screen:\n%s\n%s", text, last, m.log())
		}
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

// crash kills a process of ours and waits until it is gone.
func (m *machine) crash(pid int) {
	m.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		m.Fatal(err)
	}
	m.eventually("the death of a process", func() bool { return !isRunning(pid) })
}

func (m *machine) logOf(p api.Process) string {
	m.Helper()
	text, err := os.ReadFile(p.LogPath)
	if err != nil {
		m.Fatal(err)
	}
	return strings.TrimRight(string(text), "\x00")
}
