package supervise

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/engine/keeper"
	"tandem/persist/store"
)

func TestStartWritesIntentBeforeItSpawnsAndStateBeforeItAnswers(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		if p.PID == 0 || r.w.onDisk("a").State != string(api.StateRunning) || r.w.onDisk("a").Identity.PID != p.PID {
			t.Errorf("answered %+v with %+v on disk", p, r.w.onDisk("a"))
		}
		r.wantDeeds("save starting running", "spawn", "save running running")
	})
}

func TestStartThatCannotBeWrittenDownStartsNothing(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.saveErr = errFake
		if o := <-r.begin("a"); !errors.Is(o.err, errFake) {
			t.Errorf("answer %v", o.err)
		}
		r.wantDeeds("save starting running", "remove")
	})
}

func TestFailedSpawnIsAnsweredAndLeavesNoRecord(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr = errFake
		if o := <-r.begin("a"); !errors.Is(o.err, errFake) {
			t.Errorf("answer %v", o.err)
		}
		synctest.Wait()
		if all := r.listed(); len(all) != 0 {
			t.Errorf("listed %v", all)
		}
		r.wantDeeds("save starting running", "spawn", "remove")
	})
}

func TestExitThatComesBeforeTheStartIsNotLost(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnTakes = time.Second
		reply := r.begin("a")
		synctest.Wait()
		r.exits(api.Process{ID: "a"}, 7)
		if o := <-reply; o.err != nil {
			t.Fatal(o.err)
		}
		synctest.Wait()
		if !r.w.sessions["a"].ended {
			t.Error("the session was not told that its child has ended")
		}
		r.drained(api.Process{ID: "a"})
		if p := r.view("a"); p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 7 {
			t.Errorf("ended as %+v", p)
		}
	})
}

// Who follows a log asks at its end how the process did.
func TestALogEndsWhenTheEndIsAnnounced(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		r.w.saveTakes = time.Second
		state := func() (announced, ofLog api.State) {
			e, err := Ask(r.Context(), r.c, func() Entry { return r.c.procs["a"].entry() })
			if err != nil {
				r.Fatal(err)
			}
			return e.View.State, e.Source().State()
		}
		r.exits(p, 0)
		r.drained(p)
		synctest.Wait()
		if announced, ofLog := state(); announced != api.StateRunning || ofLog != announced {
			t.Errorf("not saved yet: %s, its log is that of one that has %s", announced, ofLog)
		}
		time.Sleep(time.Minute)
		if announced, ofLog := state(); announced != api.StateExited || ofLog != announced {
			t.Errorf("saved: %s, its log is that of one that is %s", announced, ofLog)
		}
	})
}

func TestExitIsToldOnlyWhenAllOutputWasRead(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		r.exits(p, 0)
		if got := r.view("a").State; got != api.StateRunning {
			t.Errorf("state %s before the output was read", got)
		}
		r.drained(p)
		got := r.view("a")
		if got.State != api.StateExited || got.PID != 0 || got.ExitedAt == nil || got.Terminal.Title != "title" {
			t.Errorf("ended as %+v", got)
		}
		if f := r.w.sessions["a"].finished; f == nil || f.State != api.StateExited {
			t.Errorf("viewers were told %+v", f)
		}
		r.wantDeeds("save starting running", "spawn", "save running running", "save exited running", "forget")
	})
}

func TestExitOfAnEarlierChildOfTheSameIDIsIgnored(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		r.drained(p)
		r.exits(api.Process{ID: "a", PID: p.PID + 1}, 0)
		if got := r.view("a").State; got != api.StateRunning {
			t.Errorf("state is %s", got)
		}
	})
}

func TestStopIsOnDiskBeforeTheFirstSignal(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		reply := r.ask("a", evStop)
		r.wantDeeds("save starting running", "spawn", "save running running",
			"save stopping stopped", fmt.Sprintf("end %d", p.PID))
		r.exits(p, 0)
		r.drained(p)
		if o := <-reply; o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
	})
}

