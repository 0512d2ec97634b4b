package history

import (
	"tandem/engine/api"
	"tandem/ui/cli/output"
	"testing"
)

func TestStoppedCommandsAreNotShownAsFailures(t *testing.T) {
	one := 1
	for _, test := range []struct {
		command api.Command
		want    string
		tint    output.Tint
	}{
		{api.Command{ExitSignal: "SIGTERM", Stopped: true}, "stopped", output.Plain},
		{api.Command{ExitCode: &one, Stopped: true}, "stopped", output.Plain},
		{api.Command{ExitSignal: "SIGTERM"}, "SIGTERM", output.Red},
		{api.Command{ExitCode: &one}, "1", output.Red},
	} {
		if got, ink := output.CommandEnd(test.command); got != test.want || ink != test.tint {
			t.Errorf("%+v: %q", test.command, got)
		}
	}
}
