package supervise

import (
	"context"
	"errors"
	"testing"

	"tandem/engine/api"
)

type foreignKey struct{}

// startPrivate starts a private session. Callers of the context it returns may not use it.
func (r *rig) startPrivate(id string) (api.Process, context.Context) {
	r.Helper()
	refused := api.Errorf(api.CodeForbidden, "it is private")
	r.c.Private.MayUse = func(ctx context.Context, _ string) error {
		if ctx.Value(foreignKey{}) != nil {
			return refused
		}
		return nil
	}
	rec := NewRecord(id, api.KindSession)
	rec.Name, rec.Argv, rec.TTY, rec.Private, rec.CWD = "private", []string{"vault", "hush"}, true, true, "/hush"
	reply := make(chan outcome, 1)
	failed, err := Ask(r.Context(), r.c, func() error { return r.c.startRecord(rec, "/log", false, HasStarted, reply) })
	if err != nil || failed != nil {
		r.Fatal(err, failed)
	}
	return (<-reply).process, context.WithValue(r.Context(), foreignKey{}, true)
}

func TestPrivateSessionIsHiddenFromOthers(t *testing.T) {
	withRig(t, func(r *rig) {
		p, foreign := r.startPrivate("a")
		if p.Command == "" || p.CWD != "/hush" || p.LogPath != "" || !p.IsPrivate() {
			t.Errorf("the user sees %+v", p)
		}
		all, err := r.c.ListProcesses(foreign)
		if err != nil || len(all) != 1 || all[0].Command != "" || all[0].CWD != "" || len(all[0].Argv) != 0 || all[0].Name != "private" {
			t.Errorf("others see %+v, %v", all, err)
		}
		measured, err := r.c.Measurables(foreign)
		if err != nil || len(measured) != 1 || measured[0].View.Command != "" {
			t.Errorf("others measure %+v, %v", measured, err)
		}
		for what, use := range map[string]func(ctx context.Context) error{
			"find":  func(ctx context.Context) error { _, err := r.c.FindEntry(ctx, "a"); return err },
			"by id": func(ctx context.Context) error { _, err := r.c.EntryByID(ctx, "a"); return err },
			"stop": func(ctx context.Context) error {
				_, err := r.c.StopProcess(ctx, Request{ID: "private"}, "", 0)
				return err
			},
			"update": func(ctx context.Context) error {
				_, err := r.c.UpdateProcess(ctx, Request{ID: "a"}, Update{})
				return err
			},
		} {
			if err := use(foreign); !errors.Is(err, api.CodeForbidden) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := r.c.FindEntry(r.Context(), "a"); err != nil {
			t.Errorf("the user cannot find it: %v", err)
		}
		stopped, err := r.c.StopSome(foreign, "agent:x", "", func(api.Process) bool { return true })
		if err != nil || len(stopped) != 0 {
			t.Errorf("others stop %+v, %v", stopped, err)
		}
		errSeen := errors.New("seen")
		err = r.c.Watch(foreign, "", false, func(snapshot api.Event) []api.Event { return []api.Event{snapshot} }, func(e api.Event) error {
			if len(e.Processes) != 1 || e.Processes[0].Command != "" {
				t.Errorf("others watch %+v", e.Processes)
			}
			return errSeen
		})
		if !errors.Is(err, errSeen) {
			t.Error(err)
		}
	})
}

// A later engine does not know the command.
func TestPrivateSessionOfAnEarlierEngineIsNotRestarted(t *testing.T) {
	withRig(t, func(r *rig) {
		p, _ := r.startPrivate("a")
		_, err := Ask(r.Context(), r.c, func() error { r.c.reg.procs["a"].rec.Argv = nil; return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range []api.State{api.StateRunning, api.StateExited} {
			if _, err := r.c.RestartProcess(r.Context(), Request{ID: "a"}, nil, ""); !errors.Is(err, api.CodeConflict) {
				t.Errorf("restarted while %s: %v", state, err)
			}
			r.reportExit(p, 0)
			r.reportDrained(p)
			r.view("a")
		}
	})
}

func TestErrorOfAPrivateStartIsNotLogged(t *testing.T) {
	p := &proc{}
	err := errors.New("start vault: hush")
	if p.loggedError(err) != err {
		t.Error("an ordinary error is not logged")
	}
	if p.rec.Private = true; p.loggedError(err) == err {
		t.Error("the error is logged")
	}
}