func TestStopWaitsForEverythingThatTheChildStarted(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.endTakes = 3 * time.Second
		p := r.running("a")
		first, second := r.ask("a", evStop), r.ask("a", evStop)
		r.exits(p, 0)
		r.drained(p)
		if got := r.view("a").State; got != api.StateStopping {
			t.Errorf("state %s while something of it lives", got)
		}
		for _, reply := range []<-chan outcome{first, second} {
			if o := <-reply; o.err != nil || o.process.State != api.StateStopped {
				t.Errorf("answered %+v", o)
			}
		}
	})
}

func TestStopDuringStartEndsTheChildOnceItIsThere(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnTakes = time.Second
		started := r.begin("a")
		synctest.Wait()
		stopped := r.ask("a", evStop)
		if o := <-started; o.process.State != api.StateStopping {
			t.Errorf("start answered %+v", o)
		}
		r.drained(api.Process{ID: "a"})
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
	})
}

func TestStatusThatNobodySawIsUnknownAndNotZero(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		reply := r.ask("a", evStop)
		r.drained(p)
		if o := <-reply; !o.process.ExitUnknown || o.process.ExitCode != nil {
			t.Errorf("answered %+v", o)
		}
	})
}

func TestStopThatFailsSaysWhoStaysAndCanBeTriedAgain(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.endErr = errors.New("still there: cat (7)")
		p := r.running("a")
		if o := <-r.ask("a", evStop); o.err == nil || !strings.Contains(o.err.Error(), "cat (7)") {
			t.Errorf("answered %v", o.err)
		}
		r.w.mu.Lock()
		r.w.endErr = nil
		r.w.mu.Unlock()
		r.exits(p, 1)
		r.drained(p)
		if o := <-r.ask("a", evStop); o.err != nil && !errors.Is(o.err, api.CodeEnded) {
			t.Errorf("answered %+v", o)
		}
		if got := r.view("a").State; got != api.StateStopped {
			t.Errorf("state is %s", got)
		}
	})
}

func TestStopIsRetriedAfterAFailedCall(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.endErr = syscall.EMFILE
		p := r.running("a")
		stopped, removed := r.ask("a", evStop), r.ask("a", evRemove)
		synctest.Wait()
		if got := r.view("a").State; got != api.StateStopping {
			t.Errorf("state is %s", got)
		}
		r.w.mu.Lock()
		r.w.endErr = nil
		r.w.mu.Unlock()
		time.Sleep(quietStop)
		r.exits(p, 1)
		r.drained(p)
		if o := <-stopped; o.err != nil || o.process.State != api.StateStopped {
			t.Errorf("the stop returned %+v", o)
		}
		if o := <-removed; o.err != nil {
			t.Errorf("the removal returned %+v", o)
		}
	})
}

func TestRepeatedlyFailingStopIsReportedAndRetried(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.endErr = syscall.EMFILE
		p := r.running("a")
		if o := <-r.ask("a", evStop); !errors.Is(o.err, syscall.EMFILE) {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour) // without another request
		r.w.mu.Lock()
		r.w.endErr = nil
		r.w.mu.Unlock()
		time.Sleep(maxStopDelay)
		r.exits(p, 1)
		r.drained(p)
		r.wants("a", api.StateStopped)
	})
}

func TestEndedProcessRefusesStopAndCanBeRemoved(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		if o := <-r.ask("a", evRemove); !errors.Is(o.err, api.CodeConflict) {
			t.Errorf("removal of a running one: %v", o.err)
		}
		r.exits(p, 0)
		r.drained(p)
		synctest.Wait()
		if o := <-r.ask("a", evStop); !errors.Is(o.err, api.CodeEnded) {
			t.Errorf("stop: %v", o.err)
		}
		if o := <-r.ask("a", evRemove); o.err != nil {
			t.Errorf("removal: %v", o.err)
		}
		if len(r.listed()) != 0 || r.w.onDisk("a").ID != "" || !r.w.sessions["a"].closed {
			t.Error("something of it is left")
		}
	})
}

