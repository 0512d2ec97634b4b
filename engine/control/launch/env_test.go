package launch

import (
	"maps"
	"testing"
)

func TestPrivateSessionsAndTheirShellsHaveNoHistoryFile(t *testing.T) {
	env := map[string]string{"HISTFILE": "/home/me/.history", "A": "1"}
	setPrivacy(env, true)
	if want := map[string]string{"HISTFILE": "/dev/null", "fish_history": "", "TANDEM_PRIVATE": "1", "A": "1"}; !maps.Equal(env, want) {
		t.Errorf("in a private session: %v", env)
	}
	setPrivacy(env, false)
	if want := map[string]string{"A": "1"}; !maps.Equal(env, want) {
		t.Errorf("in a session started from it: %v", env)
	}
	setPrivacy(env, false)
	env["HISTFILE"] = "/dev/null"
	if setPrivacy(env, false); env["HISTFILE"] != "/dev/null" {
		t.Error("the user's own setting is removed")
	}
}
