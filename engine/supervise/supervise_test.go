package supervise

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist/store"
	"tandem/tests/needs"
)

// supervised is a record of a process without a terminal.
func supervised(id string, policy api.Policy) store.Record {
	r := NewRecord(id, api.KindProcess)
	r.Name, r.Argv = "name-"+id, []string{"serve"}
	r.Restart.Policy = string(policy)
	return r
}

// launch starts a record and waits until it runs.
func (r *rig) launch(rec store.Record) api.Process {
	r.Helper()
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.start(rec, "", false, HasStarted, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	o := <-reply
	if o.err != nil || o.process.State != api.StateRunning {
		r.Fatalf("start: %v, %v", o.process.State, o.err)
	}
	return o.process
}

// wants fails unless a process is in a state, and gives it.
func (r *rig) wants(id string, state api.State) api.Process {
	r.Helper()
	p := r.view(id)
	if p.State != state {
		r.Fatalf("%s is %s, want %s", id, p.State, state)
	}
	return p
}

func (r *rig) spawns() (n int) {
	for _, deed := range r.w.deeds() {
		if deed == "spawn" {
			n++
		}
	}
	return n
}

func TestServiceThatExitsAtOnceForDaysIsStartedEverLessOften(t *testing.T) {
	needs.FullRun(t)
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyAlways))
		began := time.Now()
		for time.Since(began) < 3*24*time.Hour {
			r.exits(p, 1)
			r.wants("a", api.StateBackoff)
			if n := r.spawns(); time.Since(began) < 15*time.Second && n > 5 {
				t.Fatalf("%d starts in %v", n, time.Since(began))
			}
			next := *r.view("a").Supervision.NextStart
			if wait := time.Until(next); wait <= 0 || wait > longestDelay {
				t.Fatalf("next start in %v", wait)
			}
			time.Sleep(time.Until(next) + time.Millisecond)
			p = r.wants("a", api.StateRunning)
		}
		if n := r.spawns(); n < 3*24*60 || n > 3*24*60*12/10 {
			t.Errorf("%d starts in three days", n)
		}
	})
}

func TestFirstRestartAfterAHealthyRunIsImmediate(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyAlways))
		for range 5 {
			time.Sleep(healthyRun + time.Second)
			r.exits(p, 1)
			again := r.wants("a", api.StateRunning)
			if again.PID == p.PID {
				t.Fatal("the same child")
			}
			p = again
		}
		r.exits(p, 1)
		back := r.wants("a", api.StateBackoff)
		if wait := time.Until(*back.Supervision.NextStart); wait < firstDelay || wait > firstDelay*11/10 {
			t.Errorf("delay %v", wait)
		}
		if back.Supervision.Restarts != 5 || back.Supervision.LastLines[0] != "last words" || back.Error == "" || *back.ExitCode != 1 {
			t.Errorf("in backoff as %+v, %+v", back, back.Supervision)
		}
	})
}

func TestGivenUpServiceHasFailedAndCanBeStartedAgain(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := supervised("a", api.PolicyOnFailure)
		rec.Restart.Max = 1
		p := r.launch(rec)
		r.exits(p, 9)
		r.wants("a", api.StateBackoff)
		time.Sleep(3 * time.Second)
		r.exits(r.wants("a", api.StateRunning), 9)
		failed := r.wants("a", api.StateFailed)
		if !strings.Contains(failed.Error, "exited with 9") || len(failed.Supervision.LastLines) == 0 {
			t.Errorf("failed as %+v", failed)
		}
		if o := <-r.ask("a", evRestart); o.err != nil || o.process.State != api.StateRunning || o.process.Error != "" {
			t.Errorf("restart: %+v", o)
		}
		r.exits(r.view("a"), 9)
		r.wants("a", api.StateBackoff)
	})
}

