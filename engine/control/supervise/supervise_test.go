package supervise

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/seed"
)

// processRecord returns the record of a process without a terminal.
func processRecord(id string, policy api.Policy) store.Record {
	r := NewRecord(id, api.KindProcess)
	r.Name, r.Argv = "name-"+id, []string{"serve"}
	r.Restart.Policy = string(policy)
	return r
}

// startRecord starts a record and waits until it runs.
func (r *rig) startRecord(rec store.Record) api.Process {
	r.Helper()
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	o := <-reply
	if o.err != nil || o.process.State != api.StateRunning {
		r.Fatalf("start: %v, %v", o.process.State, o.err)
	}
	return o.process
}

// wantState returns the view of a process, and fails unless it is in the given state.
func (r *rig) wantState(id string, state api.State) api.Process {
	r.Helper()
	p := r.view(id)
	if p.State != state {
		r.Fatalf("%s is %s, want %s", id, p.State, state)
	}
	return p
}

func (r *rig) countSpawns() (n int) {
	for _, deed := range r.w.listCalls() {
		if deed == "spawn" {
			n++
		}
	}
	return n
}

func TestCrashLoopOfDaysRestartsOnceAMinute(t *testing.T) {
	needs.FullRun(t)
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		began := time.Now()
		for time.Since(began) < 3*24*time.Hour {
			r.reportExit(p, 1)
			r.wantState("a", api.StateBackoff)
			if n := r.countSpawns(); time.Since(began) < 15*time.Second && n > 5 {
				t.Fatalf("%d starts in %v", n, time.Since(began))
			}
			next := *r.view("a").Supervision.NextStart
			if wait := time.Until(next); wait <= 0 || wait > maxDelay {
				t.Fatalf("next start in %v", wait)
			}
			time.Sleep(time.Until(next) + time.Millisecond)
			p = r.wantState("a", api.StateRunning)
		}
		if n := r.countSpawns(); n < 3*24*60 || n > 3*24*60*12/10 {
			t.Errorf("%d starts in three days", n)
		}
	})
}

func TestFirstRestartAfterAHealthyRunIsImmediate(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		for range 5 {
			time.Sleep(healthyRun + time.Second)
			r.reportExit(p, 1)
			again := r.wantState("a", api.StateRunning)
			if again.PID == p.PID {
				t.Fatal("the same child")
			}
			p = again
		}
		r.reportExit(p, 1)
		back := r.wantState("a", api.StateBackoff)
		if wait := time.Until(*back.Supervision.NextStart); wait < firstDelay || wait > firstDelay*11/10 {
			t.Errorf("delay %v", wait)
		}
		if back.Supervision.Restarts != 5 || back.Supervision.LastLines[0] != "last words" || back.Error == "" || *back.ExitCode != 1 {
			t.Errorf("in backoff as %+v, %+v", back, back.Supervision)
		}
	})
}

func TestServiceFailsAfterItsRestartsAndCanBeStartedAgain(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyOnFailure)
		rec.Restart.Max = 1
		p := r.startRecord(rec)
		r.reportExit(p, 9)
		r.wantState("a", api.StateBackoff)
		time.Sleep(3 * time.Second)
		r.reportExit(r.wantState("a", api.StateRunning), 9)
		failed := r.wantState("a", api.StateFailed)
		if !strings.Contains(failed.Error, "exited with 9") || len(failed.Supervision.LastLines) == 0 {
			t.Errorf("failed as %+v", failed)
		}
		if o := <-r.postEvent("a", evRestart); o.err != nil || o.process.State != api.StateRunning || o.process.Error != "" {
			t.Errorf("restart: %+v", o)
		}
		r.reportExit(r.view("a"), 9)
		r.wantState("a", api.StateBackoff)
	})
}

func TestStopInBackoffPreventsTheRestart(t *testing.T) {
	withRig(t, func(r *rig) {
		r.reportExit(r.startRecord(processRecord("a", api.PolicyAlways)), 1)
		r.wantState("a", api.StateBackoff)
		if o := <-r.postEvent("a", evStop); o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour)
		r.wantState("a", api.StateStopped)
		if r.countSpawns() != 1 || r.w.savedRecord("a").Desired != desiredStopped {
			t.Errorf("%d starts, %s on disk", r.countSpawns(), r.w.savedRecord("a").Desired)
		}
	})
}