func TestNothingIsSavedFromObservationWhileTheEngineEnds(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		r.stop()
		r.exits(p, 0)
		r.drained(p)
		synctest.Wait()
		if got := r.w.onDisk("a").State; got != string(api.StateRunning) {
			t.Errorf("state %s on disk", got)
		}
	})
}

func TestSessionOfAnEndedProcessIsClosedWhenNobodyUsesIt(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		r.exits(p, 0)
		r.drained(p)
		r.view("a")
		time.Sleep(endedIdle + time.Second)
		if p := r.view("a"); !r.w.sessions["a"].closed || p.Terminal.Title != "title" {
			t.Errorf("closed %v, told %+v", r.w.sessions["a"].closed, p.Terminal)
		}
	})
}

func TestOnlyAFewScreensOfEndedProcessesStayInMemory(t *testing.T) {
	defer invariants.Never("few screens of ended sessions")()
	withRig(t, func(r *rig) {
		for i := range 3 * endedScreens {
			p := r.running(fmt.Sprintf("p%03d", i))
			if i == 0 {
				r.w.sessions[p.ID].viewers = 1
			}
			r.exits(p, 0)
			r.drained(p)
			synctest.Wait() // so that they end in this order
		}
		var open []string
		for id, s := range r.w.sessions {
			if !s.closed {
				open = append(open, id)
			}
		}
		slices.Sort(open)
		if len(open) != endedScreens+1 || open[0] != "p000" || open[1] != fmt.Sprintf("p%03d", 2*endedScreens) {
			t.Errorf("%d are open: %v", len(open), open)
		}
	})
}

func TestRecordsHoldAnEnvironmentThatTheyShareOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		const environments, records = 4, 40
		held, err := Ask(r.Context(), r.c, func() map[uintptr]bool {
			held := make(map[uintptr]bool)
			for i := range records {
				env := map[string]string{"A": "1", "B": strconv.Itoa(i % environments)}
				p := r.c.insert(store.Record{ID: fmt.Sprintf("p%03d", i), Command: store.Command{Environ: env}}, "")
				if !maps.Equal(p.rec.Environ, env) {
					t.Errorf("%v instead of %v", p.rec.Environ, env)
				}
				held[reflect.ValueOf(p.rec.Environ).Pointer()] = true
			}
			clear(r.c.procs)
			return held
		})
		if err != nil || len(held) != environments {
			t.Errorf("%d environments are held, %v", len(held), err)
		}
	})
}

func TestOnlyTheNewestEndedRecordsAreKept(t *testing.T) {
	withRig(t, func(r *rig) {
		for i := range endedKept + endedSpare + 4 {
			p := r.running(fmt.Sprintf("p%03d", i))
			r.exits(p, 0)
			r.drained(p)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		all := r.listed()
		if oldest := fmt.Sprintf("p%03d", endedSpare+1); len(all) != endedKept+3 || all[0].ID != oldest {
			t.Errorf("%d are left, the oldest is %s", len(all), all[0].ID)
		}
	})
}

func TestWatcherSeesASnapshotAndThenEveryChange(t *testing.T) {
	withRig(t, func(r *rig) {
		r.running("a")
		s, _ := Ask(r.Context(), r.c, func() *subscriber {
			return r.c.hub.subscribe(false, api.Event{Type: api.EventSnapshot, Processes: r.c.procs.listed()})
		})
		r.running("b")
		if e := <-s.events; len(e.Processes) != 1 || e.Processes[0].ID != "a" {
			t.Errorf("snapshot %+v", e)
		}
		if e := <-s.events; e.Type != api.EventProcess || e.Process.ID != "b" {
			t.Errorf("event %+v", e)
		}
	})
}

func TestWatcherThatFallsBehindIsCut(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := Ask(r.Context(), r.c, func() *subscriber { return r.c.hub.subscribe(false, api.Event{}) })
		for range outboxSize {
			r.c.box.Post(func() { r.c.notice("news") })
		}
		synctest.Wait()
		n := 0
		for range s.events {
			n++
		}
		if n != outboxSize {
			t.Errorf("%d events before the cut", n)
		}
	})
}

