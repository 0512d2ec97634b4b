package machines

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/wait"
)

// openSession opens a session of another machine in a dashboard, by its name.
func openSession(t *testing.T, screen *harness.Terminal, machine, name string) {
	t.Helper()
	harness.Press(t, screen, "ctrl+b", "s")
	harness.Await(t, screen, "enter open")
	harness.Press(t, screen, "/", "ctrl+u", ":"+name, "enter")
	harness.Await(t, screen, "● "+name)
	harness.Press(t, screen, "G", "enter")
	harness.Await(t, screen, "─ "+machine+"/"+name)
}

// While the engine of one of twenty machines is stopped, a dashboard must not wait for it:
// requests to the other machines are answered before that engine continues.
func TestStoppedMachineDelaysNoOtherInADashboard(t *testing.T) {
	t.Parallel()
	const count = 20
	p := harness.NewMachines(t, count)
	p.Must("exec", "--all-hosts", "--", "true")
	p.Must("--host", "m1", "new", "--name", "near", "--", "sh", "-c", "echo near-shown; exec cat")
	p.Must("--host", "m20", "new", "--name", "stuck", "--", "sh", "-c", "echo stuck-shown; exec cat")
	screen, err := harness.StartTerminal(120, 60, p.Env, p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	harness.Await(t, screen, "ready>")
	harness.Await(t, screen, fmt.Sprintf("%d machines", count))
	openSession(t, screen, "m20", "stuck")
	harness.Await(t, screen, "stuck-shown")
	pid := p.EnginePID("m20")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	harness.Press(t, screen, ":typed-meanwhile", "enter")

	openSession(t, screen, "m1", "near")
	harness.Await(t, screen, "near-shown")
	for i := range 20 {
		harness.Press(t, screen, fmt.Sprintf(":k%d;", i))
		harness.Await(t, screen, fmt.Sprintf("k%d;", i))
	}
	p.Must("--host", "m2", "start", "--name", "seen", "--", "sleep", "1000")
	harness.Await(t, screen, "3 running")
	harness.Await(t, screen, fmt.Sprintf("%d machines, 1 offline", count))
	harness.Press(t, screen, "enter")
	if err := screen.WaitFor(func(s string) bool { return strings.Count(s, "k18;k19;") == 2 }); err != nil {
		t.Fatal(err) // the typed row and cat's copy, which would otherwise come between the next keys
	}
	harness.Press(t, screen, ":after-away")
	harness.Await(t, screen, "after-away")
	harness.Press(t, screen, "ctrl+b", "M")
	harness.Await(t, screen, "enter choose what to do")
	if err := screen.WaitFor(func(s string) bool { return hasRow(s, "m20", "away") && hasRow(s, "m1 ", "connected") }); err != nil {
		t.Error(err)
	}
	harness.Press(t, screen, "esc")
	if !harness.IsStopped(pid) {
		t.Fatal("the engine of m20 was continued too early")
	}

	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.AwaitState("m20", api.MachineConnected)
	wait.Poll(t, "the keys typed meanwhile to arrive once", func() (string, bool) {
		screen := p.Must("--host", "m20", "screen", "stuck")
		return screen, hasRow(screen, "typed-meanwhile")
	})
}

// hasRow reports whether one line of text contains all parts.
func hasRow(text string, parts ...string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(row string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(row, part) })
	})
}

// startTransfer opens a dashboard that copies a large file to the folder to on the machine m1, whose
// bridge has a variable in its environment.
func startTransfer(t *testing.T, p *harness.Machines, variable string) (screen *harness.Terminal, want []byte, to string) {
	t.Helper()
	p.Configure(p.Add("m1", variable))
	from, to := filepath.Join(p.Dir, "from"), filepath.Join(p.Dir, "to")
	for _, dir := range []string{from, to} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want = []byte(harness.MakeLines((maxCuts + 1) * cutAfter))
	if err := os.WriteFile(filepath.Join(from, "big"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Must("--host", "m1", "ps")
	screen = harness.OpenDashboard(t, 120, 30, p.Env, from)
	harness.Await(t, screen, "1 machine")
	harness.Press(t, screen, "ctrl+b", "alt+4")
	harness.Await(t, screen, "big")
	harness.Press(t, screen, "C", "ctrl+u", ":m1:"+to+"/", "enter")
	return screen, want, to
}

// checkTransferred waits until the file of startTransfer has its name. Nothing else may be there.
func checkTransferred(t *testing.T, to string, want []byte) {
	t.Helper()
	whole := filepath.Join(to, "big")
	wait.File(t, whole)
	if got, err := os.ReadFile(whole); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d arrived: %v", len(got), len(want), err)
	}
	if left, _ := os.ReadDir(to); len(left) != 1 {
		t.Errorf("temporary files left: %v", left)
	}
}

// A transfer to another machine continues over the next link after one breaks. The file gets its
// name only once it is complete.
func TestTransferSurvivesALostLink(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	cuts := filepath.Join(p.Dir, "cuts")
	_, want, to := startTransfer(t, p, cutLink+"="+cuts)
	checkTransferred(t, to, want)
	if text, err := os.ReadFile(cuts); err != nil || strings.Count(string(text), "cut") != maxCuts {
		t.Errorf("the file was complete after links %q, want %d cuts: %v", text, maxCuts, err)
	}
}

func TestTransferContinuesWithoutTheDashboard(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	hold := filepath.Join(p.Dir, "hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	screen, want, to := startTransfer(t, p, holdLink+"="+hold)
	wait.Poll(t, "the first piece", func() ([]os.DirEntry, bool) {
		begun, _ := os.ReadDir(to)
		return begun, len(begun) == 1
	})
	harness.Press(t, screen, "ctrl+b", "d")
	if status, err := screen.ExitStatus(); status != 0 || err != nil {
		t.Fatalf("the dashboard exited with %d, %v", status, err)
	}
	if _, err := os.Stat(filepath.Join(to, "big")); err == nil {
		t.Fatal("the transfer was complete before the dashboard exited")
	}
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	checkTransferred(t, to, want)
}
