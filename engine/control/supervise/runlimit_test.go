package supervise

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// startLimited starts a one-shot command with a time limit. The command is to be stopped when the
// time until has passed; 0 means never.
func (r *rig) startLimited(id string, until, grace time.Duration) store.RunLimit {
	r.Helper()
	limit := store.RunLimit{CallerGraceMS: int(grace.Milliseconds())}
	if until > 0 {
		limit.StopAt = time.Now().Add(until)
	}
	rec := NewRecord(id, api.KindProcess)
	rec.Name, rec.Argv, rec.Transient, rec.RunLimit = "name-"+id, []string{"make"}, true, limit
	reply := make(chan outcome, 1)
	if err, _ := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "", false, HasStarted, reply) }); err != nil {
		r.Fatal(err)
	}
	<-reply
	return limit
}

// loseCaller disconnects the only caller of a command.
func (r *rig) loseCaller(id string) {
	ctx, cancel := context.WithCancel(r.Context())
	leave := r.c.AttendCommand(ctx, id)
	cancel()
	leave()
}

func TestCommandWithoutCallerIsStoppedAtItsLimit(t *testing.T) {
	const never = 1000 * time.Hour
	left := func(r *rig, _ store.RunLimit) { r.loseCaller("a") }
	for name, c := range map[string]struct {
		until, grace time.Duration
		lose         func(r *rig, limit store.RunLimit)
		after        time.Duration
	}{
		"at its time limit":               {until: time.Hour, lose: left, after: time.Hour},
		"after its caller's grace":        {grace: time.Minute, lose: left, after: time.Minute},
		"at the earlier of the two":       {until: time.Minute, grace: time.Hour, lose: left, after: time.Minute},
		"not without a limit":             {lose: left, after: never},
		"after an engine's crash":         {until: time.Hour, grace: time.Minute, lose: func(r *rig, _ store.RunLimit) { r.c.AwaitOwners(nil) }, after: time.Minute},
		"at its time limit after a crash": {until: time.Hour, lose: func(r *rig, _ store.RunLimit) { r.c.AwaitOwners(nil) }, after: time.Hour},
		"not while its caller waits":      {until: time.Hour, grace: time.Minute, lose: func(*rig, store.RunLimit) {}, after: never},
		"not after its caller's return": {until: time.Hour, grace: time.Minute, lose: func(r *rig, limit store.RunLimit) {
			r.loseCaller("a")
			time.Sleep(time.Minute / 2)
			r.c.SetRunLimit("a", limit)
		}, after: never},
		"not in its next run": {until: time.Hour, grace: time.Minute, lose: func(r *rig, _ store.RunLimit) {
			r.w.killChild(r, "a", 0)
			synctest.Wait()
			if _, err := r.c.RestartProcess(r.Context(), Request{ID: "a"}, nil, ""); err != nil {
				r.Fatal(err)
			}
			r.c.AwaitOwners(nil)
		}, after: never},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				limit := r.startLimited("a", c.until, c.grace)
				c.lose(r, limit)
				time.Sleep(c.after - time.Second)
				synctest.Wait()
				if p := r.view("a"); p.State != api.StateRunning {
					t.Fatalf("%s a second before", p.State)
				}
				if c.after == never {
					return
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if p := r.view("a"); !p.State.Ended() {
					t.Errorf("%s a second after", p.State)
				}
			})
		})
	}
}

// The next engine finds the limit in the record.
func TestLimitOfCommandIsSaved(t *testing.T) {
	withRig(t, func(r *rig) {
		limit := r.startLimited("a", time.Hour, time.Minute)
		time.Sleep(oneShotGrace)
		synctest.Wait()
		if saved := r.w.savedRecord("a").RunLimit; !saved.StopAt.Equal(limit.StopAt) || saved.CallerGraceMS != limit.CallerGraceMS {
			t.Errorf("saved %+v, want %+v", saved, limit)
		}
		r.loseCaller("a")
		synctest.Wait()
		if left := time.Until(r.w.savedRecord("a").StopAt); left != time.Minute {
			t.Errorf("to be stopped in %v", left)
		}
		r.c.SetRunLimit("a", store.RunLimit{})
		synctest.Wait()
		if saved := r.w.savedRecord("a").RunLimit; saved != (store.RunLimit{}) {
			t.Errorf("saved %+v", saved)
		}
	})
}

// A command whose caller has disconnected is marked, so that its result can be found later.
func TestCommandWithoutCallerIsUnanswered(t *testing.T) {
	for name, after := range map[string]time.Duration{"before it is announced": 0, "later": oneShotGrace} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(r *rig) {
				r.startLimited("a", 0, 0)
				r.startLimited("b", 0, 0)
				time.Sleep(after)
				synctest.Wait()
				r.loseCaller("a")
				r.c.AttendCommand(r.Context(), "b")()
				time.Sleep(oneShotGrace)
				synctest.Wait()
				for id, want := range map[string]bool{"a": true, "b": false} {
					if got := r.w.savedRecord(id).Unanswered; got != want || r.view(id).Supervision.Unanswered != want {
						t.Errorf("%s: %v", id, got)
					}
				}

				// A repeated call gets the result.
				if _, ok, err := r.c.FindEarlierStart(r.Context(), r.w.savedRecord("a"), HasStarted); !ok || err != nil {
					t.Fatal(ok, err)
				}
				synctest.Wait()
				if r.w.savedRecord("a").Unanswered || r.view("a").Supervision.Unanswered {
					t.Error("unanswered after a repeated call")
				}
			})
		})
	}
}