// Every cell of the table is a decision: what is not in it must be known to be
// impossible.
func TestEveryStateHasADecisionForEveryEvent(t *testing.T) {
	ended := "intent saved, spawned, spawn failed, found, lost, missing"
	impossible := map[api.State]string{
		api.StateWaiting:  "booted, spawned, spawn failed, found, lost",
		api.StateStarting: "booted, gone, stuck",
		api.StateRunning:  "booted, intent saved, spawned, spawn failed, gone, stuck",
		api.StateStopping: "booted, intent saved, spawned, spawn failed",
		api.StateBackoff:  "booted, intent saved, spawned, spawn failed",
		api.StateStopped:  ended,
		api.StateExited:   ended,
		api.StateFailed:   ended,
	}
	events := []eventKind{evSpawned, evSpawnFailed, evFound, evLost, evMissing, evBooted, evExited, evDrained,
		evReady, evUnready, evDue, evGone, evStuck, evStop, evRestart, evRemove}
	table := newTable()
	for state, not := range impossible {
		for _, e := range events {
			if has, want := table[state][e] != nil, !slices.Contains(strings.Split(not, ", "), string(e)); has != want {
				t.Errorf("%s, %s: in the table %v, want %v", state, e, has, want)
			}
		}
	}
	if len(table) != len(impossible) {
		t.Errorf("the table has %d states", len(table))
	}
}

func TestEngineStartFeedsTheEventsThatItMissed(t *testing.T) {
	code := 7
	who := store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	child := keeper.Child{ID: "a", PID: 50, StartTime: 7, BootID: "boot"}
	dead := child
	dead.Exit = &keeper.Exit{Code: &code}
	cases := map[string]struct {
		state, desired string
		identity       *store.Identity
		events         []event
		want           api.State
		unknown        bool
	}{
		"runs on":                     {"running", "running", &who, []event{{kind: evFound, Started: Started{Child: child}}}, api.StateRunning, false},
		"was being started, is there": {"starting", "running", nil, []event{{kind: evFound, Started: Started{Child: child}}}, api.StateRunning, false},
		"was being started, is not":   {"starting", "running", nil, []event{{kind: evMissing}}, api.StateFailed, false},
		"was being stopped":           {"stopping", "stopped", &who, []event{{kind: evFound, Started: Started{Child: child}}, {kind: evExited, Started: Started{Child: dead}, ending: Ending{Exit: *dead.Exit}}}, api.StateStopped, false},
		"ended meanwhile":             {"running", "running", &who, []event{{kind: evFound, Started: Started{Child: child}}, {kind: evExited, Started: Started{Child: dead}, ending: Ending{Exit: *dead.Exit}}}, api.StateExited, false},
		"is gone":                     {"running", "running", &who, []event{{kind: evMissing, ending: Ending{Exit: keeper.Exit{Unknown: true}}}}, api.StateExited, true},
		"lost its terminal":           {"running", "running", &who, []event{{kind: evLost}}, api.StateExited, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				rec := NewRecord("a", api.KindProcess)
				rec.State, rec.Desired, rec.Identity = test.state, test.desired, test.identity
				r.c.box.Post(func() {
					r.c.insert(rec, "")
					for _, e := range test.events {
						r.c.handle("a", e)
					}
				})
				p := r.view("a")
				if p.State != test.want || p.ExitUnknown != test.unknown {
					t.Errorf("became %+v", p)
				}
				if test.want == api.StateRunning && p.PID != 50 {
					t.Errorf("pid %d", p.PID)
				}
			})
		})
	}
}