func TestStopDuringARestartStopsTheNewChild(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		r.w.spawnDelay = time.Second
		time.Sleep(healthyRun)
		r.reportExit(p, 1)
		r.wantState("a", api.StateStarting)
		if o := <-r.postEvent("a", evStop); o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
		if deeds := r.w.listCalls(); !strings.HasPrefix(deeds[len(deeds)-2], "save stopped") && !strings.HasPrefix(deeds[len(deeds)-1], "save stopped") {
			t.Errorf("did %q", deeds)
		}
	})
}

func TestRequestForRemovedProcessIsAnswered(t *testing.T) {
	withRig(t, func(r *rig) {
		for _, kind := range []eventKind{evStop, evRestart, evRemove} {
			if o := <-r.postEvent("removed", kind); !errors.Is(o.err, api.CodeNotFound) {
				t.Errorf("%s: answered %+v", kind, o)
			}
		}
	})
}

// A start waiting for a missing keeper can be cancelled.
func TestStopCancelsAStartWaitingForAKeeper(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnWaits = true
		begun := r.startSession("new")
		r.runOnLoop(func() {
			if p, err := r.c.reg.procs.findIncludingNew(t.Context(), "name-new", api.KindSession); err != nil || p.rec.ID != "new" {
				t.Errorf("findIncludingNew: %v", err)
			}
			if _, err := r.c.reg.procs.find(t.Context(), "name-new"); !errors.Is(err, api.CodeNotFound) {
				t.Errorf("find: %v", err)
			}
		})
		var stopped, removed <-chan outcome
		r.runOnLoop(func() { // so that the removal comes before the start is cancelled
			stopped, removed = r.postEvent("new", evStop), r.postEvent("new", evRemove)
		})
		if o := <-stopped; o.err != nil || o.process.ID != "new" || o.process.State != api.StateStopped {
			t.Errorf("stop of a first start answered %+v", o)
		}
		if o := <-removed; o.err != nil {
			t.Errorf("removal answered %v", o.err)
		}
		if o := <-begun; !errors.Is(o.err, errFake) || len(r.listProcesses()) != 0 || r.w.savedRecord("new").ID != "" {
			t.Errorf("start answered %+v, listed %v", o, r.listProcesses())
		}

		r.w.spawnWaits, r.w.spawnErr = false, errFake
		ended := make(chan outcome, 1)
		r.runOnLoop(func() {
			if err := r.c.startRecord(processRecord("short", api.PolicyNo), "", false, api.State.Ended, ended); err != nil {
				t.Error(err)
			}
		})
		if o := <-ended; !errors.Is(o.err, errFake) {
			t.Errorf("waiter for the end of a failed start got %+v", o)
		}
		r.w.spawnErr = nil
		p := r.startRecord(processRecord("again", api.PolicyNo))
		r.reportExit(p, 0)
		r.wantState("again", api.StateExited)
		r.w.spawnWaits = true
		restarted := r.postEvent("again", evRestart)
		r.wantState("again", api.StateStarting)
		if o := <-r.postEvent("again", evRemove); !errors.Is(o.err, api.CodeConflict) {
			t.Errorf("removal during a start: %+v", o)
		}
		stopped, removed = r.postEvent("again", evStop), r.postEvent("again", evRemove)
		if o := <-stopped; o.err != nil || o.process.State != api.StateStopped {
			t.Errorf("stop of a restart answered %+v", o)
		}
		if o := <-restarted; !errors.Is(o.err, errFake) {
			t.Errorf("restart answered %+v", o)
		}
		if o := <-removed; o.err != nil || len(r.listProcesses()) != 0 {
			t.Errorf("removal answered %v, listed %v", o.err, r.listProcesses())
		}
	})
}

func TestRestartInBackoffStartsAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		r.reportExit(r.startRecord(processRecord("a", api.PolicyAlways)), 1)
		r.wantState("a", api.StateBackoff)
		if o := <-r.postEvent("a", evRestart); o.process.State != api.StateRunning {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour)
		if r.countSpawns() != 2 {
			t.Errorf("%d starts", r.countSpawns())
		}
	})
}

