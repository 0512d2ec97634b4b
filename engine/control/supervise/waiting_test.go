package supervise

import (
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// recordAfter returns a record with dependencies.
func recordAfter(id string, on ...store.Dependency) store.Record {
	r := processRecord(id, api.PolicyNo)
	r.After = on
	return r
}

func dependency(id string, c api.Condition) store.Dependency {
	return store.Dependency{ID: id, Condition: string(c)}
}

// startAndAnswer starts a record and returns the answer.
func (r *rig) startAndAnswer(rec store.Record) outcome {
	r.Helper()
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return <-reply
}

func TestProcessStartsOnceAllDependenciesAreMet(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.probeDelay = 3 * time.Second
		db := processRecord("db", api.PolicyNo)
		db.Ready = &store.Readiness{Port: 5432}
		r.startRecord(db)
		task := r.startRecord(processRecord("task", api.PolicyNo))
		o := r.startAndAnswer(recordAfter("web", dependency("db", api.ConditionReady), dependency("name-task", api.ConditionSucceeded)))
		if o.err != nil || o.process.State != api.StateWaiting || len(o.process.WaitsFor) != 2 || o.process.PID != 0 {
			t.Fatalf("answered %+v, %v", o.process, o.err)
		}
		if rec := r.w.savedRecord("web"); rec.State != string(api.StateWaiting) || len(rec.After) != 2 || rec.After[1].ID != "task" {
			t.Errorf("on disk %+v", rec)
		}
		time.Sleep(4 * time.Second)
		p := r.wantState("web", api.StateWaiting)
		if len(p.WaitsFor) != 1 || p.WaitsFor[0].Name != "name-task" || len(r.w.savedRecord("web").After) != 1 {
			t.Errorf("waits for %+v", p.WaitsFor)
		}
		r.reportExit(task, 0)
		if p := r.wantState("web", api.StateRunning); p.PID == 0 || p.WaitsFor != nil || p.Supervision.Restarts != 0 || r.w.savedRecord("web").After != nil {
			t.Errorf("became %+v", p)
		}
	})
}

func TestProcessWithMetDependenciesStartsAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startRecord(processRecord("db", api.PolicyNo))
		if o := r.startAndAnswer(recordAfter("web", dependency("db", ""), dependency("db", api.ConditionStarted))); o.process.State != api.StateRunning {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
	})
}

func TestWaitingProcessFailsWithTheReasonOfItsDependency(t *testing.T) {
	cases := map[string]struct {
		condition api.Condition
		happens   func(r *rig, db api.Process)
		want      string
	}{
		"exits":      {api.ConditionReady, func(r *rig, db api.Process) { r.reportExit(db, 7) }, "name-db exited with 7 before it was ready"},
		"fails":      {api.ConditionSucceeded, func(r *rig, db api.Process) { r.reportExit(db, 3) }, "name-db exited with 3"},
		"is stopped": {api.ConditionReady, func(r *rig, db api.Process) { r.postEvent("db", evStop); synctest.Wait(); r.reportExit(db, 0) }, "name-db was stopped before it was ready"},
		"is removed": {api.ConditionReady, func(r *rig, db api.Process) {
			r.c.reg.box.Post(func() { r.c.stopping.deleteProcess(r.c.reg.procs["db"]) })
		}, "name-db was removed before it was ready"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				r.w.probeDelay = time.Hour
				rec := processRecord("db", api.PolicyNo)
				rec.Ready = &store.Readiness{Port: 5432}
				db := r.startRecord(rec)
				r.startAndAnswer(recordAfter("web", dependency("db", test.condition)))
				r.startAndAnswer(recordAfter("shop", dependency("web", api.ConditionStarted)))
				test.happens(r, db)
				if p := r.wantState("web", api.StateFailed); p.Error != test.want || p.ExitUnknown || r.countSpawns() != 1 {
					t.Errorf("failed with %q after %d starts", p.Error, r.countSpawns())
				}
				if p := r.wantState("shop", api.StateFailed); p.Error != "name-web failed before it was started: "+test.want {
					t.Errorf("the process depending on it failed with %q", p.Error)
				}
			})
		})
	}
}

func TestProcessKeepsWaitingWhileItsDependencyIsRestarted(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("task", api.PolicyOnFailure)
		task := r.startRecord(rec)
		r.startAndAnswer(recordAfter("web", dependency("task", api.ConditionSucceeded)))
		r.reportExit(task, 1)
		r.wantState("task", api.StateBackoff)
		r.wantState("web", api.StateWaiting)
		time.Sleep(maxDelay)
		r.reportExit(r.wantState("task", api.StateRunning), 0)
		r.wantState("web", api.StateRunning)
	})
}

