package supervise

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// owned starts a process that belongs to a client.
func (r *rig) owned(id, owner string, lease api.Lease) {
	r.Helper()
	r.running(id)
	r.do(func() {
		r.c.procs[id].rec.Owner, r.c.procs[id].rec.Lease = owner, string(lease)
		r.c.save(r.c.procs[id])
	})
	synctest.Wait()
}

// do runs f on the control goroutine.
func (r *rig) do(f func()) {
	r.Helper()
	if _, err := Ask(r.Context(), r.c, func() struct{} { f(); return struct{}{} }); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) leave(owner string) {
	r.do(func() { r.c.leases.arrive(owner) })
	r.do(func() { r.c.leases.depart(owner) })
}

func TestWhatAVanishedAgentLeftBehindGoesOnAndSaysSo(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseDetached)
		r.leave("agent1")
		if p := r.view("a"); p.Owner.Left {
			t.Error("it counts as left behind at once")
		}
		time.Sleep(leaveGrace)
		p := r.view("a")
		if !p.Owner.Left || p.Owner.Since == nil || p.State != api.StateRunning {
			t.Errorf("after the grace: %+v %s", p.Owner, p.State)
		}
		if r.w.onDisk("a").LeftAt.IsZero() {
			t.Error("that is not on disk")
		}
		r.do(func() { r.c.leases.arrive("agent1") })
		if p := r.view("a"); p.Owner.Left || !r.w.onDisk("a").LeftAt.IsZero() {
			t.Errorf("after its return: %+v", p.Owner)
		}
	})
}

func TestALeaseForTheSessionEndsWithIt(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseSession)
		r.owned("b", "agent2", api.LeaseSession)
		r.leave("agent1")
		time.Sleep(leaveGrace)
		if p := r.view("a"); p.State != api.StateStopped && p.State != api.StateStopping {
			t.Errorf("state %s", p.State)
		}
		if p := r.view("b"); p.State != api.StateRunning {
			t.Errorf("another client's: %s", p.State)
		}
	})
}

func TestRestartByTheReturnedAgentIsNotLeftBehind(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseSession)
		r.leave("agent1")
		time.Sleep(leaveGrace)
		r.exits(r.view("a"), 0)
		r.drained(r.view("a"))
		if p := r.view("a"); !p.State.Ended() {
			t.Fatalf("after the grace it is %s", p.State)
		}
		r.do(func() { r.c.leases.arrive("agent1") })
		<-r.ask("a", evRestart)
		if p := r.view("a"); p.State != api.StateRunning || p.Owner.Left || !r.w.onDisk("a").LeftAt.IsZero() {
			t.Errorf("it is %s, and left behind: %v; the next engine would end it", p.State, p.Owner.Left)
		}
	})
}

// A lease and a rule for what was left behind are about what is the agent's
// alone.
func TestWhatAPersonHasTakenIsNotEndedForItsAgent(t *testing.T) {
	withRig(t, func(r *rig) {
		r.c.leases.reap = time.Minute
		r.owned("a", "agent1", api.LeaseSession)
		r.owned("b", "agent1", api.LeaseDetached)
		r.do(func() { r.c.procs["a"].rec.Keyboard, r.c.procs["b"].rec.Keyboard = "dashboard", "dashboard" })
		r.leave("agent1")
		time.Sleep(time.Hour)
		r.do(func() { r.c.EndIdle(time.Now()) })
		for _, id := range []string{"a", "b"} {
			if p := r.view(id); p.State != api.StateRunning || !p.Owner.Left {
				t.Errorf("%s is %s, left %v", id, p.State, p.Owner.Left)
			}
		}
	})
}

func TestAClientThatComesBackInTimeLosesNothing(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseSession)
		r.leave("agent1")
		time.Sleep(leaveGrace / 2)
		r.do(func() { r.c.leases.arrive("agent1") })
		time.Sleep(time.Hour)
		if p := r.view("a"); p.State != api.StateRunning || p.Owner.Left {
			t.Errorf("state %s, %+v", p.State, p.Owner)
		}
	})
}

func TestWhatWasLeftBehindIsEndedOnlyByThePersonsRule(t *testing.T) {
	withRig(t, func(r *rig) {
		r.do(func() { r.c.leases.reap = time.Hour })
		r.owned("kept", "agent1", api.LeaseForever)
		r.owned("reaped", "agent1", api.LeaseDetached)
		r.leave("agent1")
		time.Sleep(leaveGrace + time.Hour - time.Second)
		if p := r.view("reaped"); p.State != api.StateRunning {
			t.Errorf("before its time: %s", p.State)
		}
		time.Sleep(2 * time.Second)
		if p := r.view("reaped"); p.State == api.StateRunning {
			t.Error("it goes on")
		}
		if p := r.view("kept"); p.State != api.StateRunning {
			t.Errorf("what is for ever: %s", p.State)
		}
	})
}

func TestWhatEndedCommandsLeftBehindIsEndedByTheSameRule(t *testing.T) {
	withRig(t, func(r *rig) {
		r.do(func() { r.c.leases.reap = time.Hour })
		r.owned("done", "agent1", api.LeaseDetached)
		r.owned("kept", "agent1", api.LeaseForever)
		for _, id := range []string{"done", "kept"} {
			p := r.view(id)
			r.exits(p, 0)
			r.drained(p)
			synctest.Wait()
		}
		swept := func() (n int) {
			for _, deed := range r.w.deeds() {
				if strings.HasPrefix(deed, "sweep") {
					n++
				}
			}
			return n
		}
		r.leave("agent1")
		time.Sleep(leaveGrace + time.Minute)
		r.leave("agent1") // it has come back, and the clock begins anew
		time.Sleep(leaveGrace + time.Hour - time.Second)
		if swept() != 0 {
			t.Error("ended before its time")
		}
		time.Sleep(2 * time.Second)
		if n := swept(); n != 1 {
			t.Errorf("%d were ended, want the one that is not for ever", n)
		}
	})
}

func TestAfterAnEngineStartOwnersHaveTimeToComeBack(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseSession)
		r.owned("b", "agent2", api.LeaseSession)
		r.do(func() { r.c.AwaitOwners(nil) })
		time.Sleep(returnGrace / 2)
		r.do(func() { r.c.leases.arrive("agent2") })
		time.Sleep(returnGrace)
		if p := r.view("a"); p.State == api.StateRunning {
			t.Error("what was leased by a client that stays away goes on")
		}
		if p := r.view("b"); p.State != api.StateRunning {
			t.Errorf("what was leased by one that is back: %s", p.State)
		}
	})
}
