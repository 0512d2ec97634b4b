package terminal

import (
	"testing"

	"tandem/engine/prompt"
)

func TestAKeyboardAcceptsWhomItMay(t *testing.T) {
	k := newKeyboard(nil, prompt.New(prompt.Options{}))
	person, agent := &viewer{}, &viewer{agent: true}
	reading, outside := &viewer{readOnly: true}, &viewer{agent: true, outside: true}
	for _, c := range []struct {
		locked, open                    bool
		person, agent, reading, outside bool
	}{
		{false, false, true, true, false, false},
		{false, true, true, true, false, true},
		{true, true, true, false, false, false},
	} {
		k.locked.Store(c.locked)
		k.open.Store(c.open)
		if k.accepts(person) != c.person || k.accepts(agent) != c.agent || k.accepts(reading) != c.reading || k.accepts(outside) != c.outside {
			t.Errorf("%+v", c)
		}
	}
}

func TestAKeyboardKnowsWhoTypedLast(t *testing.T) {
	k := newKeyboard(nil, prompt.New(prompt.Options{}))
	if k.typist() != (typist{}) {
		t.Errorf("%v, before anybody has typed", k.typist())
	}
	for _, by := range []typist{{PersonActor, ""}, {"agent:x", ""}, {PersonActor, ""}, {PersonActor, "me@laptop"}} {
		k.typeAs(t.Context(), by, []byte("a"), nil)
		if k.typist() != by {
			t.Errorf("%v, not %v", k.typist(), by)
		}
	}
	if !k.interrupted().IsZero() {
		t.Error("an a has interrupted")
	}
}
