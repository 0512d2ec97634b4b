package engine

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// TestSessionsAreOfferedAfterAnyShutdown ends programs, engine and keeper in several orders, and
// restores the sessions. One of the programs turns the hangup into exit 1, as some shells do, and
// one ignores it. supervise tests all orders without processes.
func TestSessionsAreOfferedAfterAnyShutdown(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{
		{}, // a power failure
		{"term engine", "kill keeper", "programs", "kill engine"},
		{"programs", "end both"},
	} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			m := startMachine(t)
			m.pinned = true
			inside, outside := t.TempDir(), t.TempDir()
			confined := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, Sandbox: &api.Sandbox{
				Filesystem: api.SandboxFilesystem{AllowWrite: []string{inside}},
			}})
			sessions := []api.Process{
				m.start("sh", "-c", "trap 'exit 1' HUP; echo ready; while :; do sleep 0.01; done"),
				m.start("sh", "-c", "trap '' HUP; echo ready; exec sleep 1000"),
				m.start("bash", "--norc", "--noprofile"),
			}
			for _, p := range sessions[:2] {
				m.awaitScreen(p.ID, "ready")
			}
			full := tabsOf(sessions)
			call(m, api.LayoutChanges, arrangeTabs(full))
			for _, step := range order {
				m.shutDown(step, sessions)
			}
			m.reboot()
			for _, p := range sessions {
				if now := m.awaitEnd(p.ID); now.Interrupted == nil {
					t.Errorf("%s became %+v, interrupted by %+v", p.Command, now, now.Interrupted)
				}
				if isRunning(p.PID) { // in this simulation it survives the reboot
					unix.Kill(p.PID, unix.SIGKILL)
				}
			}
			m.wantRestored(sessions[0], "$ trap 'exit 1'")
			m.wantRestored(confined, "$ cat")
			m.write(confined.ID, "\x15cd "+inside+"; echo x > "+outside+"/f || echo den''ied; echo x > f && echo all''owed\n")
			m.awaitScreen(confined.ID, "denied")
			m.awaitScreen(confined.ID, "allowed")
			if got := call(m, api.LayoutGet, api.Empty{}).Current; got == nil || !reflect.DeepEqual(got.Tabs[:1], full.Tabs) {
				t.Errorf("the layout is %+v", got)
			}
		})
	}
}

// wantRestored restores an interrupted session and awaits what its shell shows.
func (m *machine) wantRestored(p api.Process, shows string) {
	m.Helper()
	out := call(m, api.SessionRestore, api.SessionRestoreInput{IDs: []string{p.ID}, Environ: map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": m.dir, "TERM": "xterm-256color", "PS1": "$ ",
	}})
	if len(out.Restored) != 1 || out.Restored[0].Process.ID != p.ID {
		m.Fatalf("restored %+v", out)
	}
	m.awaitScreen(p.ID, shows)
}

// shutDown does one step of a shutdown.
func (m *machine) shutDown(step string, sessions []api.Process) {
	m.Helper()
	before := m.info()
	switch step {
	case "programs":
		for _, p := range sessions {
			unix.Kill(p.PID, unix.SIGHUP)
		}
		m.awaitEnd(sessions[0].ID)
		wait.Exit(m, sessions[0].PID)
		call(m, api.LayoutChanges, addTabs("other")) // by a dashboard that saw them
	case "term engine", "kill engine":
		signal := map[string]unix.Signal{"term engine": unix.SIGTERM, "kill engine": unix.SIGKILL}[step]
		unix.Kill(before.EnginePID, signal)
		m.awaitNextEngine(before)
	case "end both":
		unix.Kill(before.KeeperPID, unix.SIGKILL)
		unix.Kill(before.EnginePID, unix.SIGTERM)
		wait.Exit(m, before.KeeperPID)
		wait.Exit(m, before.EnginePID)
		m.activate()
	case "kill keeper":
		wait.Kill(m, before.KeeperPID)
		m.awaitNextKeeper(before.KeeperPID)
	}
}
