package supervise

import (
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// restoreWithoutTerminal restores a running session whose terminal is lost, as a new engine does.
func (r *rig) restoreWithoutTerminal() {
	rec := processRecord("a", api.PolicyNo)
	rec.Kind, rec.TTY, rec.State, rec.StartedAt = string(api.KindSession), true, string(api.StateRunning), time.Now()
	rec.Identity = &store.Identity{BootID: "boot", PID: 50, StartTime: 7}
	child := keeper.Child{ID: "a", PID: 50, StartTime: 7, BootID: "boot", TTY: true}
	all, _ := Survey{BootID: "boot", Records: []store.Record{rec}, Children: []keeper.Child{child}}.Plan()
	r.c.reg.box.Post(func() { r.c.Restore(all[0], "") })
}

func TestSessionWithLostTerminalIsNotRestarted(t *testing.T) {
	withRig(t, func(r *rig) {
		r.restoreWithoutTerminal()
		if p := r.wantState("a", api.StateExited); !p.ExitUnknown || r.countSpawns() != 0 {
			t.Errorf("process is %+v after %d starts", p, r.countSpawns())
		}
	})
}

func TestSessionWithLostTerminalIsNotRestartedByTheNextEngine(t *testing.T) {
	var rec store.Record
	withRig(t, func(r *rig) {
		r.w.stopDelay = time.Hour // the engine exits while it kills the session
		r.restoreWithoutTerminal()
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
