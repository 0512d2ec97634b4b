package supervise

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// recoverFrom puts the records of a survey into the table as a new engine would.
func (r *rig) recoverFrom(s Survey) {
	all, _ := s.Plan()
	r.c.reg.box.Post(func() {
		for _, f := range all {
			r.c.reg.restore(f, "")
		}
	})
}

// currentKeeper is the keeper of a survey made by surveyFor.
var currentKeeper = store.Identity{BootID: "boot", PID: 40, StartTime: 5}

// surveyFor returns the evidence about a record whose child is missing.
func surveyFor(rec store.Record, exit *store.Exit) Survey {
	return Survey{
		BootID:  "boot",
		Unread:  func(string) bool { return false },
		Keeper:  &currentKeeper,
		Logged:  func(store.Record) bool { return true },
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

func TestRestartIsCountedOnceAcrossEngineDeaths(t *testing.T) {
	for _, restarts := range []int{0, 3} {
		withRig(t, func(r *rig) {
			rec := processRecord("a", api.PolicyAlways)
			rec.Restarts, rec.Asked = restarts, &currentKeeper
			r.recoverFrom(surveyFor(rec, nil))
			if p := r.wantState("a", api.StateRunning); p.Supervision.Restarts != restarts {
				t.Errorf("%d restarts, want %d", p.Supervision.Restarts, restarts)
			}
		})
	}
}

func TestExitOfAnUnsavedRestartIsFound(t *testing.T) {
	before, after := store.Identity{BootID: "boot", PID: 50, StartTime: 7}, store.Identity{BootID: "boot", PID: 51, StartTime: 9}
	code := 3
	for _, of := range []store.Identity{before, after} {
		withRig(t, func(r *rig) {
			rec := processRecord("a", api.PolicyNo)
			rec.Restarts, rec.Former = 1, &before
			r.recoverFrom(surveyFor(rec, &store.Exit{Identity: of, Code: &code, ExitedAt: time.Now()}))
			p := r.view("a")
			switch {
			case of == before && p.State != api.StateFailed:
				t.Errorf("with the exit of the previous run: %+v", p)
			case of == after && (p.ExitCode == nil || *p.ExitCode != 3 || len(p.Supervision.Runs) != 1):
				t.Errorf("with its own exit: %+v", p)
			}
		})
	}
}

func TestExitStatusIsTakenFromTheRecordWithoutExitFile(t *testing.T) {
	who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	code := 3
	for _, exit := range []*store.Exit{nil, {Identity: who, Unknown: true}} {
		withRig(t, func(r *rig) {
			rec := processRecord("a", api.PolicyNo)
			rec.State, rec.Identity = string(api.StateExited), &who
			rec.Runs = []store.Run{{StartedAt: time.Now(), EndedAt: time.Now(), ExitCode: &code}}
			r.recoverFrom(surveyFor(rec, exit))
			if p := r.view("a"); p.ExitUnknown || p.ExitCode == nil || *p.ExitCode != 3 {
				t.Errorf("ended as %+v", p)
			}
		})
	}
}

func TestUnsureStartKeepsItsRecord(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr = errFakeUnsure
		o := <-r.startSession("a")
		if !errors.Is(o.err, api.CodeUnsure) || !strings.Contains(o.err.Error(), "may have been started as a") {
			t.Errorf("answered %v", o.err)
		}
		if p := r.wantState("a", api.StateFailed); p.Error == "" {
			t.Errorf("process is %+v", p)
		}
	})
}

func TestLateStartReturnsUnsureAndContinues(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnDelay = time.Minute
		reply := r.startSession("a")
		synctest.Wait()
		r.c.reg.post("a", event{kind: evUnsure, err: errFakeUnsure})
		if o := <-reply; !errors.Is(o.err, api.CodeUnsure) {
			t.Errorf("answered %v", o.err)
		}
		r.wantState("a", api.StateStarting)
		time.Sleep(time.Minute)
		r.wantState("a", api.StateRunning)
	})
}

