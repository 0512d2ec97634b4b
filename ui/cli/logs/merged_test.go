package logs

import (
	"testing"

	"tandem/engine/api"
)

func TestEndNoteSaysHowAProcessEnded(t *testing.T) {
	status := 7
	for _, c := range []struct {
		p    api.Process
		want string
	}{
		{api.Process{}, "was removed"},
		{api.Process{ID: "x", State: api.StateExited, ExitCode: &status}, "exited with 7"},
		{api.Process{ID: "x", State: api.StateExited, ExitSignal: "SIGKILL"}, "was ended by SIGKILL"},
		{api.Process{ID: "x", State: api.StateStopped, ExitSignal: "SIGTERM"}, "was stopped"},
		{api.Process{ID: "x", State: api.StateFailed, Error: "no such program"}, "failed: no such program"},
		{api.Process{ID: "x", State: api.StateExited, ExitUnknown: true}, "exited; its status is unknown"},
	} {
		if got := endNote(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}