func TestStopInBackoffIsFinal(t *testing.T) {
	withRig(t, func(r *rig) {
		r.exits(r.launch(supervised("a", api.PolicyAlways)), 1)
		r.wants("a", api.StateBackoff)
		if o := <-r.ask("a", evStop); o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour)
		r.wants("a", api.StateStopped)
		if r.spawns() != 1 || r.w.onDisk("a").Desired != desiredStopped {
			t.Errorf("%d starts, %s on disk", r.spawns(), r.w.onDisk("a").Desired)
		}
	})
}

func TestStopDuringARestartEndsTheNewChild(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyAlways))
		r.w.spawnTakes = time.Second
		time.Sleep(healthyRun)
		r.exits(p, 1)
		r.wants("a", api.StateStarting)
		if o := <-r.ask("a", evStop); o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
		if deeds := r.w.deeds(); !strings.HasPrefix(deeds[len(deeds)-2], "save stopped") && !strings.HasPrefix(deeds[len(deeds)-1], "save stopped") {
			t.Errorf("did %q", deeds)
		}
	})
}

// A keeper that is not there yet must not keep anybody from taking a start back.
func TestAStartThatWaitsIsCalledOff(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnWaits = true
		begun := r.begin("new")
		r.do(func() {
			if p, err := r.c.procs.findToEnd("name-new", api.KindSession); err != nil || p.rec.ID != "new" {
				t.Errorf("found to be ended: %v", err)
			}
			if _, err := r.c.procs.find("name-new"); !errors.Is(err, api.CodeNotFound) {
				t.Errorf("found to be used: %v", err)
			}
		})
		stopped, removed := r.ask("new", evStop), r.ask("new", evRemove)
		if o := <-stopped; o.err != nil || o.process.ID != "new" || o.process.State != api.StateStopped {
			t.Errorf("stop of a first start answered %+v", o)
		}
		if o := <-removed; o.err != nil {
			t.Errorf("removal answered %v", o.err)
		}
		if o := <-begun; !errors.Is(o.err, errFake) || len(r.listed()) != 0 || r.w.onDisk("new").ID != "" {
			t.Errorf("start answered %+v, listed %v", o, r.listed())
		}

		r.w.spawnWaits, r.w.spawnErr = false, errFake
		ended := make(chan outcome, 1)
		r.do(func() {
			if err := r.c.start(supervised("short", api.PolicyNo), "", false, api.State.Ended, ended); err != nil {
				t.Error(err)
			}
		})
		if o := <-ended; !errors.Is(o.err, errFake) {
			t.Errorf("who waits for the end of what cannot be started is answered %+v", o)
		}
		r.w.spawnErr = nil
		p := r.launch(supervised("again", api.PolicyNo))
		r.exits(p, 0)
		r.wants("again", api.StateExited)
		r.w.spawnWaits = true
		restarted := r.ask("again", evRestart)
		r.wants("again", api.StateStarting)
		if o := <-r.ask("again", evRemove); !errors.Is(o.err, api.CodeConflict) {
			t.Errorf("removed while it was being started: %+v", o)
		}
		stopped, removed = r.ask("again", evStop), r.ask("again", evRemove)
		if o := <-stopped; o.err != nil || o.process.State != api.StateStopped {
			t.Errorf("stop of a restart answered %+v", o)
		}
		if o := <-restarted; !errors.Is(o.err, errFake) {
			t.Errorf("restart answered %+v", o)
		}
		if o := <-removed; o.err != nil || len(r.listed()) != 0 {
			t.Errorf("removal answered %v, listed %v", o.err, r.listed())
		}
	})
}

func TestRestartInBackoffStartsAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		r.exits(r.launch(supervised("a", api.PolicyAlways)), 1)
		r.wants("a", api.StateBackoff)
		if o := <-r.ask("a", evRestart); o.process.State != api.StateRunning {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour)
		if r.spawns() != 2 {
			t.Errorf("%d starts", r.spawns())
		}
	})
}

