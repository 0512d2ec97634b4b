package dashboard

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"tandem/engine/screen/vt"
	"tandem/tests/harness"
	"tandem/tests/wait"
	"testing"
)

// A terminalState contains the settings of a terminal that programs change.
type terminalState struct {
	alt   bool
	kitty uint8 // keyboard flags of the alternate screen, pushed by programs
	title string
}

func readState(t *harness.Terminal) (s terminalState) {
	t.Emulator(func(screen *vt.Terminal) {
		s.alt, s.title = screen.Modes().Alt, screen.Title()
		if !s.alt {
			screen.Write([]byte("\x1b[?47h"))
			s.kitty = screen.Modes().Kitty
			screen.Write([]byte("\x1b[?47l"))
		}
	})
	return s
}

func TestStoppedDashboardRestoresTerminal(t *testing.T) {
	t.Parallel()
	env, dir := harness.Stage(t)
	first := exec.Command(os.Args[0], "new", "--name", "work")
	first.Env, first.Dir = env, dir
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, who := range []struct {
		name string
		args []string
	}{
		{"dashboard", nil},
		{"attach", []string{"attach", "work"}},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP} {
			t.Run(fmt.Sprint(who.name, " ", signal), func(t *testing.T) { stopAndContinue(t, env, dir, who.args, signal) })
		}
	}
}

func stopAndContinue(t *testing.T, env []string, dir string, args []string, signal syscall.Signal) {
	screen, err := harness.StartTerminal(120, 36, env, dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	harness.Await(t, screen, "ready>")
	press := func(keys ...string) {
		t.Helper()
		if err := screen.Press(keys...); err != nil {
			t.Fatal(err)
		}
	}
	press(`:printf '\033[>5u'; clear; echo here-$((1+1))`, "enter")
	harness.Await(t, screen, "here-2")
	pid := screen.PID()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	awaitStop(t, pid)
	if signal == syscall.SIGTSTP {
		awaitRestored(t, screen)
	} else { // so that the text appears again only after the program has taken the terminal back
		screen.Emulator(func(screen *vt.Terminal) { screen.Write([]byte("\x1b[2J")) })
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, screen, "here-2")
	press(`:clear; printf '\033[<u'; echo back-$((1+1))`, "enter")
	harness.Await(t, screen, "back-2")
	leave(t, screen)
}

// awaitStop waits until a process is stopped by a signal.
func awaitStop(t *testing.T, pid int) {
	t.Helper()
	wait.Poll(t, "the program to stop", func() (stopped, done bool) {
		stopped = harness.IsStopped(pid)
		return stopped, stopped
	})
}

// awaitRestored waits until the program has restored the terminal's modes.
func awaitRestored(t *testing.T, screen *harness.Terminal) {
	t.Helper()
	wait.Poll(t, "the terminal to be restored", func() (terminalState, bool) {
		state := readState(screen)
		return state, state == terminalState{}
	})
}

// leave detaches and checks that the terminal is restored.
func leave(t *testing.T, screen *harness.Terminal) {
	t.Helper()
	if err := screen.Press("ctrl+b", "d"); err != nil {
		t.Fatal(err)
	}
	if status, err := screen.ExitStatus(); err != nil || status != 0 {
		t.Errorf("exited with %d: %v", status, err)
	}
	if got := readState(screen); got != (terminalState{}) {
		t.Errorf("left the terminal as %+v", got)
	}
}