func TestAutomaticRestartCountExcludesRequestedRestarts(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyOnFailure))
		r.reportExit(p, 1)
		time.Sleep(time.Hour) // the policy restarts it, and it keeps running
		r.reportExit(r.wantState("a", api.StateRunning), 1)
		r.wantState("a", api.StateRunning) // immediately
		restarted := r.postEvent("a", evRestart)
		<-restarted
		stopped := r.postEvent("a", evStop)
		<-stopped
		<-r.postEvent("a", evRestart)
		if s := r.wantState("a", api.StateRunning).Supervision; s.Automatic != 2 || s.Restarts != 4 {
			t.Errorf("%d automatic of %d restarts, want 2 of 4", s.Automatic, s.Restarts)
		}
	})
}

func TestStopDuringARequestedRestartCancelsTheRestart(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyNo))
		r.w.stopDelay = time.Second
		restarted := r.postEvent("a", evRestart)
		r.wantState("a", api.StateStopping)
		stopped := r.postEvent("a", evStop)
		r.reportExit(p, 0)
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
		if o := <-restarted; o.err == nil && o.process.State != api.StateStopped {
			t.Errorf("restart answered %+v", o)
		}
	})
}

func TestRestartDuringAStopMakesTheStopFail(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyNo))
		r.w.stopDelay = time.Second
		stopped := r.postEvent("a", evStop)
		r.wantState("a", api.StateStopping)
		restarted := r.postEvent("a", evRestart)
		r.reportExit(p, 0)
		if o := <-stopped; !errors.Is(o.err, api.CodeConflict) {
			t.Errorf("stop answered %+v", o)
		}
		if o := <-restarted; o.process.State != api.StateRunning || o.process.PID == p.PID {
			t.Errorf("restart answered %+v", o)
		}
	})
}

func TestRemovalWhileStoppingFollowsTheStop(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		r.w.stopDelay = time.Second
		stopped := r.postEvent("a", evStop)
		removed := r.postEvent("a", evRemove)
		r.reportExit(p, 0)
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
		if o := <-removed; o.err != nil || len(r.listProcesses()) != 0 || r.w.savedRecord("a").ID != "" {
			t.Errorf("removal answered %v, left %v", o.err, r.listProcesses())
		}
	})
}

func TestFailedRestartIsRetriedAndReportsItsError(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		r.w.mu.Lock()
		r.w.spawnErr = errFake
		r.w.mu.Unlock()
		time.Sleep(healthyRun)
		r.reportExit(p, 1)
		if back := r.wantState("a", api.StateBackoff); back.Error != errFake.Error() {
			t.Errorf("in backoff as %+v", back)
		}
		r.w.mu.Lock()
		r.w.spawnErr = nil
		r.w.mu.Unlock()
		time.Sleep(maxDelay)
		r.wantState("a", api.StateRunning)
	})
}

func TestWaitDuringASaveIsAnsweredWithTheSavedState(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyNo)
		rec.Ready = &store.Readiness{Port: 1}
		r.w.probeDelay = time.Second
		r.startRecord(rec)
		r.runOnLoop(func() { r.w.saveDelay = time.Second }) // the next save is caused by a timer
		time.Sleep(1500 * time.Millisecond)                 // it is ready, but that is not saved yet
		p, err := r.c.AwaitCondition(r.Context(), "a", func(_ api.State, _ int, ready, _ bool) bool { return ready })
		if err != nil || !*p.Supervision.Ready {
			t.Errorf("waited for a ready process: %+v, %v", p, err)
		}
	})
}

func TestReadinessIsReportedAndItsTimeoutIsAFailure(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyOnFailure)
		rec.Ready = &store.Readiness{Port: 1}
		r.w.probeDelay = time.Second
		p := r.startRecord(rec)
		if *p.Supervision.Ready {
			t.Error("ready at once")
		}
		time.Sleep(2 * time.Second)
		if !*r.view("a").Supervision.Ready {
			t.Error("not ready after the check")
		}
		r.w.probeErr = errors.New("not ready after 1s: port 1")
		restarted := r.postEvent("a", evRestart)
		synctest.Wait()
		r.reportExit(p, 0)
		again := (<-restarted).process
		time.Sleep(2 * time.Second)
		r.reportExit(again, 0)
		if back := r.wantState("a", api.StateBackoff); back.Error != r.w.probeErr.Error() {
			t.Errorf("became %+v", back)
		}
	})
}