func TestAutomaticRestartCountExcludesRequestedRestarts(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyOnFailure))
		r.exits(p, 1)
		time.Sleep(time.Hour) // the policy restarts it, and it keeps running
		r.exits(r.wants("a", api.StateRunning), 1)
		r.wants("a", api.StateRunning) // immediately
		restarted := r.ask("a", evRestart)
		<-restarted
		stopped := r.ask("a", evStop)
		<-stopped
		<-r.ask("a", evRestart)
		if s := r.wants("a", api.StateRunning).Supervision; s.Automatic != 2 || s.Restarts != 4 {
			t.Errorf("%d automatic of %d restarts, want 2 of 4", s.Automatic, s.Restarts)
		}
	})
}

func TestStopDuringARequestedRestartWins(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyNo))
		r.w.endTakes = time.Second
		restarted := r.ask("a", evRestart)
		r.wants("a", api.StateStopping)
		stopped := r.ask("a", evStop)
		r.exits(p, 0)
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
		if o := <-restarted; o.err == nil && o.process.State != api.StateStopped {
			t.Errorf("restart answered %+v", o)
		}
	})
}

func TestRestartDuringAStopWinsAndTellsWhoStops(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyNo))
		r.w.endTakes = time.Second
		stopped := r.ask("a", evStop)
		r.wants("a", api.StateStopping)
		restarted := r.ask("a", evRestart)
		r.exits(p, 0)
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
		p := r.launch(supervised("a", api.PolicyAlways))
		r.w.endTakes = time.Second
		stopped := r.ask("a", evStop)
		removed := r.ask("a", evRemove)
		r.exits(p, 0)
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
		if o := <-removed; o.err != nil || len(r.listed()) != 0 || r.w.onDisk("a").ID != "" {
			t.Errorf("removal answered %v, left %v", o.err, r.listed())
		}
	})
}

func TestFailedRestartIsTriedAgainWithItsReason(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyAlways))
		r.w.mu.Lock()
		r.w.spawnErr = errFake
		r.w.mu.Unlock()
		time.Sleep(healthyRun)
		r.exits(p, 1)
		if back := r.wants("a", api.StateBackoff); back.Error != errFake.Error() {
			t.Errorf("in backoff as %+v", back)
		}
		r.w.mu.Lock()
		r.w.spawnErr = nil
		r.w.mu.Unlock()
		time.Sleep(longestDelay)
		r.wants("a", api.StateRunning)
	})
}

func TestReadinessIsKnownAndItsTimeOutIsAFailure(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := supervised("a", api.PolicyOnFailure)
		rec.Ready = &store.Readiness{Port: 1}
		r.w.probeTakes = time.Second
		p := r.launch(rec)
		if *p.Supervision.Ready {
			t.Error("ready at once")
		}
		time.Sleep(2 * time.Second)
		if !*r.view("a").Supervision.Ready {
			t.Error("not ready after the check")
		}
		r.w.probeErr = errors.New("not ready after 1s: port 1")
		restarted := r.ask("a", evRestart)
		synctest.Wait()
		r.exits(p, 0)
		again := (<-restarted).process
		time.Sleep(2 * time.Second)
		r.exits(again, 0)
		if back := r.wants("a", api.StateBackoff); back.Error != r.w.probeErr.Error() {
			t.Errorf("became %+v", back)
		}
	})
}

func TestLateExitOfTheChildBeforeIsNotThatOfTheNext(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyAlways))
		r.w.spawnTakes = time.Second
		time.Sleep(healthyRun)
		r.exits(p, 1)
		r.exits(p, 1) // told by the keeper's list as well
		time.Sleep(2 * time.Second)
		r.exits(p, 1)
		if now := r.wants("a", api.StateRunning); now.PID == p.PID || r.spawns() != 2 {
			t.Errorf("became %+v after %d starts", now, r.spawns())
		}
	})
}

