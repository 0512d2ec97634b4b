package prompt

import (
	"context"
	"testing"

	"tandem/engine/api"
	"tandem/engine/base/panics"
)

func TestPanicInAConditionReachesTheCaller(t *testing.T) {
	term, _ := newFakeTerminal(nil)
	w, err := NewConditions(api.SessionWaitInput{Port: 1, Exit: true}, func(context.Context) error { panic("stumbled") })
	if err != nil {
		t.Fatal(err)
	}
	if c := panics.Catch(func() { _, _ = term.shell.Await(t.Context(), w) }); c == nil || c.String() != "stumbled" {
		t.Errorf("caught %v", c)
	}
}
