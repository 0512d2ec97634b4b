package api

import (
	"testing"
	"time"
)

func TestExitedLoginShellDoesNotCountAsFailed(t *testing.T) {
	code, began := 1, time.Unix(1_700_000_000, 0)
	ended := began.Add(time.Hour)
	for _, argv := range [][]string{{"bash"}, {"-bash"}, {"/bin/zsh", "-l"}, {"-zsh"}} {
		p := Process{Kind: KindSession, Argv: argv, State: StateExited, ExitCode: &code, StartedAt: began, ExitedAt: &ended}
		if !p.leftShell() {
			t.Errorf("%q counts as failed", argv)
		}
	}
}
