package engine

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/service"
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
	if _, err := ask(r.Context(), r.c, func() struct{} { f(); return struct{}{} }); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) leave(owner string) {
	r.do(func() { r.c.arrive(owner) })
	r.do(func() { r.c.depart(owner) })
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
		r.do(func() { r.c.arrive("agent1") })
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

// A lease and a rule for what was left behind are about what is the agent's
// alone.
func TestWhatAPersonHasTakenIsNotEndedForItsAgent(t *testing.T) {
	withRig(t, func(r *rig) {
		r.c.roster.reap = time.Minute
		r.owned("a", "agent1", api.LeaseSession)
		r.owned("b", "agent1", api.LeaseDetached)
		r.do(func() { r.c.procs["a"].rec.Keyboard, r.c.procs["b"].rec.Keyboard = "dashboard", "dashboard" })
		r.leave("agent1")
		time.Sleep(time.Hour)
		r.do(func() { r.c.endIdle(time.Now()) })
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
		r.do(func() { r.c.arrive("agent1") })
		time.Sleep(time.Hour)
		if p := r.view("a"); p.State != api.StateRunning || p.Owner.Left {
			t.Errorf("state %s, %+v", p.State, p.Owner)
		}
	})
}

func TestWhatWasLeftBehindIsEndedOnlyByThePersonsRule(t *testing.T) {
	withRig(t, func(r *rig) {
		r.do(func() { r.c.roster.reap = time.Hour })
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
		r.do(func() { r.c.roster.reap = time.Hour })
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
		r.do(func() { r.c.awaitOwners(nil) })
		time.Sleep(returnGrace / 2)
		r.do(func() { r.c.arrive("agent2") })
		time.Sleep(returnGrace)
		if p := r.view("a"); p.State == api.StateRunning {
			t.Error("what was leased by a client that stays away goes on")
		}
		if p := r.view("b"); p.State != api.StateRunning {
			t.Errorf("what was leased by one that is back: %s", p.State)
		}
	})
}

func TestOnlyAgentsOwnWhatTheyStart(t *testing.T) {
	m := startMachine(t)
	agent := m.agent("owner1").client
	in := api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: "mine", Actor: "person"}
	mine, err := api.ProcessStart.Call(t.Context(), agent, in)
	if err != nil {
		t.Fatal(err)
	}
	if mine.Owner == nil || mine.Owner.Client != "owner1" || mine.Owner.Lease != api.LeaseDetached || mine.Actor != "agent:tester/1" {
		t.Errorf("an agent's: %+v by %s", mine.Owner, mine.Actor)
	}
	in.Name = "hers"
	if hers := call(m, api.ProcessStart, in); hers.Owner != nil || hers.Actor != "person" {
		t.Errorf("a person's: %+v by %s", hers.Owner, hers.Actor)
	}
	in.Name, in.Lease = "other", "rent"
	if _, err := api.ProcessStart.Call(t.Context(), agent, in); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("an unknown lease: %v", err)
	}
}

// A quietWriter takes an event stream and says when its first event is there.
type quietWriter struct {
	*httptest.ResponseRecorder
	first chan struct{}
	once  sync.Once
}

func (w *quietWriter) SetWriteDeadline(time.Time) error { return nil }

func (w *quietWriter) Flush() { w.once.Do(func() { close(w.first) }) }

func TestAnAgentIsHereWhileItWatches(t *testing.T) {
	withRig(t, func(r *rig) {
		r.owned("a", "agent1", api.LeaseDetached)
		h := &host{control: r.c, link: &link{}, layouts: &service.Layouts{}, arbiter: &approval.Arbiter{}}
		mux := server.NewMux(nil)
		mux.HandleWatch(h.watch)
		ctx, cancel := context.WithCancel(r.Context())
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events.watch", nil)
		request.Header.Set("Tandem-Owner", "agent1")
		w := &quietWriter{ResponseRecorder: httptest.NewRecorder(), first: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			mux.ServeHTTP(w, request)
		}()
		<-w.first
		time.Sleep(time.Hour)
		if p := r.view("a"); p.Owner.Left {
			r.Error("it counts as gone while it watches")
		}
		cancel()
		<-done
		time.Sleep(leaveGrace)
		if p := r.view("a"); !p.Owner.Left {
			r.Error("it counts as here when it watches no more")
		}
	})
}

func TestAnAgentIsNotToldWhatOthersAskThePerson(t *testing.T) {
	for owner, told := range map[string]bool{"agent1": false, "": true} {
		withRig(t, func(r *rig) {
			path := filepath.Join(r.TempDir(), "policy.toml")
			if err := os.WriteFile(path, []byte(`default = "ask"`), 0o600); err != nil {
				r.Fatal(err)
			}
			asked := approval.New(path, slog.New(slog.DiscardHandler), func(api.Event) {})
			go asked.Check(r.Context(), api.PolicyCheckInput{Tool: "exec", Actor: "another", Command: "of another"})
			synctest.Wait()
			h := &host{control: r.c, link: &link{}, layouts: &service.Layouts{}, arbiter: asked, problems: []string{"a problem"}}
			mux := server.NewMux(nil)
			mux.HandleWatch(h.watch)
			ctx, cancel := context.WithCancel(r.Context())
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/events.watch", nil)
			request.Header.Set("Tandem-Owner", owner)
			w := &quietWriter{ResponseRecorder: httptest.NewRecorder(), first: make(chan struct{})}
			done := make(chan struct{})
			go func() {
				defer close(done)
				mux.ServeHTTP(w, request)
			}()
			<-w.first
			time.Sleep(time.Hour)
			cancel()
			<-done
			if got := strings.Contains(w.Body.String(), "of another"); got != told {
				r.Errorf("%q: it is told: %v", owner, got)
			}
			if kept := len(h.problems) > 0; kept == told {
				r.Errorf("%q: the problems wait: %v", owner, kept)
			}
		})
	}
}