func TestRepeatedExitOfThePreviousChildIsIgnored(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyAlways))
		r.w.spawnDelay = time.Second
		time.Sleep(healthyRun)
		r.reportExit(p, 1)
		r.reportExit(p, 1) // repeated by the keeper's list
		time.Sleep(2 * time.Second)
		r.reportExit(p, 1)
		if now := r.wantState("a", api.StateRunning); now.PID == p.PID || r.countSpawns() != 2 {
			t.Errorf("became %+v after %d starts", now, r.countSpawns())
		}
	})
}

func TestLateExitOfThePreviousChildIsIgnored(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRecord(processRecord("a", api.PolicyNo))
		r.w.lateDelay = time.Second
		restarted := r.postEvent("a", evRestart) // its tree is gone before the keeper reports the exit
		synctest.Wait()
		r.reportExit(p, 0)
		if o := <-restarted; o.process.State != api.StateRunning {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Minute)
		if now := r.wantState("a", api.StateRunning); now.PID == p.PID || r.countSpawns() != 2 {
			t.Errorf("became %+v after %d starts", now, r.countSpawns())
		}
	})
}

// The cases cover each saved state, with and without a child, in the same boot and after a reboot.
func TestEngineStartHandlesEverySavedState(t *testing.T) {
	who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	old := store.Identity{BootID: "another", PID: 50, StartTime: 7}
	child := keeper.Child{ID: "a", PID: 50, StartTime: 7, BootID: "boot"}
	one := 1
	dead := child
	dead.Exit = &keeper.Exit{Code: &one}
	always, no, fail := api.PolicyAlways, api.PolicyNo, api.PolicyOnFailure
	cases := []struct {
		policy         api.Policy
		state, desired string
		identity       *store.Identity
		held           *keeper.Child
		alive          bool
		want           api.State
		spawns         int
	}{
		{always, "starting", "running", nil, nil, false, api.StateRunning, 1},
		{always, "starting", "running", nil, &child, true, api.StateRunning, 0},
		{no, "starting", "running", nil, nil, false, api.StateFailed, 0},
		{no, "starting", "stopped", nil, nil, false, api.StateStopped, 0},
		{always, "running", "running", &who, &child, true, api.StateRunning, 0},
		{always, "running", "running", &who, nil, true, api.StateRunning, 0},
		{always, "running", "running", &who, &dead, false, api.StateBackoff, 0},
		{always, "running", "running", &who, nil, false, api.StateBackoff, 0},
		{always, "running", "running", &old, nil, true, api.StateRunning, 1},
		{no, "running", "running", &old, nil, true, api.StateExited, 0},
		{fail, "running", "running", &old, nil, true, api.StateExited, 0},
		{no, "running", "running", &who, &dead, false, api.StateExited, 0},
		{always, "stopping", "stopped", &who, &dead, false, api.StateStopped, 0},
		{always, "stopping", "stopped", &who, nil, false, api.StateStopped, 0},
		{always, "stopping", "stopped", &old, nil, true, api.StateStopped, 0},
		{no, "stopping", "running", &who, nil, false, api.StateRunning, 1},
		{no, "stopping", "running", &who, &dead, false, api.StateRunning, 1},
		{always, "backoff", "running", &who, &dead, false, api.StateBackoff, 0},
		{always, "backoff", "running", &who, nil, false, api.StateBackoff, 0},
		{always, "backoff", "running", &old, nil, false, api.StateRunning, 1},
		{always, "stopped", "stopped", &who, nil, false, api.StateStopped, 0},
		{always, "stopped", "stopped", &old, nil, true, api.StateStopped, 0},
		{always, "failed", "running", &who, nil, false, api.StateFailed, 0},
		{always, "failed", "running", &old, nil, false, api.StateRunning, 1},
		{no, "exited", "running", &who, &dead, false, api.StateExited, 0},
		{no, "exited", "running", &old, nil, false, api.StateExited, 0},
	}
	for _, c := range cases {
		name := fmt.Sprintf("%s %s %s boot=%v held=%v alive=%v", c.policy, c.state, c.desired, c.identity == &who, c.held != nil, c.alive)
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				rec := processRecord("a", c.policy)
				rec.State, rec.Desired, rec.Identity = c.state, c.desired, c.identity
				rec.StartedAt, rec.NextStart = time.Now(), time.Now().Add(time.Second)
				s := Survey{
					BootID:  "boot",
					Unread:  func(string) bool { return false },
					Records: []store.Record{rec},
					Logged:  func(store.Record) bool { return false },
					Exit:    func(string) (store.Exit, bool) { return store.Exit{}, false },
					Alive:   func(id store.Identity) bool { return c.alive && id == who },
					Orphan:  func(store.Record) (store.Identity, bool) { return store.Identity{}, false },
				}
				if c.held != nil {
					s.Children = []keeper.Child{*c.held}
				}
				all, _ := s.Plan()
				r.c.reg.box.Post(func() {
					p := r.c.reg.insert(all[0].Rec, "")
					p.ending = all[0].ending
					p.view = describeProcess(p)
					for _, e := range all[0].events {
						r.c.reg.handle("a", e)
					}
				})
				p := r.wantState("a", c.want)
				if r.countSpawns() != c.spawns {
					t.Errorf("%d starts, want %d", r.countSpawns(), c.spawns)
				}
				if c.want == api.StateBackoff {
					time.Sleep(maxDelay)
					p = r.wantState("a", api.StateRunning)
				}
				if c.want == api.StateRunning && c.spawns == 0 && p.PID != 50 {
					t.Errorf("pid %d", p.PID)
				}
			})
		})
	}
}

