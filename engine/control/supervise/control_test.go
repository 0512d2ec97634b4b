package supervise

import (
	"context"
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
	"tandem/engine/base/invariants"
	"tandem/engine/control/events"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

func TestStartSavesBeforeSpawningAndBeforeAnswering(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		if p.PID == 0 || r.w.savedRecord("a").State != string(api.StateRunning) || r.w.savedRecord("a").Identity.PID != p.PID {
			t.Errorf("answered %+v with %+v on disk", p, r.w.savedRecord("a"))
		}
		r.wantCalls("save starting running", "spawn", "save running running")
	})
}

func TestStartSpawnsNothingIfTheRecordCannotBeSaved(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.saveErr = errFake
		if o := <-r.startSession("a"); !errors.Is(o.err, errFake) {
			t.Errorf("answer %v", o.err)
		}
		r.wantCalls("save starting running", "remove")
	})
}

func TestFailedSpawnReturnsErrorAndLeavesNoRecord(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnErr = errFake
		if o := <-r.startSession("a"); !errors.Is(o.err, errFake) {
			t.Errorf("answer %v", o.err)
		}
		synctest.Wait()
		if all := r.listProcesses(); len(all) != 0 {
			t.Errorf("listed %v", all)
		}
		r.wantCalls("save starting running", "spawn", "remove")
	})
}

func TestExitReportedBeforeTheStartIsKept(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnDelay = time.Second
		reply := r.startSession("a")
		synctest.Wait()
		r.reportExit(api.Process{ID: "a"}, 7)
		if o := <-reply; o.err != nil {
			t.Fatal(o.err)
		}
		synctest.Wait()
		if !r.w.sessions["a"].ended {
			t.Error("the session was not notified of its child's exit")
		}
		r.reportDrained(api.Process{ID: "a"})
		if p := r.view("a"); p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 7 {
			t.Errorf("ended as %+v", p)
		}
	})
}

// The follower of a log asks for the exit status when the log ends.
func TestLogEndsWhenTheExitIsAnnounced(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		r.w.saveDelay = time.Second
		state := func() (announced, ofLog api.State) {
			e, err := Ask(r.Context(), r.c, func() Entry { return r.c.reg.procs["a"].makeEntry() })
			if err != nil {
				r.Fatal(err)
			}
			return e.View.State, e.Source().State()
		}
		r.reportExit(p, 0)
		r.reportDrained(p)
		synctest.Wait()
		if announced, ofLog := state(); announced != api.StateRunning || ofLog != announced {
			t.Errorf("before the save: announced %s, state of the log %s", announced, ofLog)
		}
		time.Sleep(time.Minute)
		if announced, ofLog := state(); announced != api.StateExited || ofLog != announced {
			t.Errorf("after the save: announced %s, state of the log %s", announced, ofLog)
		}
	})
}

func TestExitIsAnnouncedAfterAllOutputIsRead(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		r.reportExit(p, 0)
		if got := r.view("a").State; got != api.StateRunning {
			t.Errorf("state %s before the output was read", got)
		}
		r.reportDrained(p)
		got := r.view("a")
		if got.State != api.StateExited || got.PID != 0 || got.ExitedAt == nil || got.Terminal.Title != "title" {
			t.Errorf("ended as %+v", got)
		}
		if f := r.w.sessions["a"].finished; f == nil || f.State != api.StateExited {
			t.Errorf("viewers received %+v", f)
		}
		r.wantCalls("save starting running", "spawn", "save running running", "save exited running", "forget")
	})
}

func TestExitOfAnEarlierChildWithTheSameIDIsIgnored(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		r.reportDrained(p)
		r.reportExit(api.Process{ID: "a", PID: p.PID + 1}, 0)
		if got := r.view("a").State; got != api.StateRunning {
			t.Errorf("state is %s", got)
		}
	})
}

func TestStopIsSavedBeforeTheFirstSignal(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		reply := r.postEvent("a", evStop)
		r.wantCalls("save starting running", "spawn", "save running running",
			"save stopping stopped", fmt.Sprintf("end %d", p.PID))
		r.reportExit(p, 0)
		r.reportDrained(p)
		if o := <-reply; o.process.State != api.StateStopped {
			t.Errorf("answered %+v", o)
		}
	})
}

