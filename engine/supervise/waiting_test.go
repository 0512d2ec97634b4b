package supervise

import (
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// after is a record that is to be started after others.
func after(id string, on ...store.Dependency) store.Record {
	r := supervised(id, api.PolicyNo)
	r.After = on
	return r
}

func dependency(id string, c api.Condition) store.Dependency {
	return store.Dependency{ID: id, Condition: string(c)}
}

// enter starts a record and gives its answer.
func (r *rig) enter(rec store.Record) outcome {
	r.Helper()
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.start(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return <-reply
}

func TestWhatComesAfterOthersIsStartedOnceAllHaveHeld(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.probeTakes = 3 * time.Second
		db := supervised("db", api.PolicyNo)
		db.Ready = &store.Readiness{Port: 5432}
		r.launch(db)
		task := r.launch(supervised("task", api.PolicyNo))
		o := r.enter(after("web", dependency("db", api.ConditionReady), dependency("name-task", api.ConditionSucceeded)))
		if o.err != nil || o.process.State != api.StateWaiting || len(o.process.WaitsFor) != 2 || o.process.PID != 0 {
			t.Fatalf("answered %+v, %v", o.process, o.err)
		}
		if rec := r.w.onDisk("web"); rec.State != string(api.StateWaiting) || len(rec.After) != 2 || rec.After[1].ID != "task" {
			t.Errorf("on disk %+v", rec)
		}
		time.Sleep(4 * time.Second)
		p := r.wants("web", api.StateWaiting)
		if len(p.WaitsFor) != 1 || p.WaitsFor[0].Name != "name-task" || len(r.w.onDisk("web").After) != 1 {
			t.Errorf("waits for %+v", p.WaitsFor)
		}
		r.exits(task, 0)
		if p := r.wants("web", api.StateRunning); p.PID == 0 || p.WaitsFor != nil || p.Supervision.Restarts != 0 || r.w.onDisk("web").After != nil {
			t.Errorf("became %+v", p)
		}
	})
}

func TestWhatComesAfterSomethingThatHoldsIsStartedAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		r.launch(supervised("db", api.PolicyNo))
		if o := r.enter(after("web", dependency("db", ""), dependency("db", api.ConditionStarted))); o.process.State != api.StateRunning {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
	})
}

func TestWhatWaitsFailsWithTheReasonOfWhatCannotHold(t *testing.T) {
	cases := map[string]struct {
		condition api.Condition
		happens   func(r *rig, db api.Process)
		want      string
	}{
		"exits":    {api.ConditionReady, func(r *rig, db api.Process) { r.exits(db, 7) }, "name-db exited with 7 before it was ready"},
		"fails":    {api.ConditionSucceeded, func(r *rig, db api.Process) { r.exits(db, 3) }, "name-db exited with 3"},
		"is ended": {api.ConditionReady, func(r *rig, db api.Process) { r.ask("db", evStop); synctest.Wait(); r.exits(db, 0) }, "name-db was stopped before it was ready"},
		"is removed": {api.ConditionReady, func(r *rig, db api.Process) {
			r.c.box.Post(func() { drop(r.c, r.c.procs["db"]) })
		}, "name-db was removed before it was ready"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				r.w.probeTakes = time.Hour
				rec := supervised("db", api.PolicyNo)
				rec.Ready = &store.Readiness{Port: 5432}
				db := r.launch(rec)
				r.enter(after("web", dependency("db", test.condition)))
				r.enter(after("shop", dependency("web", api.ConditionStarted)))
				test.happens(r, db)
				if p := r.wants("web", api.StateFailed); p.Error != test.want || p.ExitUnknown || r.spawns() != 1 {
					t.Errorf("failed with %q after %d starts", p.Error, r.spawns())
				}
				if p := r.wants("shop", api.StateFailed); p.Error != "name-web failed before it was started: "+test.want {
					t.Errorf("what comes after it failed with %q", p.Error)
				}
			})
		})
	}
}

