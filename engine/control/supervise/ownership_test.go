package supervise

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// startOwned starts a process owned by a client.
func (r *rig) startOwned(id, owner string, lease api.Lease) {
	r.Helper()
	r.startRunning(id)
	r.runOnLoop(func() {
		r.c.reg.procs[id].rec.Owner, r.c.reg.procs[id].rec.Lease = owner, string(lease)
		r.c.reg.saveChange(r.c.reg.procs[id])
	})
	synctest.Wait()
}

// runOnLoop runs f on the control goroutine.
func (r *rig) runOnLoop(f func()) {
	r.Helper()
	if _, err := Ask(r.Context(), r.c, func() struct{} { f(); return struct{}{} }); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) connectBriefly(owner string) {
	r.runOnLoop(func() { r.c.leases.addWatch(owner) })
	r.runOnLoop(func() { r.c.leases.removeWatch(owner) })
}

func TestProcessOfAVanishedAgentKeepsRunningMarkedAsLeft(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseDetached)
		r.connectBriefly("agent1")
		if p := r.view("a"); p.Owner.Left {
			t.Error("left behind at once")
		}
		time.Sleep(leaveGrace)
		p := r.view("a")
		if !p.Owner.Left || p.Owner.Since == nil || p.State != api.StateRunning {
			t.Errorf("after the grace: %+v %s", p.Owner, p.State)
		}
		if r.w.savedRecord("a").LeftAt.IsZero() {
			t.Error("LeftAt is not on disk")
		}
		r.runOnLoop(func() { r.c.leases.addWatch("agent1") })
		if p := r.view("a"); p.Owner.Left || !r.w.savedRecord("a").LeftAt.IsZero() {
			t.Errorf("after its return: %+v", p.Owner)
		}
	})
}

func TestSessionLeaseStopsProcessWhenItsClientLeaves(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseSession)
		r.startOwned("b", "agent2", api.LeaseSession)
		r.connectBriefly("agent1")
		time.Sleep(leaveGrace)
		if p := r.view("a"); p.State != api.StateStopped && p.State != api.StateStopping {
			t.Errorf("state %s", p.State)
		}
		if p := r.view("b"); p.State != api.StateRunning {
			t.Errorf("another client's: %s", p.State)
		}
	})
}

func TestRestartByAReturnedAgentIsNotLeftBehind(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseSession)
		r.connectBriefly("agent1")
		time.Sleep(leaveGrace)
		r.reportExit(r.view("a"), 0)
		r.reportDrained(r.view("a"))
		if p := r.view("a"); !p.State.Ended() {
			t.Fatalf("after the grace, state is %s", p.State)
		}
		r.runOnLoop(func() { r.c.leases.addWatch("agent1") })
		<-r.postEvent("a", evRestart)
		if p := r.view("a"); p.State != api.StateRunning || p.Owner.Left || !r.w.savedRecord("a").LeftAt.IsZero() {
			t.Errorf("state %s, left behind %v; the next engine would stop it", p.State, p.Owner.Left)
		}
	})
}

// Leases and the reap time apply only to sessions that nobody but the agent uses.
func TestSessionWithLockedKeyboardOutlivesItsAgent(t *testing.T) {
	withRig(t, func(r *rig) {
		r.c.leases.reapAfter = time.Minute
		r.startOwned("a", "agent1", api.LeaseSession)
		r.startOwned("b", "agent1", api.LeaseDetached)
		r.runOnLoop(func() { r.c.reg.procs["a"].rec.Keyboard, r.c.reg.procs["b"].rec.Keyboard = "dashboard", "dashboard" })
		r.connectBriefly("agent1")
		time.Sleep(time.Hour)
		r.runOnLoop(func() { r.c.StopIdleSessions(time.Now()) })
		for _, id := range []string{"a", "b"} {
			if p := r.view(id); p.State != api.StateRunning || !p.Owner.Left {
				t.Errorf("%s is %s, left %v", id, p.State, p.Owner.Left)
			}
		}
	})
}