func TestStopWaitsForTheChildsDescendants(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.stopDelay = 3 * time.Second
		p := r.startRunning("a")
		first, second := r.postEvent("a", evStop), r.postEvent("a", evStop)
		r.reportExit(p, 0)
		r.reportDrained(p)
		if got := r.view("a").State; got != api.StateStopping {
			t.Errorf("state is %s while a descendant is running", got)
		}
		for _, reply := range []<-chan outcome{first, second} {
			if o := <-reply; o.err != nil || o.process.State != api.StateStopped {
				t.Errorf("answered %+v", o)
			}
		}
	})
}

func TestStopDuringStartStopsTheNewChild(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.spawnDelay = time.Second
		started := r.startSession("a")
		synctest.Wait()
		stopped := r.postEvent("a", evStop)
		if o := <-started; o.process.State != api.StateStopping {
			t.Errorf("start answered %+v", o)
		}
		r.reportDrained(api.Process{ID: "a"})
		if o := <-stopped; o.process.State != api.StateStopped {
			t.Errorf("stop answered %+v", o)
		}
	})
}

func TestUnobservedExitStatusIsUnknownNotZero(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		reply := r.postEvent("a", evStop)
		r.reportDrained(p)
		if o := <-reply; !o.process.ExitUnknown || o.process.ExitCode != nil {
			t.Errorf("answered %+v", o)
		}
	})
}

func TestFailedStopNamesSurvivorsAndCanBeRepeated(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.stopErr = errors.New("still there: cat (7)")
		p := r.startRunning("a")
		if o := <-r.postEvent("a", evStop); o.err == nil || !strings.Contains(o.err.Error(), "cat (7)") {
			t.Errorf("answered %v", o.err)
		}
		r.w.mu.Lock()
		r.w.stopErr = nil
		r.w.mu.Unlock()
		r.reportExit(p, 1)
		r.reportDrained(p)
		if o := <-r.postEvent("a", evStop); o.err != nil && !errors.Is(o.err, api.CodeEnded) {
			t.Errorf("answered %+v", o)
		}
		if got := r.view("a").State; got != api.StateStopped {
			t.Errorf("state is %s", got)
		}
	})
}

func TestStopIsRetriedAfterAFailedCall(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.stopErr = syscall.EMFILE
		p := r.startRunning("a")
		stopped, removed := r.postEvent("a", evStop), r.postEvent("a", evRemove)
		synctest.Wait()
		if got := r.view("a").State; got != api.StateStopping {
			t.Errorf("state is %s", got)
		}
		r.w.mu.Lock()
		r.w.stopErr = nil
		r.w.mu.Unlock()
		time.Sleep(stopReportDelay)
		r.reportExit(p, 1)
		r.reportDrained(p)
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
		r.w.stopErr = syscall.EMFILE
		p := r.startRunning("a")
		if o := <-r.postEvent("a", evStop); !errors.Is(o.err, syscall.EMFILE) {
			t.Errorf("answered %+v", o)
		}
		time.Sleep(time.Hour) // without another request
		r.w.mu.Lock()
		r.w.stopErr = nil
		r.w.mu.Unlock()
		time.Sleep(maxStopDelay)
		r.reportExit(p, 1)
		r.reportDrained(p)
		r.wantState("a", api.StateStopped)
	})
}

func TestEndedProcessRejectsStopAndCanBeRemoved(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		if o := <-r.postEvent("a", evRemove); !errors.Is(o.err, api.CodeConflict) {
			t.Errorf("removal of a running process: %v", o.err)
		}
		r.reportExit(p, 0)
		r.reportDrained(p)
		synctest.Wait()
		if o := <-r.postEvent("a", evStop); !errors.Is(o.err, api.CodeEnded) {
			t.Errorf("stop: %v", o.err)
		}
		if o := <-r.postEvent("a", evRemove); o.err != nil {
			t.Errorf("removal: %v", o.err)
		}
		if len(r.listProcesses()) != 0 || r.w.savedRecord("a").ID != "" || !r.w.sessions["a"].closed {
			t.Error("something is left of it")
		}
	})
}

func TestEventsAreIgnoredWhileTheEngineExits(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		r.stop()
		r.reportExit(p, 0)
		r.reportDrained(p)
		synctest.Wait()
		if got := r.w.savedRecord("a").State; got != string(api.StateRunning) {
			t.Errorf("state %s on disk", got)
		}
	})
}

func TestUnusedSessionOfAnEndedProcessIsClosed(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		r.reportExit(p, 0)
		r.reportDrained(p)
		r.view("a")
		time.Sleep(endedScreenTTL + time.Second)
		if p := r.view("a"); !r.w.sessions["a"].closed || p.Terminal.Title != "title" {
			t.Errorf("closed %v, view %+v", r.w.sessions["a"].closed, p.Terminal)
		}
	})
}

