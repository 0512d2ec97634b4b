package supervise

import (
	"errors"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// restoreWithoutTerminal restores a running session without its terminal, as a new engine would.
func (r *rig) restoreWithoutTerminal(fault error) keeper.Child {
	rec := processRecord("a", api.PolicyNo)
	rec.Kind, rec.TTY, rec.State, rec.StartedAt = string(api.KindSession), true, string(api.StateRunning), time.Now()
	rec.Identity = &store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	child := keeper.Child{ID: "a", PID: 50, StartTime: 7, BootID: "boot", TTY: true}
	all, _ := Survey{BootID: "boot", Records: []store.Record{rec}, Children: []keeper.Child{child}}.Plan()
	all[0].Fault = fault
	r.c.reg.box.Post(func() { r.c.Restore(all[0], "") })
	return child
}

func TestSessionKeepsRunningWhileItsTerminalCannotBeFetched(t *testing.T) {
	withRig(t, func(r *rig) {
		child := r.restoreWithoutTerminal(errors.New("too many open files"))
		if p := r.wantState("a", api.StateRunning); p.Error != "no screen: too many open files" {
			t.Errorf("process is %+v", p)
		}
		if _, _, err := r.c.OpenSession(r.Context(), "a"); !errors.Is(err, api.CodeUnavailable) || err.Error() != "use session name-a: no screen: too many open files" {
			t.Errorf("using the session gives %v", err)
		}
		s := &fakeSession{}
		for _, want := range []bool{true, false} {
			used, err := (Terminals{r.c}).Regain(r.Context(), child, func(store.Record) Session { return s })
			if used != want || err != nil {
				t.Errorf("regained: %t, %v, want %t", used, err, want)
			}
		}
		if p := r.wantState("a", api.StateRunning); p.Error != "" || r.countSpawns() != 0 {
			t.Errorf("process is %+v after %d starts", p, r.countSpawns())
		}
	})
}

func TestExitOfASessionWithoutATerminalIsReported(t *testing.T) {
	withRig(t, func(r *rig) {
		child := r.restoreWithoutTerminal(errors.New("too many open files"))
		three := 3
		r.c.ReportExit(child, Ending{Exit: keeper.Exit{Code: &three}, At: time.Now()})
		if p := r.wantState("a", api.StateExited); p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("exited as %+v", p)
		}
		if used, err := (Terminals{r.c}).Regain(r.Context(), child, nil); used || err != nil {
			t.Errorf("open was called, %v", err)
		}
	})
}

func TestSessionWithLostTerminalIsNotRestarted(t *testing.T) {
	withRig(t, func(r *rig) {
		(Terminals{r.c}).Abandon(r.restoreWithoutTerminal(errors.New("connection to the keeper is lost")))
		if p := r.wantState("a", api.StateExited); !p.ExitUnknown || r.countSpawns() != 0 {
			t.Errorf("process is %+v after %d starts", p, r.countSpawns())
		}
	})
}

func TestSessionWithLostTerminalIsNotRestartedByTheNextEngine(t *testing.T) {
	var rec store.Record
	withRig(t, func(r *rig) {
		r.w.stopDelay = time.Hour // the engine exits while it kills the session
		(Terminals{r.c}).Abandon(r.restoreWithoutTerminal(errors.New("connection to the keeper is lost")))
		r.wantState("a", api.StateStopping)
		rec = r.w.savedRecord("a")
	})
	withRig(t, func(r *rig) {
		all, _ := Survey{
			BootID: "boot", Records: []store.Record{rec},
			Alive: func(store.Identity) bool { return false },
			Exit:  func(string) (store.Exit, bool) { return store.Exit{}, false },
		}.Plan()
		r.c.reg.box.Post(func() { r.c.Restore(all[0], "") })
		if p := r.wantState("a", api.StateExited); !p.ExitUnknown || r.countSpawns() != 0 {
			t.Errorf("process is %+v after %d starts", p, r.countSpawns())
		}
	})
}