func TestRunningChildOfAFailedRecordIsFound(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyNo)
		rec.State, rec.Error = string(api.StateFailed), "nobody knew"
		s := surveyFor(rec, nil)
		s.Orphan = func(store.Record) (store.Identity, bool) {
			return store.Identity{BootID: "boot", PID: 50, StartTime: 7}, true
		}
		r.recoverFrom(s)
		if p := r.wantState("a", api.StateRunning); p.PID != 50 || p.Error != "" {
			t.Errorf("process is %+v", p)
		}
	})
}

var errFakeUnsure = api.Errorf(api.CodeUnsure, "start name-a: it may have been started as a")

// repeatStart repeats the start of a record, as a client does that got no answer.
func (r *rig) repeatStart(rec store.Record) (outcome, bool) {
	r.Helper()
	w, ok, err := r.c.FindEarlierStart(r.Context(), rec, HasStarted)
	if err != nil || !ok {
		return outcome{err: err}, ok
	}
	p, err := w.Wait(r.Context())
	return outcome{process: p, err: err}, true
}

func TestFailedStartThatCannotBeRemovedIsListedAndCanBeRepeated(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr, r.w.removeErr = errFake, errors.New("read-only")
		if o := <-r.startSession("a"); !errors.Is(o.err, errFake) {
			t.Fatalf("start answered %+v", o)
		}
		p := r.wantState("a", api.StateFailed)
		if p.Error != errFake.Error() {
			t.Errorf("listed with the error %q", p.Error)
		}
		rec := r.w.savedRecord("a")
		if o, ok := r.repeatStart(rec); ok || !errors.Is(o.err, r.w.removeErr) {
			t.Errorf("repeated start answered %v, %+v", ok, o)
		}
		r.w.removeErr = nil
		if o, ok := r.repeatStart(rec); ok || o.err != nil {
			t.Errorf("repeated start, once the process can be removed, answered %v, %+v", ok, o)
		}
		if all := r.listProcesses(); len(all) != 0 {
			t.Errorf("listed %+v", all)
		}
	})
}

func TestLateRecordIsRestoredWhileItsLogIsRead(t *testing.T) {
	withRig(t, func(r *rig) {
		// If the control goroutine read the log, this call would wait for itself.
		r.w.reading = func() { r.runOnLoop(func() {}) }
		rec := processRecord("a", api.PolicyNo)
		rec.State = string(api.StateFailed)
		if err := (Found{Rec: rec}).RestoreLate(r.Context(), r.c, ""); err != nil {
			t.Fatal(err)
		}
		if p := r.wantState("a", api.StateFailed); len(p.Supervision.LastLines) != 1 {
			t.Errorf("listed with the lines %q", p.Supervision.LastLines)
		}

		live := &fakeSession{}
		if err := (Found{Rec: rec, Live: live}).RestoreLate(r.Context(), r.c, ""); err != nil {
			t.Fatal(err)
		}
		if !live.closed {
			t.Error("the session of a record restored twice stays open")
		}
	})
}

func TestStartIsRepeatedOnlyByTheSameRequest(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyNo)
		rec.CWD, rec.Env = "/srv", map[string]string{"A": "1"}
		r.startRecord(rec)
		for name, change := range map[string]func(*store.Record){
			"command": func(r *store.Record) { r.Argv = []string{"other"} },
			"folder":  func(r *store.Record) { r.CWD = "/other" },
			"env":     func(r *store.Record) { r.Env = map[string]string{"A": "2"} },
			"name":    func(r *store.Record) { r.Name = "other" },
			"kind":    func(r *store.Record) { r.Kind = string(api.KindSession) },
		} {
			other := rec
			change(&other)
			if o, _ := r.repeatStart(other); !errors.Is(o.err, api.CodeConflict) {
				t.Errorf("a start with another %s answered %+v", name, o)
			}
		}
		renamed := "renamed"
		if _, err := r.c.UpdateProcess(r.Context(), Request{ID: "a"}, Update{Name: &renamed}); err != nil {
			t.Fatal(err)
		}
		if o, ok := r.repeatStart(rec); !ok || o.err != nil || o.process.ID != "a" {
			t.Errorf("the same start, after a rename, answered %v, %+v", ok, o)
		}
	})
}