func TestScreensOfEndedProcessesAreLimited(t *testing.T) {
	defer invariants.Never("few screens of ended sessions")()
	withRig(t, func(r *rig) {
		for i := range 3 * maxEndedScreens {
			p := r.startRunning(fmt.Sprintf("p%03d", i))
			if i == 0 {
				r.w.sessions[p.ID].viewers = 1
			}
			r.reportExit(p, 0)
			r.reportDrained(p)
			synctest.Wait() // fixes the order of exits
		}
		var open []string
		for id, s := range r.w.sessions {
			if !s.closed {
				open = append(open, id)
			}
		}
		slices.Sort(open)
		if len(open) != maxEndedScreens+1 || open[0] != "p000" || open[1] != fmt.Sprintf("p%03d", 2*maxEndedScreens) {
			t.Errorf("%d are open: %v", len(open), open)
		}
	})
}

func TestRecordsShareEqualEnvironments(t *testing.T) {
	withRig(t, func(r *rig) {
		const environments, records = 4, 40
		held, err := Ask(r.Context(), r.c, func() map[uintptr]bool {
			held := make(map[uintptr]bool)
			for i := range records {
				env := map[string]string{"A": "1", "B": strconv.Itoa(i % environments)}
				p := r.c.reg.insert(store.Record{ID: fmt.Sprintf("p%03d", i), Command: store.Command{Environ: env}}, "")
				if !maps.Equal(p.rec.Environ, env) {
					t.Errorf("%v instead of %v", p.rec.Environ, env)
				}
				held[reflect.ValueOf(p.rec.Environ).Pointer()] = true
			}
			clear(r.c.reg.procs)
			return held
		})
		if err != nil || len(held) != environments {
			t.Errorf("%d environments are held, %v", len(held), err)
		}
	})
}

func TestOldestEndedRecordsAreRemoved(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.remains = map[string]bool{"p003": true}
		for i := range maxEnded + endedSlack + 4 {
			p := r.startRunning(fmt.Sprintf("p%03d", i))
			r.reportExit(p, 0)
			r.reportDrained(p)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		all := r.listProcesses()
		// What p003 left running still runs.
		if oldest := fmt.Sprintf("p%03d", endedSlack+1); len(all) != maxEnded+4 || all[0].ID != "p003" || all[1].ID != oldest {
			t.Errorf("%d are left, the oldest are %s and %s", len(all), all[0].ID, all[1].ID)
		}
		if len(r.w.kept) != endedSlack || r.w.kept[0] != "p000" || slices.Contains(r.w.kept, "p003") || len(r.w.dropped) != 0 {
			t.Errorf("kept output of %v, dropped that of %v", r.w.kept, r.w.dropped)
		}
	})
}

func TestOutputIsDroppedIfItsRecordStays(t *testing.T) {
	withRig(t, func(r *rig) {
		r.w.onKeep = func() {
			if _, err := r.c.RemoveProcess(context.Background(), Request{ID: "p000"}); err != nil {
				t.Error(err)
			}
		}
		for i := range maxEnded + endedSlack + 1 {
			p := r.startRunning(fmt.Sprintf("p%03d", i))
			r.reportExit(p, 0)
			r.reportDrained(p)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if all := r.listProcesses(); len(all) != maxEnded || len(r.w.kept) != endedSlack+1 || !slices.Equal(r.w.dropped, []string{"p000"}) {
			t.Errorf("%d are left, %d kept, dropped %v", len(all), len(r.w.kept), r.w.dropped)
		}
	})
}

func TestSessionsInterruptedLastAreNotRemoved(t *testing.T) {
	withRig(t, func(r *rig) {
		const interrupted = 2 * maxEnded
		r.w.remains = map[string]bool{"p401": true} // something of it still runs
		for i := range interrupted + maxEnded + endedSlack + 1 {
			rec := NewRecord(fmt.Sprintf("p%03d", i), api.KindSession)
			rec.Argv, rec.TTY, rec.State, rec.CreatedAt = []string{"sh"}, true, string(api.StateExited), time.Unix(int64(i), 0)
			if i < interrupted+3 { // three by a reboot before the last
				rec.Interrupted = &store.Interruption{By: api.ByReboot, At: time.Unix(int64(1000-i/interrupted), 0)}
			}
			r.c.reg.box.Post(func() { r.c.Restore(Found{Rec: rec}, "") })
		}
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber { return r.c.reg.hub.Subscribe(false, api.Event{}) })
		r.c.reg.box.Post(func() { (&trimming{reg: r.c.reg}).trimEnded() })
		synctest.Wait()
		all := r.listProcesses()
		if len(all) != interrupted+maxEnded+1 || all[0].ID != "p000" || all[interrupted-1].ID != "p399" || all[interrupted].ID != "p401" || all[interrupted+1].ID != "p421" {
			t.Errorf("%d are left: %s, …, %s, %s, %s, …", len(all), all[0].ID, all[interrupted-1].ID, all[interrupted].ID, all[interrupted+1].ID)
		}
		for e := range s.Events {
			if e.Type == api.EventNotice {
				if !strings.HasPrefix(e.Notice, "2 sessions left by an earlier crash or reboot were removed") {
					t.Errorf("the user is told %q", e.Notice)
				}
				break
			}
		}
	})
}

