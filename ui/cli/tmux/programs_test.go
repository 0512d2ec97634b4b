package tmux

import (
	"testing"

	"tandem/engine/api"
)

func TestSessionNameIsMadeValidAndUnique(t *testing.T) {
	e := &engine{processes: map[string]api.Process{
		"a": {Name: "~-src-app", State: api.StateRunning}, "b": {Name: "work", State: api.StateExited},
	}}
	for name, want := range map[string]string{"~/src/app": "~-src-app-2", "work": "work", "`x` ": "x", "\x1b[1m": "[1m", "$(": ""} {
		if got := e.freeName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
