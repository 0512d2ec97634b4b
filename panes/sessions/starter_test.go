package sessions

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/panes/terminal"
)

// newStart returns the start of a shell with this session id, in the default folder.
func newStart(id string) sessionStart {
	return sessionStart{ID: id, Where: func() (string, string) { return "", "" }}
}

// newStarter returns a starter for panes that nobody sees.
func newStarter(env *panestest.Env, then func(startResult) tea.Cmd) *starter {
	return &starter{env: env, then: then, panes: &Panes{all: map[string]*terminal.Pane{}, create: func(id string) *terminal.Pane { return terminal.New(nil, nil, id) }}}
}

func TestCancelledStartIsKilledWithoutDelayingOthers(t *testing.T) {
	var started, killed []string
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionStart, func(_ context.Context, in api.SessionStartInput) (api.Process, error) {
		return api.Process{ID: in.ID, Kind: api.KindSession, State: api.StateRunning}, nil
	})
	panestest.On(engine, api.SessionKill, func(_ context.Context, in api.IDInput) (api.Process, error) {
		killed = append(killed, in.ID)
		return api.Process{}, nil
	})
	s := newStarter(&panestest.Env{API: engine}, func(out startResult) tea.Cmd {
		started = append(started, out.Process.ID)
		return nil
	})
	first := s.start(newStart("one"))
	if s.start(newStart("two")) != nil {
		t.Fatal("the second does not wait for the first")
	}
	answer := first().(panes.Result)
	for _, cmd := range s.cancel(s.waiting[0])().(tea.BatchMsg) {
		cmd().(panes.Result)()
	}
	answer()
	if diff := cmp.Diff([]string{"two"}, started); diff != "" || !s.isCancelled("one") {
		t.Errorf("a cancelled session is shown: %s", diff)
	}
	if diff := cmp.Diff([]string{"one"}, killed); diff != "" || len(s.waiting) != 0 {
		t.Errorf("killed %v, %d wait", killed, len(s.waiting))
	}
}

func TestFailedKillOfCancelledStartIsForgotten(t *testing.T) {
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionKill, func(context.Context, api.IDInput) (api.Process, error) {
		return api.Process{}, api.Errorf(api.CodeUnavailable, "box: away")
	})
	e := &panestest.Env{API: engine}
	s := newStarter(e, nil)
	s.start(newStart("one"))
	kill := s.cancel(s.waiting[0])
	if len(e.Stopped) != 1 {
		t.Error("the exit is not expected")
	}
	if panestest.RunAll(kill); len(e.Stopped) != 0 || s.isCancelled("one") {
		t.Errorf("the exit of %v is expected", e.Stopped)
	}
}

// A session that appears although its pane was closed while it was being started gets a pane that works.
func TestSessionIsShownAfterItsStartingPaneWasClosed(t *testing.T) {
	lost := api.Errorf(api.CodeUnavailable, "lost")
	for name, end := range map[string]func(d *driver, start *sessionStart){
		"by the user": func(d *driver, _ *sessionStart) { d.Run(d.view.closePane()) },
		"after an error": func(d *driver, start *sessionStart) {
			d.Run(d.view.Launcher.starter.finishStart(start, api.Process{}, lost))
		},
		"cancelled, and the kill fails": func(d *driver, start *sessionStart) {
			_ = d.view.Launcher.cancelStart(start.ID) // its commands are not run
			d.Run(d.view.Launcher.starter.finishKill(start, lost))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := threePanes(t)
			late := d.engine.delayStarts()
			d.Press("ctrl+b", "%")
			<-late.asked
			end(d, d.view.Launcher.starter.find(late.id))
			d.waitShape("(a|(b/c))")
			if name == "by the user" {
				close(late.answer)
			} else {
				d.engine.announceStarting(late.id, "new-1")
			}
			d.waitShape("(a|(b/c)) new-1")
			d.Run(d.view.OpenSession(late.id))
			if d.view.Panes.Pane(late.id).Starting || !d.view.Panes.isAttached(late.id) {
				t.Errorf("starting %v, attached %v", d.view.Panes.Pane(late.id).Starting, d.view.Panes.isAttached(late.id))
			}
		})
	}
}
