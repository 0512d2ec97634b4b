package machines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/screen/styled"
	"tandem/tests/harness"
)

// A remoteSession is a session of a distant machine, shown in a local terminal.
type remoteSession struct {
	*harness.Machines
	*harness.Terminal
	hold string
}

// attachRemote attaches to a shell on a machine behind a slow link.
func attachRemote(t *testing.T, args ...string) *remoteSession {
	f := startRemote(t, 80, "", append([]string{"--host", "far", "attach", "work"}, args...)...)
	// Once the machine has answered, the note cannot disappear before the round trip is known.
	f.typeKeys(":x")
	f.awaitRow("ready> x", "")
	f.typeKeys("backspace")
	f.awaitRow("ready>", "")
	f.typeKeys("ctrl+b", ":?")
	harness.AwaitNotice(t, f.Terminal, `far: round trip \d+\.\dms, prediction \w+; ctrl\+b d detaches`)
	return f
}

// startRemote starts a shell on a machine behind a slow link, and a local program to show it.
func startRemote(t *testing.T, cols int, conf string, args ...string) *remoteSession {
	t.Helper()
	p := harness.NewMachines(t, 0)
	hold := filepath.Join(p.Dir, "hold")
	p.Configure(conf + p.Add("far", slowLink+"="+hold))
	p.Must("--host", "far", "new", "--name", "work")
	screen := harness.OpenTerminal(t, cols, 24, p.Env, p.Dir, args...)
	t.Cleanup(func() { _ = os.Remove(hold) }) // a held link would delay the machine's shutdown
	harness.Await(t, screen, "ready>")
	return &remoteSession{p, screen, hold}
}

