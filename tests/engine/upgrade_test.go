package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// If the new program cannot run as the engine, the former one continues and no session is lost.
func TestFailedUpgradeLeavesTheFormerEngine(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program string
		same    bool // the process goes on
	}{
		"no program":     {program: "not a program", same: true},
		"no interpreter": {program: "#!/nonexistent\n", same: true},
		"truncated":      {program: string(whole[:len(whole)/3])},
		"exits":          {program: "#!/bin/sh\nexit 3\n"},
		"does not serve": {program: "#!/bin/sh\nexec sleep 1000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startMachine(t)
			p, before := m.start("cat"), m.info()
			next := filepath.Join(t.TempDir(), "next")
			writeProgram(t, next, c.program)
			call(m, api.EngineStop, api.EngineStopInput{Replace: next, InPlace: true})
			m.awaitNextEngine(before)
			if now := m.info(); (now.EnginePID == before.EnginePID) != c.same || now.KeeperPID != before.KeeperPID {
				t.Errorf("engine %d and keeper %d followed %d and %d", now.EnginePID, now.KeeperPID, before.EnginePID, before.KeeperPID)
			}
			m.write(p.ID, "still here\r")
			m.awaitScreen(p.ID, "still here")
			if now := m.getProcess(p.ID); now.PID != p.PID {
				t.Errorf("the session is %+v", now)
			}

			// The keeper does not try that program again.
			before = m.info()
			wait.Kill(t, before.EnginePID)
			m.awaitNextEngine(before)
			if running, err := os.Readlink("/proc/" + strconv.Itoa(m.info().EnginePID) + "/exe"); err != nil || !strings.HasPrefix(running, exe) {
				t.Errorf("the engine runs %s: %v", running, err)
			}
		})
	}
}

func TestUpgradeKeepsProcessLocksAndTerminals(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p, before := m.start("cat"), m.info()
	for range 3 {
		m.restart()
	}
	if now := m.info(); now.EnginePID != before.EnginePID || now.KeeperPID != before.KeeperPID {
		t.Errorf("engine %d and keeper %d followed %d and %d", now.EnginePID, now.KeeperPID, before.EnginePID, before.KeeperPID)
	}
	files := m.files(before.EnginePID)
	for range 3 {
		m.restart()
	}
	if now := m.files(before.EnginePID); now > files+3 {
		t.Errorf("%d files are open after more upgrades, %d before", now, files)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(before.EnginePID) + "/environ")
	if err != nil || strings.Count(string(environ), "TANDEM_INHERITED=") != 1 {
		t.Errorf("its environment is %q: %v", environ, err)
	}

	// A keeper that the engine started is its child, also after an upgrade.
	unix.Kill(before.KeeperPID, unix.SIGKILL)
	m.awaitNextKeeper(before.KeeperPID)
	m.restart()
	second := m.info().KeeperPID
	unix.Kill(second, unix.SIGKILL)
	m.awaitNextKeeper(second)
	m.eventually("the exit of the killed keeper to be collected", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(second))
		return errors.Is(err, os.ErrNotExist)
	})
	m.write(p.ID, "still here\r")
	m.awaitScreen(p.ID, "still here")
}
