package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/invariants"
	"tandem/persist/store"
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

func startMachine(t testing.TB) *machine {
	t.Helper()
	places.Take(t)
	dir, err := os.MkdirTemp("", "td") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{TB: t, dir: dir}
	m.client, err = client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err, m.log())
	}
	t.Cleanup(m.stopAll)
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

func (m *machine) startProcess(in api.ProcessStartInput) api.Process {
	m.Helper()
	return call(m, api.ProcessStart, in)
}

func (m *machine) getProcess(id string) api.Process {
	m.Helper()
	return call(m, api.ProcessGet, api.IDInput{ID: id})
}

// awaitState waits until a process is in a state.
func (m *machine) awaitState(id string, state api.State) api.Process {
	m.Helper()
	m.mayHandOver()
	var p api.Process
	m.eventually(id+" "+string(state), func() bool { p = m.getProcess(id); return p.State == state })
	return p
}

func sh(script string) []string { return []string{"sh", "-c", script} }

// changeRecords changes the records of an engine that has exited, and makes its keeper that of
// another boot.
func (m *machine) changeRecords(change func(*store.Record)) {
	m.Helper()
	data, err := store.Open(m.dir)
	if err != nil {
		m.Fatal(err)
	}
	records, problems := data.Load()
	if len(problems) > 0 {
		m.Fatal(problems)
	}
	for _, r := range records {
		if change(&r); r.Cgroup != "" {
			r.Cgroup = filepath.Join("/none", filepath.Base(r.Cgroup))
		}
		if err := data.Save(r); err != nil {
			m.Fatal(err)
		}
	}
	last, err := data.LoadLastEngine()
	if last.Keeper.BootID = "another boot"; err != nil || data.SaveLastEngine(last) != nil {
		m.Fatal("description of the engine:", err)
	}
}

// restart replaces the engine with another of the same version.
func (m *machine) restart() {
	m.Helper()
	before := m.info().EnginePID
	call(m, api.EngineStop, api.EngineStopInput{Restart: true})
	m.eventually("another engine", func() bool {
		info, err := api.EngineInfo.Call(context.Background(), m.client, api.Empty{})
		return err == nil && info.EnginePID != before
	})
}