// holdOutput delays the machine's output until releaseOutput.
func (f *remoteSession) holdOutput() {
	f.Helper()
	if err := os.WriteFile(f.hold, nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *remoteSession) releaseOutput() {
	f.Helper()
	if err := os.Remove(f.hold); err != nil {
		f.Fatal(err)
	}
}

// awaitRow waits for a row with this plain and this underlined text, the prompt included.
func (f *remoteSession) awaitRow(plain, underlined string) {
	f.TB.Helper()
	if err := f.WaitFor(func(string) bool { return f.hasRow(plain, underlined) }); err != nil {
		f.Fatalf("waiting for %q and %q underlined: %v", plain, underlined, err)
	}
}

func (f *remoteSession) hasRow(plain, underlined string) bool {
	for _, line := range f.Lines() {
		var text [2]strings.Builder
		for _, run := range line.Line.Runs {
			target := &text[0]
			if run.Style.Underline != styled.UnderlineNone {
				target = &text[1]
			}
			target.WriteString(run.Text)
		}
		if strings.TrimRight(text[0].String(), " ") == plain && text[1].String() == underlined {
			return true
		}
	}
	return false
}

func (f *remoteSession) typeKeys(keys ...string) {
	f.Helper()
	if err := f.Press(keys...); err != nil {
		f.Fatal(err)
	}
}

// openRemoteInDashboard shows a shell of a machine behind a slow link in a zoomed pane of a
// dashboard.
func openRemoteInDashboard(t *testing.T, conf string) *remoteSession {
	f := startRemote(t, 120, conf)
	openSession(t, f.Terminal, "far", "work")
	f.typeKeys("ctrl+b", ":z")
	f.awaitRow("ready>", "")
	return f
}

func TestKeysAreShownUnderlinedUntilTheMachineHasEchoedThem(t *testing.T) {
	t.Parallel()
	f := attachRemote(t)
	f.checkLateEcho()
}

func TestDashboardUnderlinesKeysUntilTheirEcho(t *testing.T) {
	t.Parallel()
	f := openRemoteInDashboard(t, "")
	f.checkLateEcho()
}

// typeUntilPredicted types after the row plain until the key is shown before its echo, and
// deletes it. On a slow machine an echo may come too late for predictions to be trusted.
func (f *remoteSession) typeUntilPredicted(plain string) {
	f.Helper()
	for guessed := false; !guessed; {
		f.typeKeys(":x")
		err := f.WaitFor(func(string) bool {
			guessed = f.hasRow(plain, "x")
			return guessed || f.hasRow(plain+" x", "")
		})
		if err != nil {
			f.Fatal(err)
		}
		f.typeKeys("backspace")
		f.awaitRow(plain, "")
	}
}

func (f *remoteSession) checkLateEcho() {
	f.Helper()
	f.typeKeys(":echo ")
	f.awaitRow("ready> echo", "")
	f.typeUntilPredicted("ready> echo")
	f.holdOutput()
	f.typeKeys(":fax")
	f.awaitRow("ready> echo", "fax")
	f.typeKeys("backspace", ":r")
	f.awaitRow("ready> echo", "far")
	f.releaseOutput()
	f.awaitRow("ready> echo far", "")
	f.typeKeys("enter")
	harness.Await(f.TB, f.Terminal, "\nfar")
	f.awaitRow("ready>", "")
}

func TestWrongPredictionDisappears(t *testing.T) {
	t.Parallel()
	f := attachRemote(t, "--predict", "always")
	f.checkHiddenInput()
}

func TestDashboardShowsNoPredictionWithoutEcho(t *testing.T) {
	t.Parallel()
	f := openRemoteInDashboard(t, "[attach]\npredict = \"always\"\n")
	f.checkHiddenInput()
}

func (f *remoteSession) checkHiddenInput() {
	f.Helper()
	f.typeKeys(":stty -echo; printf 'password> '; read x; stty echo; echo got-$x", "enter")
	harness.Await(f.TB, f.Terminal, "\npassword>")
	f.holdOutput()
	f.typeKeys(":secret")
	f.releaseOutput()
	f.typeKeys("enter")
	harness.Await(f.TB, f.Terminal, "got-secret")
	if screen, _ := f.Text(); strings.Contains(screen, "password> s") {
		f.Errorf("the password was shown:\n%s", screen)
	}
	f.typeKeys(":echo ")
	f.awaitRow("ready> echo", "")
	f.typeKeys(":; stty -echo; echo quiet; exec sed -u s/.*/taken/")
	f.awaitRow("ready> echo ; stty -echo; echo quiet; exec sed -u s/.*/taken/", "")
	f.typeKeys("enter")
	f.awaitRow("quiet", "") // from here on there is no echo
	f.typeKeys(":typed in vain", "enter")
	f.awaitRow("taken", "")
	if screen, _ := f.Text(); strings.Contains(screen, "vain") {
		f.Errorf("input without echo is shown:\n%s", screen)
	}
}

func TestKeysThatAMachineDoesNotAnswerAreCounted(t *testing.T) {
	t.Parallel()
	f := attachRemote(t, "--predict", "off")
	f.typeKeys(":echo a")
	f.awaitRow("ready> echo a", "")
	f.holdOutput()
	f.typeKeys(":12345")
	harness.Await(t, f.Terminal, "far has not answered for ")
	harness.Await(t, f.Terminal, " keys wait; ctrl+b d detaches")
	f.releaseOutput()
	f.awaitRow("ready> echo a12345", "")
	if err := f.WaitFor(func(s string) bool { return !strings.Contains(s, "detaches") }); err != nil {
		t.Error(err)
	}
	f.typeKeys("ctrl+b", ":d")
	harness.Await(t, f.Terminal, "detached from work")
}

func TestKeysTypedWhileTheMachineIsAwayWaitForIt(t *testing.T) {
	t.Parallel()
	f := attachRemote(t)
	f.typeKeys(":echo a")
	f.awaitRow("ready> echo a", "")
	f.holdOutput()
	for _, pid := range f.BridgePIDs("far") {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	harness.Await(t, f.Terminal, "far is offline")
	f.typeKeys(":bc")
	harness.Await(t, f.Terminal, " keys wait; ctrl+b d detaches")
	f.releaseOutput()
	f.Must("machine", "connect", "far")
	f.typeKeys("enter")
	harness.Await(t, f.Terminal, "\nabc")
}