func TestWhatWaitsGoesOnWaitingWhileItsDependencyIsTriedAgain(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := supervised("task", api.PolicyOnFailure)
		task := r.launch(rec)
		r.enter(after("web", dependency("task", api.ConditionSucceeded)))
		r.exits(task, 1)
		r.wants("task", api.StateBackoff)
		r.wants("web", api.StateWaiting)
		time.Sleep(longestDelay)
		r.exits(r.wants("task", api.StateRunning), 0)
		r.wants("web", api.StateRunning)
	})
}

func TestANewEngineGoesOnWaiting(t *testing.T) {
	for name, dbState := range map[string]api.State{"met": api.StateRunning, "open": api.StateWaiting, "never": api.StateExited} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				code := 7
				who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
				db := supervised("db", api.PolicyNo)
				db.State = string(dbState)
				if dbState != api.StateWaiting {
					db.Identity, db.StartedAt = &who, time.Now()
				} else {
					db.After = []store.Dependency{{ID: "task", Name: "task", Condition: string(api.ConditionSucceeded)}}
				}
				task := supervised("task", api.PolicyNo)
				task.State, task.Identity = string(api.StateRunning), &store.Identity{BootID: "boot", PID: 51, StartTime: 7}
				web := after("web", store.Dependency{ID: "db", Name: "name-db", Condition: string(api.ConditionReady)})
				web.State = string(api.StateWaiting)
				s := surveyOf(web, &store.Exit{Identity: who, Code: &code, ExitedAt: time.Now()})
				s.Records = []store.Record{web, db, task}
				s.Alive = func(id store.Identity) bool { return id == who || id.PID == 51 }
				r.survive(s)
				switch name {
				case "met":
					r.wants("web", api.StateRunning)
				case "open":
					r.wants("web", api.StateWaiting)
					r.exits(r.wants("task", api.StateRunning), 0)
					r.wants("db", api.StateRunning)
					r.wants("web", api.StateRunning)
				case "never":
					if p := r.wants("web", api.StateFailed); p.Error != "name-db exited with 7 before it was ready" {
						t.Errorf("failed with %q", p.Error)
					}
				}
			})
		})
	}
}

func TestStopOfWhatWaitsCallsItOff(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.probeTakes = time.Minute
		db := supervised("db", api.PolicyNo)
		db.Ready = &store.Readiness{Port: 5432}
		r.launch(db)
		r.enter(after("web", dependency("db", api.ConditionReady)))
		if o := <-r.ask("web", evStop); o.err != nil || o.process.State != api.StateStopped || o.process.ExitUnknown {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
		time.Sleep(2 * time.Minute)
		r.wants("web", api.StateStopped)
		if r.w.onDisk("web").Desired != desiredStopped || r.spawns() != 1 {
			t.Errorf("%d starts, wanted %s", r.spawns(), r.w.onDisk("web").Desired)
		}
	})
}

func TestARestartOfWhatWaitsDoesNotWait(t *testing.T) {
	withRig(t, func(r *rig) {
		r.launch(supervised("task", api.PolicyNo))
		r.enter(after("web", dependency("task", api.ConditionCompleted)))
		if o := <-r.ask("web", evRestart); o.err != nil || o.process.State != api.StateRunning {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
	})
}

func TestWhatHasEndedCanBeStartedAgainAfterOthers(t *testing.T) {
	withRig(t, func(r *rig) {
		web := r.launch(supervised("web", api.PolicyNo))
		r.exits(web, 5)
		r.wants("web", api.StateExited)
		task := r.launch(supervised("task", api.PolicyNo))
		p, err := r.c.RestartProcess(r.Context(), Request{ID: "web"}, []store.Dependency{dependency("task", api.ConditionCompleted)}, "")
		if err != nil || p.State != api.StateWaiting || p.ExitCode != nil || p.PID != 0 {
			t.Fatalf("answered %+v, %v", p, err)
		}
		r.exits(task, 1)
		if p := r.wants("web", api.StateRunning); p.Supervision.Restarts != 1 {
			t.Errorf("became %+v", p)
		}
		if _, err := r.c.RestartProcess(r.Context(), Request{ID: "web"}, []store.Dependency{dependency("web", "")}, ""); err == nil {
			t.Error("it may wait for itself")
		}
	})
}