func TestInterruptedStartIsUnsureIfItMayHaveRun(t *testing.T) {
	lost := store.Identity{BootID: "boot", PID: 41, StartTime: 6}
	former := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	for name, c := range map[string]struct {
		asked, former *store.Identity
		logged        bool
		unsure        bool
	}{
		"another keeper": {asked: &lost, logged: true, unsure: true},
		"unknown keeper": {logged: true, unsure: true},
		"restart":        {asked: &lost, former: &former, unsure: true},
		"no log":         {asked: &lost},
		"same keeper":    {asked: &currentKeeper, logged: true},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				rec := NewRecord("a", api.KindProcess)
				rec.Name, rec.Argv, rec.Asked, rec.Former = "name-a", []string{"deploy"}, c.asked, c.former
				s := surveyFor(rec, nil)
				s.Logged = func(store.Record) bool { return c.logged }
				r.recoverFrom(s)
				p := r.wantState("a", api.StateFailed)
				if says := strings.Contains(p.Error, "may have been started as a"); says != c.unsure {
					t.Errorf("error is %q", p.Error)
				}
				if got := r.w.savedRecord("a"); got.Unsure != c.unsure {
					t.Errorf("saved as unsure: %v", got.Unsure)
				}
				switch again, known := r.repeatStart(rec); {
				case known != c.unsure:
					t.Errorf("ok %v, answered %+v", known, again)
				case known && !errors.Is(again.err, api.CodeUnsure):
					t.Errorf("a second call returned %+v", again)
				}
				if deeds := r.w.listCalls(); slices.Contains(deeds, "spawn") {
					t.Errorf("did %q", deeds)
				}
			})
		})
	}
}

func TestRestartPolicyDecidesAfterAnUnsureStart(t *testing.T) {
	// The unsure start is counted already: a first start is not a restart.
	for _, restarts := range []int{0, 3} {
		withRig(t, func(r *rig) {
			rec := processRecord("a", api.PolicyAlways)
			rec.Restarts, rec.AutoRestarts = restarts, restarts
			r.recoverFrom(surveyFor(rec, nil))
			r.wantState("a", api.StateBackoff)
			time.Sleep(time.Minute)
			p := r.wantState("a", api.StateRunning)
			if p.Supervision.Restarts != restarts || p.Supervision.Automatic != restarts || p.Error != "" {
				t.Errorf("process is %+v, supervised %+v", p, p.Supervision)
			}
			if got := r.w.savedRecord("a"); got.Unsure || got.Asked != nil {
				t.Errorf("saved as %+v", got)
			}
			r.reportExit(p, 0)
			time.Sleep(time.Minute)
			if p := r.wantState("a", api.StateRunning); p.Supervision.Restarts != restarts+1 {
				t.Errorf("a restart is not counted: %+v", p.Supervision)
			}
		})
	}
}

func TestNextStartIsCorrectedAfterTheClockWasSetBack(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyAlways)
		rec.State, rec.NextStart = string(api.StateBackoff), time.Now().Add(time.Hour)
		r.recoverFrom(surveyFor(rec, nil))
		p := r.wantState("a", api.StateBackoff)
		if in := time.Until(*p.Supervision.NextStart); in > time.Minute {
			t.Errorf("shown as starting in %s", in)
		}
		time.Sleep(time.Minute)
		r.wantState("a", api.StateRunning)
	})
}

