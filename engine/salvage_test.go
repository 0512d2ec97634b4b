package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist/store"
)

// survive puts a record into the control's table as a new engine would.
func (r *rig) survive(s survey) {
	all, _ := s.plan()
	r.c.box.Post(func() {
		for _, f := range all {
			p := r.c.insert(f.rec, "")
			p.ending = f.ending
			p.view = describe(p)
			for _, e := range f.events {
				r.c.handle(f.rec.ID, e)
			}
		}
	})
}

// surveyOf is what there is to know of one record whose child is gone.
func surveyOf(rec store.Record, exit *store.Exit) survey {
	return survey{
		bootID:  "boot",
		records: []store.Record{rec},
		exit: func(string) (store.Exit, bool) {
			if exit == nil {
				return store.Exit{}, false
			}
			return *exit, true
		},
		alive:  func(store.Identity) bool { return false },
		orphan: func(store.Record) (store.Identity, bool) { return store.Identity{}, false },
	}
}

func TestARestartIsCountedOnceWhereEnginesDieBeforeIt(t *testing.T) {
	for _, restarts := range []int{0, 3} {
		withRig(t, func(r *rig) {
			rec := supervised("a", api.PolicyAlways)
			rec.Restarts = restarts
			r.survive(surveyOf(rec, nil))
			if p := r.wants("a", api.StateRunning); p.Supervision.Restarts != restarts {
				t.Errorf("%d restarts, want %d", p.Supervision.Restarts, restarts)
			}
		})
	}
}

func TestTheExitOfARestartThatNobodyWroteDownIsKnown(t *testing.T) {
	before, after := store.Identity{BootID: "boot", PID: 50, StartTime: 7}, store.Identity{BootID: "boot", PID: 51, StartTime: 9}
	code := 3
	for _, of := range []store.Identity{before, after} {
		withRig(t, func(r *rig) {
			rec := supervised("a", api.PolicyNo)
			rec.Restarts, rec.Former = 1, &before
			r.survive(surveyOf(rec, &store.Exit{Identity: of, Code: &code, ExitedAt: time.Now()}))
			p := r.view("a")
			switch {
			case of == before && p.State != api.StateFailed:
				t.Errorf("with the exit of the run before: %+v", p)
			case of == after && (p.ExitCode == nil || *p.ExitCode != 3 || len(p.Supervision.Runs) != 1):
				t.Errorf("with its own exit: %+v", p)
			}
		})
	}
}

func TestAnExitStatusThatOnlyTheRecordHasIsKnown(t *testing.T) {
	who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	code := 3
	for _, exit := range []*store.Exit{nil, {Identity: who, Unknown: true}} {
		withRig(t, func(r *rig) {
			rec := supervised("a", api.PolicyNo)
			rec.State, rec.Identity = string(api.StateExited), &who
			rec.Runs = []store.Run{{StartedAt: time.Now(), EndedAt: time.Now(), ExitCode: &code}}
			r.survive(surveyOf(rec, exit))
			if p := r.view("a"); p.ExitUnknown || p.ExitCode == nil || *p.ExitCode != 3 {
				t.Errorf("ended as %+v", p)
			}
		})
	}
}

func TestAStartOfWhichNobodyKnowsKeepsItsRecord(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr = errUnsure(store.Record{ID: "a", Name: "name-a"})
		o := <-r.begin("a")
		if !errors.Is(o.err, api.CodeUnsure) || !strings.Contains(o.err.Error(), "may have been started as a") {
			t.Errorf("answered %v", o.err)
		}
		if p := r.wants("a", api.StateFailed); p.Error == "" {
			t.Errorf("became %+v", p)
		}
	})
}

func TestWhoWaitsForALostStartIsToldAndTheStartGoesOn(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnTakes = time.Minute
		reply := r.begin("a")
		synctest.Wait()
		r.c.post("a", event{kind: evUnsure, err: errUnsure(store.Record{ID: "a"})})
		if o := <-reply; !errors.Is(o.err, api.CodeUnsure) {
			t.Errorf("answered %v", o.err)
		}
		r.wants("a", api.StateStarting)
		time.Sleep(time.Minute)
		r.wants("a", api.StateRunning)
	})
}

func TestWhatWasGivenUpAndLivesIsFoundAgain(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := supervised("a", api.PolicyNo)
		rec.State, rec.Error = string(api.StateFailed), "nobody knew"
		s := surveyOf(rec, nil)
		s.orphan = func(store.Record) (store.Identity, bool) {
			return store.Identity{BootID: "boot", PID: 50, StartTime: 7}, true
		}
		r.survive(s)
		if p := r.wants("a", api.StateRunning); p.PID != 50 || p.Error != "" {
			t.Errorf("became %+v", p)
		}
	})
}

func TestAnExitThatTheKeeperDoesNotKnowIsReadFromItsFile(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := data.Save(newRecord("0123456789ab", api.KindProcess)); err != nil {
		t.Fatal(err)
	}
	text := `{"schema": 1, "identity": {"boot_id": "boot", "pid": 50, "start_time": 7}, "code": 3, "exited_at": "2024-01-02T03:04:05Z"}`
	if err := os.WriteFile(filepath.Join(data.Dir("0123456789ab"), "exit.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	withRig(t, func(r *rig) {
		rec := supervised("0123456789ab", api.PolicyNo)
		rec.State, rec.Identity = string(api.StateRunning), &store.Identity{BootID: "boot", PID: 50, StartTime: 7}
		r.survive(survey{records: []store.Record{rec}, children: []keeper.Child{{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot"}}})
		h := &host{store: data, control: r.c}
		h.exited(keeper.Child{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot", Exit: &keeper.Exit{Unknown: true}})
		if p := r.wants(rec.ID, api.StateExited); p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("ended as %+v", p)
		}
	})
}

func TestAChildWhoseRecordAndKeeperAreLostIsFoundByItsMark(t *testing.T) {
	m := startMachine(t)
	p := m.run(api.ProcessStartInput{Command: sh("exec sleep 1000")})
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	m.crash(i.KeeperPID)
	m.crash(i.EnginePID)
	record := filepath.Join(filepath.Dir(p.LogPath), "record.json")
	if err := os.WriteFile(record, []byte("not a record"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.activate()
	if now := m.process(p.ID); now.PID != p.PID || now.State != api.StateRunning {
		t.Errorf("became %+v", now)
	}
}