func TestExitThatWasLookedForLateIsNotThatOfTheNextChild(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.launch(supervised("a", api.PolicyNo))
		r.w.lateTakes = time.Second
		restarted := r.ask("a", evRestart) // its tree is gone before the keeper tells of the exit
		synctest.Wait()
		r.exits(p, 0)
		if o := <-restarted; o.process.State != api.StateRunning {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Minute)
		if now := r.wants("a", api.StateRunning); now.PID == p.PID || r.spawns() != 2 {
			t.Errorf("became %+v after %d starts", now, r.spawns())
		}
	})
}

// What a new engine makes of each state that it can find, with and without a
// child, in the same boot and after another.
func TestEngineRestartInEveryState(t *testing.T) {
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
				rec := supervised("a", c.policy)
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
				r.c.box.Post(func() {
					p := r.c.insert(all[0].Rec, "")
					p.ending = all[0].ending
					p.view = describe(p)
					for _, e := range all[0].events {
						r.c.handle("a", e)
					}
				})
				p := r.wants("a", c.want)
				if r.spawns() != c.spawns {
					t.Errorf("%d starts, want %d", r.spawns(), c.spawns)
				}
				if c.want == api.StateBackoff {
					time.Sleep(longestDelay)
					p = r.wants("a", api.StateRunning)
				}
				if c.want == api.StateRunning && c.spawns == 0 && p.PID != 50 {
					t.Errorf("pid %d", p.PID)
				}
			})
		})
	}
}

// Whatever is asked of a process and whatever happens to it, in whatever order:
// it never has two children, every request is answered, and in the end it is
// what was asked for last.
func TestAnyOrderOfRequestsAndExitsLeavesOneChildOrNone(t *testing.T) {
	for seed := range uint64(200) {
		withRig(t, func(r *rig) {
			random := rand.New(rand.NewPCG(seed, 0))
			r.w.spawnTakes = time.Duration(random.IntN(3)) * 100 * time.Millisecond
			r.w.endTakes = time.Duration(random.IntN(3)) * 150 * time.Millisecond
			policy := []api.Policy{api.PolicyNo, api.PolicyOnFailure, api.PolicyAlways}[random.IntN(3)]
			r.launch(supervised("a", policy))
			var replies []<-chan outcome
			for range 40 {
				switch random.IntN(8) {
				case 0:
					replies = append(replies, r.ask("a", evStop))
				case 1:
					replies = append(replies, r.ask("a", evRestart))
				case 2, 3:
					r.w.killChild(r, "a", random.IntN(2))
				case 4:
					time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
				case 5:
					time.Sleep(time.Duration(random.IntN(40)) * time.Second)
				case 6:
					keep, reply := random.IntN(2) == 0, make(chan outcome, 1)
					r.c.box.Post(func() {
						if err := apply(r.c, r.c.procs["a"], Update{KeepAlive: &keep}, reply); err != nil {
							t.Error(err)
						}
					})
					replies = append(replies, reply)
				case 7:
					r.w.mu.Lock()
					r.w.spawnErr = [...]error{nil, nil, errFake}[random.IntN(3)]
					r.w.mu.Unlock()
				}
				if n := r.w.liveChildren("a"); n > 1 {
					t.Fatalf("seed %d: %d children", seed, n)
				}
			}
			r.w.mu.Lock()
			r.w.spawnErr = nil
			r.w.mu.Unlock()
			time.Sleep(time.Hour)
			final := r.ask("a", evStop)
			time.Sleep(time.Hour)
			for i, reply := range append(replies, final) {
				select {
				case <-reply:
				default:
					t.Errorf("seed %d: request %d was never answered", seed, i)
				}
			}
			if p := r.view("a"); !p.State.Ended() || r.w.liveChildren("a") != 0 {
				t.Errorf("seed %d: %s with %d children", seed, p.State, r.w.liveChildren("a"))
			}
		})
	}
}