func TestClientReturningWithinTheGraceKeepsItsProcesses(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseSession)
		r.connectBriefly("agent1")
		time.Sleep(leaveGrace / 2)
		r.runOnLoop(func() { r.c.leases.addWatch("agent1") })
		time.Sleep(time.Hour)
		if p := r.view("a"); p.State != api.StateRunning || p.Owner.Left {
			t.Errorf("state %s, %+v", p.State, p.Owner)
		}
	})
}

func TestProcessLeftBehindIsStoppedAfterReapTime(t *testing.T) {
	withRig(t, func(r *rig) {
		r.runOnLoop(func() { r.c.leases.reapAfter = time.Hour })
		r.startOwned("kept", "agent1", api.LeaseForever)
		r.startOwned("reaped", "agent1", api.LeaseDetached)
		r.connectBriefly("agent1")
		time.Sleep(leaveGrace + time.Hour - time.Second)
		if p := r.view("reaped"); p.State != api.StateRunning {
			t.Errorf("before its time: %s", p.State)
		}
		time.Sleep(2 * time.Second)
		if p := r.view("reaped"); p.State == api.StateRunning {
			t.Error("still running")
		}
		if p := r.view("kept"); p.State != api.StateRunning {
			t.Errorf("process with a lease forever: %s", p.State)
		}
	})
}

func TestBackgroundJobsOfEndedCommandsAreStoppedAfterReapTime(t *testing.T) {
	withRig(t, func(r *rig) {
		r.runOnLoop(func() { r.c.leases.reapAfter = time.Hour })
		r.startOwned("done", "agent1", api.LeaseDetached)
		r.startOwned("kept", "agent1", api.LeaseForever)
		for _, id := range []string{"done", "kept"} {
			p := r.view(id)
			r.reportExit(p, 0)
			r.reportDrained(p)
			synctest.Wait()
		}
		swept := func() (n int) {
			for _, deed := range r.w.listCalls() {
				if strings.HasPrefix(deed, "sweep") {
					n++
				}
			}
			return n
		}
		r.connectBriefly("agent1")
		time.Sleep(leaveGrace + time.Minute)
		r.connectBriefly("agent1") // returning restarts the timer
		time.Sleep(leaveGrace + time.Hour - time.Second)
		if swept() != 0 {
			t.Error("stopped before the reap time")
		}
		time.Sleep(2 * time.Second)
		if n := swept(); n != 1 {
			t.Errorf("%d were stopped, want 1", n)
		}
	})
}

func TestOwnersHaveTimeToReturnAfterAnEngineStart(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseSession)
		r.startOwned("b", "agent2", api.LeaseSession)
		r.runOnLoop(func() { r.c.AwaitOwners(nil) })
		time.Sleep(returnGrace / 2)
		r.runOnLoop(func() { r.c.leases.addWatch("agent2") })
		time.Sleep(returnGrace)
		if p := r.view("a"); p.State == api.StateRunning {
			t.Error("process of the absent client is still running")
		}
		if p := r.view("b"); p.State != api.StateRunning {
			t.Errorf("process of the returned client: %s", p.State)
		}
	})
}

func TestRestoredSessionIsKeptWithoutItsOwner(t *testing.T) {
	withRig(t, func(r *rig) {
		r.startOwned("a", "agent1", api.LeaseSession)
		r.reportExit(r.view("a"), 1)
		r.reportDrained(r.view("a"))
		r.runOnLoop(func() { r.c.reg.procs["a"].rec.Interrupted = &store.Interruption{By: api.ByReboot} })
		as := Restoration{Command: store.Command{Argv: []string{"sh"}, CWD: "/"}}
		if _, err := r.c.RestoreSession(r.Context(), Request{ID: "a"}, as); err != nil {
			t.Fatal(err)
		}
		r.runOnLoop(func() { r.c.AwaitOwners(nil) }) // as the next engine does
		time.Sleep(2 * returnGrace)
		if p := r.view("a"); p.State != api.StateRunning {
			t.Errorf("the session that the user restored is %s", p.State)
		}
	})
}