func TestNewEngineResumesWaitingForDependencies(t *testing.T) {
	for name, dbState := range map[string]api.State{"met": api.StateRunning, "open": api.StateWaiting, "never": api.StateExited} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				code := 7
				who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
				db := processRecord("db", api.PolicyNo)
				db.State = string(dbState)
				if dbState != api.StateWaiting {
					db.Identity, db.StartedAt = &who, time.Now()
				} else {
					db.After = []store.Dependency{{ID: "task", Name: "task", Condition: string(api.ConditionSucceeded)}}
				}
				task := processRecord("task", api.PolicyNo)
				task.State, task.Identity = string(api.StateRunning), &store.Identity{BootID: "boot", PID: 51, StartTime: 7}
				web := recordAfter("web", store.Dependency{ID: "db", Name: "name-db", Condition: string(api.ConditionReady)})
				web.State = string(api.StateWaiting)
				s := surveyFor(web, &store.Exit{Identity: who, Code: &code, ExitedAt: time.Now()})
				s.Records = []store.Record{web, db, task}
				s.Alive = func(id store.Identity) bool { return id == who || id.PID == 51 }
				r.recoverFrom(s)
				switch name {
				case "met":
					r.wantState("web", api.StateRunning)
				case "open":
					r.wantState("web", api.StateWaiting)
					r.reportExit(r.wantState("task", api.StateRunning), 0)
					r.wantState("db", api.StateRunning)
					r.wantState("web", api.StateRunning)
				case "never":
					if p := r.wantState("web", api.StateFailed); p.Error != "name-db exited with 7 before it was ready" {
						t.Errorf("failed with %q", p.Error)
					}
				}
			})
		})
	}
}

func TestStopCancelsAWaitingStart(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.probeDelay = time.Minute
		db := processRecord("db", api.PolicyNo)
		db.Ready = &store.Readiness{Port: 5432}
		r.startRecord(db)
		r.startAndAnswer(recordAfter("web", dependency("db", api.ConditionReady)))
		if o := <-r.postEvent("web", evStop); o.err != nil || o.process.State != api.StateStopped || o.process.ExitUnknown {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
		time.Sleep(2 * time.Minute)
		r.wantState("web", api.StateStopped)
		if r.w.savedRecord("web").Desired != desiredStopped || r.countSpawns() != 1 {
			t.Errorf("%d starts, wanted %s", r.countSpawns(), r.w.savedRecord("web").Desired)
		}
	})
}

func TestRestartStartsAWaitingProcessAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startRecord(processRecord("task", api.PolicyNo))
		r.startAndAnswer(recordAfter("web", dependency("task", api.ConditionCompleted)))
		if o := <-r.postEvent("web", evRestart); o.err != nil || o.process.State != api.StateRunning {
			t.Errorf("answered %+v, %v", o.process, o.err)
		}
	})
}

func TestEndedProcessCanWaitForDependenciesOnRestart(t *testing.T) {
	withRig(t, func(r *rig) {
		web := r.startRecord(processRecord("web", api.PolicyNo))
		r.reportExit(web, 5)
		r.wantState("web", api.StateExited)
		task := r.startRecord(processRecord("task", api.PolicyNo))
		p, err := r.c.RestartProcess(r.Context(), Request{ID: "web"}, []store.Dependency{dependency("task", api.ConditionCompleted)}, "")
		if err != nil || p.State != api.StateWaiting || p.ExitCode != nil || p.PID != 0 {
			t.Fatalf("answered %+v, %v", p, err)
		}
		r.reportExit(task, 1)
		if p := r.wantState("web", api.StateRunning); p.Supervision.Restarts != 1 {
			t.Errorf("became %+v", p)
		}
		if _, err := r.c.RestartProcess(r.Context(), Request{ID: "web"}, []store.Dependency{dependency("web", "")}, ""); err == nil {
			t.Error("a process may wait for itself")
		}
	})
}

func TestProcessesCannotWaitForEachOther(t *testing.T) {
	withRig(t, func(r *rig) {
		for _, id := range []string{"a", "b", "c"} {
			r.reportExit(r.startRecord(processRecord(id, api.PolicyNo)), 0)
			r.wantState(id, api.StateExited)
		}
		r.startRecord(processRecord("db", api.PolicyNo))
		wait := func(id, on string) error {
			_, err := r.c.RestartProcess(r.Context(), Request{ID: id}, []store.Dependency{dependency(on, api.ConditionSucceeded)}, "")
			return err
		}
		for _, on := range [][2]string{{"a", "db"}, {"b", "a"}, {"c", "b"}} {
			if err := wait(on[0], on[1]); err != nil {
				t.Fatal(err)
			}
		}
		err := wait("a", "c")
		if want := "wait for name-c: it is waiting for this process"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		r.wantState("a", api.StateWaiting)
	})
}

func TestWaitingStartSavesTheKeeperItAsks(t *testing.T) {
	withRig(t, func(r *rig) {
		r.c.Keeper = func() *store.Identity { return &currentKeeper }
		task := r.startRecord(processRecord("task", api.PolicyNo))
		r.startAndAnswer(recordAfter("web", dependency("task", api.ConditionCompleted)))
		r.w.spawnDelay = time.Minute
		r.reportExit(task, 0)
		synctest.Wait()
		if got := r.w.savedRecord("web"); got.State != string(api.StateStarting) || got.Asked == nil || *got.Asked != currentKeeper {
			t.Errorf("saved as %s, asked is %+v", got.State, got.Asked)
		}
	})
}