func TestStartSavesTheKeeperItAsks(t *testing.T) {
	withRig(t, func(r *rig) {
		r.c.Keeper = func() *store.Identity { return &currentKeeper }
		r.w.spawnDelay = time.Minute
		r.startSession("a")
		synctest.Wait()
		if got := r.w.savedRecord("a").Asked; got == nil || *got != currentKeeper {
			t.Errorf("asked is %+v", got)
		}
		time.Sleep(time.Minute)
		p := r.wantState("a", api.StateRunning)
		if got := r.w.savedRecord("a").Asked; got != nil {
			t.Errorf("after the start, asked is %+v", got)
		}
		r.w.spawnDelay = time.Minute
		r.postEvent("a", evRestart)
		synctest.Wait()
		r.reportExit(p, 0)
		r.reportDrained(p)
		synctest.Wait()
		if got := r.w.savedRecord("a"); got.State != string(api.StateStarting) || got.Asked == nil {
			t.Errorf("a restart is saved as %+v", got)
		}
	})
}

func TestStartCanReuseTheIDOfAFailedStart(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr, r.w.removeDelay = errFake, time.Minute
		if o := <-r.startSession("a"); !errors.Is(o.err, errFake) {
			t.Fatalf("answered %v", o.err)
		}
		rec := NewRecord("a", api.KindSession)
		rec.Argv = []string{"sh"}
		if again, known := r.repeatStart(rec); known || again.err != nil {
			t.Errorf("ok %v, %+v", known, again)
		}
		if deeds := r.w.listCalls(); deeds[len(deeds)-1] != "remove" {
			t.Errorf("the folder still exists: %q", deeds)
		}
	})
}

func TestSessionWithLostTerminalIsNotRestartedByALaterEngine(t *testing.T) {
	who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	var saved store.Record
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyNo)
		rec.TTY, rec.State, rec.Identity = true, string(api.StateRunning), &who
		r.w.stopDelay = time.Hour
		s := surveyFor(rec, nil)
		s.Alive = func(store.Identity) bool { return true }
		all, _ := s.Plan()
		r.c.reg.box.Post(func() { r.c.Restore(all[0], "") }) // its terminal is lost, so it is being stopped
		synctest.Wait()
		saved = r.w.savedRecord("a")
	})
	if saved.State != string(api.StateStopping) {
		t.Fatalf("saved as %+v", saved)
	}
	withRig(t, func(r *rig) {
		r.recoverFrom(surveyFor(saved, nil))
		if p := r.wantState("a", api.StateExited); p.Error == "" || r.countSpawns() != 0 {
			t.Errorf("process is %+v after %d starts", p, r.countSpawns())
		}
	})
}

// A PID of an earlier boot means nothing, but how the process exited stays known.
func TestRecordOfAnotherBootLosesItsPID(t *testing.T) {
	who, code := store.Identity{BootID: "old", PID: 50, StartTime: 7}, 3
	for state, exit := range map[api.State]*store.Exit{
		api.StateExited:  nil,
		api.StateRunning: {Identity: who, Code: &code, ExitedAt: time.Unix(2, 0)},
	} {
		rec := processRecord("a", api.PolicyNo)
		rec.State, rec.Identity, rec.Runs = string(state), &who, []store.Run{{StartedAt: time.Unix(1, 0)}}
		if state == api.StateExited {
			rec.Runs[0].EndedAt, rec.Runs[0].ExitCode = time.Unix(2, 0), &code
		}
		for range 2 { // two engines after the boot
			withRig(t, func(r *rig) {
				r.recoverFrom(surveyFor(rec, exit))
				p := r.wantState("a", api.StateExited)
				if p.LastPID != 0 || p.ExitCode == nil || *p.ExitCode != code {
					t.Errorf("%s: became %+v", state, p)
				}
				if synctest.Wait(); r.w.savedRecord("a").ID != "" {
					rec = r.w.savedRecord("a")
				}
			})
			if rec.Identity == nil || *rec.Identity != (store.Identity{BootID: "old"}) {
				t.Errorf("%s: saved %+v", state, rec.Identity)
			}
		}
	}
}
