package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/panestest"
)

// runCall runs a command that calls the engine, and what follows its answer.
func runCall(e *fakeEnv, cmd tea.Cmd) {
	for cmd != nil {
		result, ok := cmd().(panes.Result)
		if !ok {
			return
		}
		if cmd = result(); cmd == nil {
			cmd = e.RunPending()
		}
	}
}

func TestSelectedTextIsOverwrittenAfterAQuestion(t *testing.T) {
	p, e, _ := newTestPane("token", "  hunter22  ", "}", "more text")
	engine := panestest.NewEngine()
	var calls []string
	answer := api.ScrubOutput{Places: []api.ScrubPlaces{{Where: "output", Name: "build", Count: 2}, {Where: "history", Count: 1}}}
	for _, operation := range []api.Operation[api.ScrubInput, api.ScrubOutput]{api.ScrubFind, api.ScrubRun} {
		panestest.On(engine, operation, func(_ context.Context, in api.ScrubInput) (api.ScrubOutput, error) {
			calls = append(calls, fmt.Sprint(operation.Name, in.IDs, in.Texts))
			return answer, nil
		})
	}
	e.API = engine
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	runCall(e, panestest.Press(t, p.Actions(), keymap.ScrollScrub))
	if !strings.Contains(e.Said, "nothing is selected") {
		t.Errorf("without a selection it says %q", e.Said)
	}
	p.Scroll.SelectBetween(1, 3)
	runCall(e, panestest.Press(t, p.Actions(), keymap.ScrollScrub))
	q, ok := e.Shown.(*dialog.Question)
	if !ok || !strings.Contains(q.Title, "3 places") || !slices.Contains(q.Lines, "   2  output of build") {
		t.Fatalf("asked %+v", e.Shown)
	}
	runCall(e, q.Then())
	if want := []string{"scrub.find[1] [hunter22 more text]", "scrub.run[1] [hunter22 more text]"}; !slices.Equal(calls, want) || !strings.Contains(e.Said, "3 places") {
		t.Errorf("called %q, want %q; said %q", calls, want, e.Said)
	}
	if p.Scroll.Active() {
		t.Error("the selection stays on a screen that has changed")
	}
}

func TestTextInNoFileIsNotOverwritten(t *testing.T) {
	p, e, _ := newTestPane("}")
	engine := panestest.NewEngine()
	panestest.On(engine, api.ScrubFind, func(context.Context, api.ScrubInput) (api.ScrubOutput, error) { return api.ScrubOutput{}, nil })
	e.API = engine
	panestest.Press(t, p.Actions(), keymap.ScrollMode)
	p.Scroll.SelectBetween(0, 0)
	runCall(e, panestest.Press(t, p.Actions(), keymap.ScrollScrub))
	if e.Shown != nil || !strings.Contains(e.Said, "no file has this text") {
		t.Errorf("asked %+v, said %q", e.Shown, e.Said)
	}
}
