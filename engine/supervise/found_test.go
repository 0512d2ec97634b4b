package supervise

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// survive puts a record into the control's table as a new engine would.
func (r *rig) survive(s Survey) {
	all, _ := s.Plan()
	r.c.box.Post(func() {
		for _, f := range all {
			p := r.c.insert(f.Rec, "")
			p.ending = f.ending
			p.view = describe(p)
			for _, e := range f.events {
				r.c.handle(f.Rec.ID, e)
			}
		}
	})
}

// surveyOf is what there is to know of one record whose child is gone.
func surveyOf(rec store.Record, exit *store.Exit) Survey {
	return Survey{
		BootID:  "boot",
		Records: []store.Record{rec},
		Exit: func(string) (store.Exit, bool) {
			if exit == nil {
				return store.Exit{}, false
			}
			return *exit, true
		},
		Alive:  func(store.Identity) bool { return false },
		Orphan: func(store.Record) (store.Identity, bool) { return store.Identity{}, false },
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
		r.w.spawnErr = errFakeUnsure
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
		r.c.post("a", event{kind: evUnsure, err: errFakeUnsure})
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
		s.Orphan = func(store.Record) (store.Identity, bool) {
			return store.Identity{BootID: "boot", PID: 50, StartTime: 7}, true
		}
		r.survive(s)
		if p := r.wants("a", api.StateRunning); p.PID != 50 || p.Error != "" {
			t.Errorf("became %+v", p)
		}
	})
}

var errFakeUnsure = api.Errorf(api.CodeUnsure, "start name-a: it may have been started as a")
