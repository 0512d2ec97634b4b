package access

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestOnlyTheUserMayUseAPrivateSession(t *testing.T) {
	g := newGuard(t)
	for name, c := range map[string]struct {
		by  caller
		may bool
	}{
		"the user":                    {caller{}, true},
		"the user elsewhere":          {caller{origin: &api.Origin{From: "ann@laptop"}}, true},
		"an agent":                    {caller{owner: "x"}, false},
		"a program of an agent":       {caller{origin: &api.Origin{From: "ann@laptop", Agent: "claude in web"}}, false},
		"somebody in a fleet":         {caller{origin: &api.Origin{From: "ann", Person: "ann", Role: api.RoleAdmin}}, false},
		"an agent of another machine": {caller{origin: &api.Origin{From: "ann", By: &api.FarAgent{Name: "claude", Owner: "x"}}}, false},
	} {
		err := g.MayUsePrivate(c.by.makeContext(t), "vault")
		if (err == nil) != c.may || err != nil && (!errors.Is(err, api.CodeForbidden) || !strings.Contains(err.Error(), "use vault: it is a private session")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.MayUsePrivate(t.Context(), "vault"); err != nil {
		t.Errorf("the engine itself: %v", err)
	}
}