// For any order of requests and exits, a process never has two children, every request is answered,
// and the last request decides the final state.
func TestAnyOrderOfRequestsAndExitsLeavesAtMostOneChild(t *testing.T) {
	random := seed.Rand(t)
	for order := range 200 {
		withRig(t, func(r *rig) {
			r.w.spawnDelay = time.Duration(random.IntN(3)) * 100 * time.Millisecond
			r.w.stopDelay = time.Duration(random.IntN(3)) * 150 * time.Millisecond
			policy := []api.Policy{api.PolicyNo, api.PolicyOnFailure, api.PolicyAlways}[random.IntN(3)]
			r.startRecord(processRecord("a", policy))
			var replies []<-chan outcome
			for range 40 {
				switch random.IntN(8) {
				case 0:
					replies = append(replies, r.postEvent("a", evStop))
				case 1:
					replies = append(replies, r.postEvent("a", evRestart))
				case 2, 3:
					r.w.killChild(r, "a", random.IntN(2))
				case 4:
					time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
				case 5:
					time.Sleep(time.Duration(random.IntN(40)) * time.Second)
				case 6:
					keep, reply := random.IntN(2) == 0, make(chan outcome, 1)
					r.c.reg.box.Post(func() {
						if err := r.c.applyUpdate(r.c.reg.procs["a"], Update{KeepAlive: &keep}, reply); err != nil {
							t.Error(err)
						}
					})
					replies = append(replies, reply)
				case 7:
					r.w.mu.Lock()
					r.w.spawnErr = [...]error{nil, nil, errFake}[random.IntN(3)]
					r.w.mu.Unlock()
				}
				if n := r.w.countChildren("a"); n > 1 {
					t.Fatalf("order %d: %d children", order, n)
				}
			}
			r.w.mu.Lock()
			r.w.spawnErr = nil
			r.w.mu.Unlock()
			time.Sleep(time.Hour)
			final := r.postEvent("a", evStop)
			time.Sleep(time.Hour)
			for i, reply := range append(replies, final) {
				select {
				case <-reply:
				default:
					t.Errorf("order %d: request %d was never answered", order, i)
				}
			}
			if p := r.view("a"); !p.State.Ended() || r.w.countChildren("a") != 0 {
				t.Errorf("order %d: %s with %d children", order, p.State, r.w.countChildren("a"))
			}
		})
	}
}
