package logs

import (
	"bytes"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/ui/cli/output"
)

func TestEndNoteDescribesHowAProcessEnded(t *testing.T) {
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

// Lines may be written after the end of the log is read and before following begins.
func TestGrepWithoutEarlierLinesPrintsNewOnes(t *testing.T) {
	var out bytes.Buffer
	p := newMergePrinter(output.Printer{Stdout: &out}, flags{grep: "x", context: 1, lines: 0})
	p.alone = true
	for _, text := range []string{"x", "after"} {
		if err := p.add(logmerge.Line{Source: &logmerge.Source{}, Text: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.endBacklog(); err != nil || out.String() != "x\nafter\n" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}
