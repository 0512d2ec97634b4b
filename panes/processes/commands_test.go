package processes

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// refuseFor makes the fake engine return an error from operation o for the processes with these
// ids.
func refuseFor[In any](e *fakeEnv, o api.Operation[In, api.Process], idOf func(In) string, ids ...string) {
	panestest.On(e.API.(*panestest.Engine), o, func(_ context.Context, in In) (api.Process, error) {
		if slices.Contains(ids, idOf(in)) {
			return api.Process{}, api.Errorf(api.CodeUnavailable, "box: away")
		}
		return api.Process{ID: idOf(in)}, nil
	})
}

// markTwo returns a pane with two processes, both of them marked.
func markTwo(t *testing.T) (*Pane, *fakeEnv) {
	p, e := newTestPane(service("1", "db", nil), service("2", "web", nil))
	panestest.Press(t, p.Actions(), keymap.Mark)
	panestest.Press(t, p.Actions(), keymap.Mark)
	return p, e
}

func TestFailedStopIsNoLongerExpectedToExit(t *testing.T) {
	for _, action := range []keymap.Action{keymap.ProcessStop, keymap.ProcessKill} {
		for refused, want := range map[string]string{"": "1 2", "2": "1", "1 2": ""} {
			p, e := markTwo(t)
			refuseFor(e, api.ProcessStop, func(in api.ProcessStopInput) string { return in.ID }, strings.Fields(refused)...)
			panestest.Press(t, p.Actions(), action)
			cmd := e.Shown.(*dialog.Question).Then()
			if got := strings.Join(e.Stopped, " "); got != "1 2" {
				t.Errorf("%s: before the answer %q are expected to exit", action, got)
			}
			panestest.RunAll(cmd)
			if got := strings.Join(e.Stopped, " "); got != want || e.SaidBad != (refused != "") {
				t.Errorf("%s, %q refused: %q are expected to exit, said %q", action, refused, got, e.Said)
			}
		}
	}
}

func TestKeepAliveIsReportedOnceItApplies(t *testing.T) {
	for refused, want := range map[string]string{"": "Keep-alive is on for 2 processes", "2": "box: away", "1 2": "box: away (and 1 more)"} {
		p, e := markTwo(t)
		refuseFor(e, api.ProcessUpdate, func(in api.ProcessUpdateInput) string { return in.ID }, strings.Fields(refused)...)
		cmd := panestest.Press(t, p.Actions(), keymap.ProcessKeepAlive)
		if e.Said != "" {
			t.Errorf("before the answer: said %q", e.Said)
		}
		panestest.Press(t, p.Actions(), keymap.Mark) // the answer is about those marked before
		if panestest.RunAll(cmd); !strings.HasPrefix(e.Said, want) || e.SaidBad != (refused != "") {
			t.Errorf("%q refused: said %q", refused, e.Said)
		}
	}
}
