package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/store"
	"tandem/tests/wait"
)

// A machine is an engine with its own data directory.
type machine struct {
	testing.TB
	dir    string
	client *client.Client
}

func (m *machine) options() client.Options {
	return client.Options{DataDir: m.dir, Version: "1.2.3", Name: "test"}
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
	out := call(m, api.SessionWait, api.SessionWaitInput{ID: id, Screen: regexp.QuoteMeta(text)})
	if out.Met != "screen" {
		m.Fatalf("no %q on the screen of %s, which is %s:\n%s", text, id, out.Process.State, m.screen(id))
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

func (m *machine) startProcess(in api.ProcessStartInput) api.Process {
	m.Helper()
	return call(m, api.ProcessStart, in)
}

func (m *machine) getProcess(id string) api.Process {
	m.Helper()
	return call(m, api.ProcessGet, api.IDInput{ID: id})
}

// awaitProcess waits until holds returns true for a process.
func (m *machine) awaitProcess(id, what string, holds func(api.Process) bool) api.Process {
	m.Helper()
	return wait.Watch(m, id+" "+what, m.client.Watch, func() (api.Process, bool) {
		p := m.getProcess(id)
		return p, holds(p)
	})
}

// awaitState waits until a process is in a state.
func (m *machine) awaitState(id string, state api.State) api.Process {
	m.Helper()
	return m.awaitProcess(id, string(state), func(p api.Process) bool { return p.State == state })
}

// awaitEnd waits for the end of a process.
func (m *machine) awaitEnd(id string) api.Process {
	m.Helper()
	return m.awaitProcess(id, "ended", func(p api.Process) bool { return p.State.Ended() })
}

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
