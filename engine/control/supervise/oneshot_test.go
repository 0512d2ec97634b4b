package supervise

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/events"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

func TestRunningOneShotCommandIsSavedOnlyIfItLasts(t *testing.T) {
	withRig(t, func(r *rig) {
		reply := r.startCommand("short", api.State.Ended)
		synctest.Wait()
		r.w.killChild(r, "short", 3)
		if p := (<-reply).process; p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("the short one: %+v", p)
		}
		synctest.Wait()
		r.wantCalls("save starting running", "spawn", "save exited running", "forget")
		reply = r.startCommand("long", api.State.Ended)
		time.Sleep(oneShotGrace)
		if p := r.view("long"); p.State != api.StateRunning {
			t.Errorf("the long one: %+v", p)
		}
		r.wantCalls("save starting running", "spawn", "save exited running", "forget", "save starting running", "spawn", "save running running")
		r.w.killChild(r, "long", 0)
		<-reply
	})
}

func TestUnconfinedProcessIsMarkedOnceUnlessOneShot(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startRunning("a")
		reply := r.startCommand("b", api.State.Ended)
		confined := processRecord("c", api.PolicyNo)
		confined.Sandboxed = true
		r.startRecord(confined)
		time.Sleep(oneShotGrace)
		synctest.Wait()
		r.w.mu.Lock()
		if !slices.Equal(r.w.noted, []string{"a"}) {
			t.Errorf("noted %q", r.w.noted)
		}
		r.w.mu.Unlock()
		r.w.killChild(r, "b", 0)
		<-reply
	})
}

func TestAwaitedOneShotCommandIsAnnouncedAtOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		began := time.Now()
		if o := <-r.startCommand("a", HasStarted); o.process.State != api.StateRunning || time.Since(began) > 0 {
			t.Errorf("%+v after %v", o, time.Since(began))
		}
	})
}

func TestExitOfOneShotCommandIsAnnouncedOnce(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber { return r.c.reg.hub.Subscribe(false, api.Event{Type: api.EventSnapshot}) })
		<-s.Events
		reply := r.startCommand("a", api.State.Ended)
		synctest.Wait()
		r.w.killChild(r, "a", 0)
		<-reply
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(s.Events); n != 1 {
			t.Errorf("%d events", n)
		}
	})
}

func TestLastingWatchOmitsOneShotCommands(t *testing.T) {
	withRig(t, func(r *rig) {
		s, _ := Ask(r.Context(), r.c, func() *events.Subscriber { return r.c.reg.hub.Subscribe(true, api.Event{Type: api.EventSnapshot}) })
		<-s.Events
		reply := r.startCommand("a", api.State.Ended)
		time.Sleep(2 * oneShotGrace)
		r.w.killChild(r, "a", 0)
		<-reply
		r.c.reg.post("a", event{kind: evRemove})
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(s.Events); n != 0 {
			t.Errorf("%d events: %+v", n, <-s.Events)
		}
		if all, _ := Ask(r.Context(), r.c, func() []api.Process { return r.c.reg.procs.listViewsFor(true) }); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

func TestEngineFindsTheExitOfAnUnsavedCommand(t *testing.T) {
	child := keeper.Child{ID: "a", PID: 7, StartTime: 8, BootID: "boot"}
	code := 3
	s := Survey{
		BootID:  "boot",
		Records: []store.Record{{ID: "a", Transient: true, State: string(api.StateStarting), Desired: desiredRunning}},
		Exit: func(string) (store.Exit, bool) {
			return store.Exit{Identity: IdentityOf(child), Code: &code, ExitedAt: time.Now()}, true
		},
		Alive:  func(store.Identity) bool { return false },
		Orphan: func(store.Record) (store.Identity, bool) { return store.Identity{}, false },
	}
	all, _ := s.Plan()
	if len(all) != 1 || len(all[0].events) != 1 || all[0].events[0].kind != evMissing {
		t.Fatalf("plan: %+v", all)
	}
	end := all[0].events[0].ending
	if end.Exit.Code == nil || *end.Exit.Code != 3 || all[0].Rec.Identity == nil {
		t.Errorf("ending: %+v of %+v", end, all[0].Rec)
	}
}

// startCommand starts a one-shot command and returns the channel of its answer.
func (r *rig) startCommand(id string, until func(api.State) bool) <-chan outcome {
	r.Helper()
	rec := NewRecord(id, api.KindProcess)
	rec.Name, rec.Argv, rec.Transient = "name-"+id, []string{"true"}, true
	reply := make(chan outcome, 1)
	refused, err := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "", false, until, reply) })
	if err != nil || refused != nil {
		r.Fatal(err, refused)
	}
	return reply
}
