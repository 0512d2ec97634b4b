package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/persist/store"
)

func TestManyCommandsAtOnceLeaveNothingBehind(t *testing.T) {
	m := startMachine(t)
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	goroutines := m.goroutines() // of an engine that ends with that
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	// The history opens its files behind the first command.
	m.eventually("the history", func() bool { return call(m, api.HistorySearch, api.HistorySearchInput{}).Total > 0 })
	before := m.footprint()
	const atOnce, each = 8, 8
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			for n := range each {
				word := fmt.Sprint(i, "-", n)
				out, err := api.Exec.Call(context.Background(), m.client, api.ExecInput{Command: sh("echo " + word + "; exit " + fmt.Sprint(n))})
				if err != nil || out.Stdout != word+"\n" || out.Process.ExitCode == nil || *out.Process.ExitCode != n {
					t.Errorf("%s: %+v, %v", word, out, err)
				}
			}
		})
	}
	all.Wait()
	m.eventually("the end of connections", func() bool { m.client.Close(); return m.footprint() == before })
	if now := m.goroutines(); now >= goroutines+atOnce*each/2 { // some come and go
		t.Errorf("%d goroutines where there were %d\n%s", now, goroutines, m.log())
	}
}

// A footprint is what engine and keeper hold.
type footprint struct{ engineFiles, keeperFiles, keeperChildren int }

func (m *machine) footprint() (f footprint) {
	m.Helper()
	i := m.info()
	f.engineFiles, f.keeperFiles = m.files(i.EnginePID), m.files(i.KeeperPID)
	all, err := proctree.All()
	if err != nil {
		m.Fatal(err)
	}
	for _, p := range all {
		if p.Parent == i.KeeperPID {
			f.keeperChildren++
		}
	}
	return f
}

func (m *machine) files(pid int) int {
	m.Helper()
	names, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		m.Fatal(err)
	}
	return len(names)
}

// goroutines counts those of the engine, without the runtime's. It ends with
// that, and there is another one.
func (m *machine) goroutines() int {
	m.Helper()
	pid := m.info().EnginePID
	path := filepath.Join(m.dir, "engine.log")
	old, err := os.Stat(path)
	if err != nil {
		m.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGQUIT); err != nil {
		m.Fatal(err)
	}
	m.eventually("the death of the engine", func() bool { return !lives(pid) })
	text, err := os.ReadFile(path)
	if err != nil {
		m.Fatal(err)
	}
	m.eventually("another engine", func() bool { return m.info().EnginePID != pid })
	dump, made := text[old.Size():], []byte("\ncreated by ")
	return bytes.Count(dump, made) - bytes.Count(dump, append(made, "runtime."...))
}

func TestCommandReadsNothing(t *testing.T) {
	m := startMachine(t)
	if out := call(m, api.Exec, api.ExecInput{Command: []string{"cat"}}); out.TimedOut || out.Process.ExitCode == nil || *out.Process.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
}

func TestOneShotCommandIsWrittenDownOnlyBeforeItStartsAndWhenItLasts(t *testing.T) {
	withRig(t, func(r *rig) {
		reply := r.command("short", api.State.Ended)
		synctest.Wait()
		r.w.killChild(r, "short", 3)
		if p := (<-reply).process; p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("the short one: %+v", p)
		}
		r.wantDeeds("save starting running", "spawn", "forget")
		time.Sleep(later)
		synctest.Wait()
		r.wantDeeds("save starting running", "spawn", "forget", "save exited running")
		reply = r.command("long", api.State.Ended)
		time.Sleep(soon)
		if p := r.view("long"); p.State != api.StateRunning {
			t.Errorf("the long one: %+v", p)
		}
		r.wantDeeds("save starting running", "spawn", "forget", "save exited running", "save starting running", "spawn", "save running running")
		r.w.killChild(r, "long", 0)
		<-reply
	})
}

func TestOneShotCommandThatSomebodyWaitsForIsAnnouncedAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		began := time.Now()
		if o := <-r.command("a", hasStarted); o.process.State != api.StateRunning || time.Since(began) > 0 {
			t.Errorf("%+v after %v", o, time.Since(began))
		}
	})
}

func TestEndOfOneShotCommandIsToldOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := ask(r.Context(), r.c, func() *subscriber { return r.c.hub.subscribe(false, api.Event{Type: api.EventSnapshot}) })
		<-s.events
		reply := r.command("a", api.State.Ended)
		synctest.Wait()
		r.w.killChild(r, "a", 0)
		<-reply
		time.Sleep(2 * later)
		synctest.Wait()
		if n := len(s.events); n != 1 {
			t.Errorf("%d events", n)
		}
	})
}

func TestALastingWatchTellsNothingOfOneShotCommands(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := ask(r.Context(), r.c, func() *subscriber { return r.c.hub.subscribe(true, api.Event{Type: api.EventSnapshot}) })
		<-s.events
		reply := r.command("a", api.State.Ended)
		time.Sleep(2 * soon)
		r.w.killChild(r, "a", 0)
		<-reply
		r.c.post("a", event{kind: evRemove})
		time.Sleep(2 * later)
		synctest.Wait()
		if n := len(s.events); n != 0 {
			t.Errorf("%d events: %+v", n, <-s.events)
		}
		if all, _ := ask(r.Context(), r.c, func() []api.Process { return r.c.listedFor(true) }); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

func TestEngineFindsTheEndOfACommandThatItDidNotWriteDown(t *testing.T) {
	child := keeper.Child{ID: "a", PID: 7, StartTime: 8, BootID: "boot"}
	code := 3
	s := survey{
		bootID:  "boot",
		records: []store.Record{{ID: "a", Transient: true, State: string(api.StateStarting), Desired: desiredRunning}},
		exit: func(string) (store.Exit, bool) {
			return store.Exit{Identity: identityOf(child), Code: &code, ExitedAt: time.Now()}, true
		},
		alive:  func(store.Identity) bool { return false },
		orphan: func(store.Record) (store.Identity, bool) { return store.Identity{}, false },
	}
	all, _ := s.plan()
	if len(all) != 1 || len(all[0].events) != 1 || all[0].events[0].kind != evMissing {
		t.Fatalf("plan: %+v", all)
	}
	end := all[0].events[0].ending
	if end.exit.Code == nil || *end.exit.Code != 3 || all[0].rec.Identity == nil {
		t.Errorf("ending: %+v of %+v", end, all[0].rec)
	}
}

// command starts a one-shot command and gives the channel of its answer.
func (r *rig) command(id string, until func(api.State) bool) <-chan outcome {
	r.Helper()
	rec := newRecord(id, api.KindProcess)
	rec.Name, rec.Argv, rec.Transient = "name-"+id, []string{"true"}, true
	reply := make(chan outcome, 1)
	refused, err := ask(r.Context(), r.c, func() error { return r.c.start(rec, "", false, until, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return reply
}