func TestNoticeNamesProcessAsItIsCalledNow(t *testing.T) {
	withRig(t, func(r *rig) {
		rec := processRecord("a", api.PolicyNo)
		r.startRecord(rec)
		renamed := "renamed"
		if _, err := r.c.UpdateProcess(r.Context(), Request{ID: "a"}, Update{Name: &renamed}); err != nil {
			t.Fatal(err)
		}
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber { return r.c.reg.hub.Subscribe(false, api.Event{}) })
		r.c.PublishNoticeOf(rec, "the disk is full")
		for e := range s.Events {
			if e.Type == api.EventNotice {
				if e.Notice != "renamed: the disk is full" {
					t.Errorf("the user is told %q", e.Notice)
				}
				break
			}
		}
	})
}

func TestWatcherReceivesSnapshotThenEveryChange(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startRunning("a")
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber {
			return r.c.reg.hub.Subscribe(false, api.Event{Type: api.EventSnapshot, Processes: r.c.reg.procs.listViews()})
		})
		r.startRunning("b")
		if e := <-s.Events; len(e.Processes) != 1 || e.Processes[0].ID != "a" {
			t.Errorf("snapshot %+v", e)
		}
		if e := <-s.Events; e.Type != api.EventProcess || e.Process.ID != "b" {
			t.Errorf("event %+v", e)
		}
	})
}

func TestSlowWatcherIsDisconnected(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber { return r.c.reg.hub.Subscribe(false, api.Event{}) })
		for range events.MaxQueued {
			r.c.reg.box.Post(func() { r.c.reg.publishNotice("news") })
		}
		synctest.Wait()
		n := 0
		for range s.Events {
			n++
		}
		if n != events.MaxQueued {
			t.Errorf("%d events before the cut", n)
		}
	})
}

// Every cell of the table is a decision: a missing one means that the event is impossible.
func TestTableHasAnActionForEveryPossibleEvent(t *testing.T) {
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
	table := newTable(new(starting), new(stopping), new(waiting))
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

func TestEngineStartHandlesEventsSinceTheLastSave(t *testing.T) {
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
		"still running":           {"running", "running", &who, []event{{kind: evFound, Launch: Launch{Child: child}}}, api.StateRunning, false},
		"starting, child found":   {"starting", "running", nil, []event{{kind: evFound, Launch: Launch{Child: child}}}, api.StateRunning, false},
		"starting, child missing": {"starting", "running", nil, []event{{kind: evMissing}}, api.StateFailed, false},
		"stopping, child exited":  {"stopping", "stopped", &who, []event{{kind: evFound, Launch: Launch{Child: child}}, {kind: evExited, Launch: Launch{Child: dead}, ending: Ending{Exit: *dead.Exit}}}, api.StateStopped, false},
		"running, child exited":   {"running", "running", &who, []event{{kind: evFound, Launch: Launch{Child: child}}, {kind: evExited, Launch: Launch{Child: dead}, ending: Ending{Exit: *dead.Exit}}}, api.StateExited, false},
		"running, child missing":  {"running", "running", &who, []event{{kind: evMissing, ending: Ending{Exit: keeper.Exit{Unknown: true}}}}, api.StateExited, true},
		"terminal lost":           {"running", "running", &who, []event{{kind: evLost}}, api.StateExited, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				rec := NewRecord("a", api.KindProcess)
				rec.State, rec.Desired, rec.Identity = test.state, test.desired, test.identity
				r.c.reg.box.Post(func() {
					r.c.reg.insert(rec, "")
					for _, e := range test.events {
						r.c.reg.handle("a", e)
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
