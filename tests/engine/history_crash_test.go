package engine

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/needs"
)

func TestHistoryHasCommandsExitingJustBeforeTheEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for i := range 8 {
		engine := m.info().EnginePID
		line := fmt.Sprintf("exit %d", i+1)
		call(m, api.Exec, api.ExecInput{Command: sh(line)})
		p := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", fmt.Sprint(1000 + i)}})
		if err := unix.Kill(engine, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		rows := m.history(api.HistorySearchInput{})
		if len(rows) != 2*(i+1) || rows[0].Process != p.ID || rows[0].DurationMS != -1 || rows[1].Command.Command != line ||
			rows[1].ExitCode == nil || *rows[1].ExitCode != i+1 {
			t.Fatalf("after %d engine exits: %+v", i+1, rows)
		}
	}
}
