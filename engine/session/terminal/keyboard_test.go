package terminal

import (
	"testing"

	"tandem/engine/api"
	"tandem/engine/session/prompt"
)

func TestKeyboardAcceptsOnlyPermittedViewers(t *testing.T) {
	k := newKeyboard(nil, prompt.New(prompt.Options{}))
	person, agent := &viewer{}, &viewer{agent: true}
	reading, outside := &viewer{options: api.AttachOptions{ReadOnly: true}}, &viewer{agent: true, outside: true}
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
		if k.acceptsFrom(person) != c.person || k.acceptsFrom(agent) != c.agent || k.acceptsFrom(reading) != c.reading || k.acceptsFrom(outside) != c.outside {
			t.Errorf("%+v", c)
		}
	}
}

func TestKeyboardRecordsTheLastTypist(t *testing.T) {
	k := newKeyboard(nil, prompt.New(prompt.Options{}))
	if k.lastTypist() != (typist{}) {
		t.Errorf("%v, before anybody has typed", k.lastTypist())
	}
	for _, by := range []typist{{api.Person, ""}, {"agent:x", ""}, {api.Person, ""}, {api.Person, "me@laptop"}} {
		k.typeAs(t.Context(), by, []byte("a"), nil)
		if k.lastTypist() != by {
			t.Errorf("%v, not %v", k.lastTypist(), by)
		}
	}
	if !timeOf(&k.interruptAt).IsZero() {
		t.Error("an a has interrupted")
	}
}

// A client chooses its name.
func TestAgentDoesNotTypeAsTheUser(t *testing.T) {
	for _, c := range []struct {
		by   api.Caller
		want string
	}{
		{api.Caller{Name: "dashboard"}, api.Person},
		{api.Caller{Name: "agent:claude"}, api.Person},
		{api.Caller{Owner: "x", Name: "agent:claude"}, "agent:claude"},
		{api.Caller{Owner: "x", Name: api.Person}, "agent:person"},
		{api.Caller{Owner: "x"}, "agent:"},
	} {
		if got := typistOf(c.by); got.actor != c.want {
			t.Errorf("%+v types as %q, want %q", c.by, got.actor, c.want)
		}
	}
}
