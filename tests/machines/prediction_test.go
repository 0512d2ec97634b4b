package machines

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tandem/engine/styled"
	"tandem/tests/harness"
)

// A farSession is a session of a machine far away, in a terminal here.
type farSession struct {
	*harness.Machines
	*harness.Terminal
	hold string
}

// attachFarAway attaches to a shell on a machine behind a long way.
func attachFarAway(t *testing.T, args ...string) *farSession {
	f := showFarAway(t, 80, "", append([]string{"--host", "far", "attach", "work"}, args...)...)
	f.types("ctrl+b", ":?")
	known := regexp.MustCompile(`far: round trip \d+\.\dms, prediction \w+; ctrl\+b d detaches`)
	if err := f.WaitFor(known.MatchString); err != nil {
		t.Fatal(err)
	}
	return f
}

// showFarAway starts a shell on a machine behind a long way, and what shows it here.
func showFarAway(t *testing.T, cols int, conf string, args ...string) *farSession {
	t.Helper()
	p := harness.NewMachines(t, 0)
	hold := filepath.Join(p.Dir, "hold")
	p.Configure(conf + p.Add("far", slowLink+"="+hold))
	p.Must("--host", "far", "new", "--name", "work")
	screen := harness.OpenTerminal(t, cols, 24, p.Env, p.Dir, args...)
	t.Cleanup(func() { _ = os.Remove(hold) }) // a held link would delay the machine's shutdown
	harness.Await(t, screen, "ready>")
	return &farSession{p, screen, hold}
}

// keep keeps what the machine sends on the way, until release.
func (f *farSession) keep() {
	f.Helper()
	if err := os.WriteFile(f.hold, nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *farSession) release() {
	f.Helper()
	if err := os.Remove(f.hold); err != nil {
		f.Fatal(err)
	}
}

// sees waits for a row in which the text behind the prompt is plain, then underlined.
func (f *farSession) sees(plain, underlined string) {
	f.TB.Helper()
	if err := f.WaitFor(func(string) bool { return f.shows(plain, underlined) }); err != nil {
		f.Fatalf("waiting for %q and %q underlined: %v", plain, underlined, err)
	}
}

func (f *farSession) shows(plain, underlined string) bool {
	for _, line := range f.Lines() {
		var is [2]strings.Builder
		for _, run := range line.Line.Runs {
			which := &is[0]
			if run.Style.Underline != styled.UnderlineNone {
				which = &is[1]
			}
			which.WriteString(run.Text)
		}
		if strings.TrimRight(is[0].String(), " ") == plain && is[1].String() == underlined {
			return true
		}
	}
	return false
}

func (f *farSession) types(keys ...string) {
	f.Helper()
	if err := f.Press(keys...); err != nil {
		f.Fatal(err)
	}
}

// dashboardFarAway shows such a shell in a dashboard, in a pane that fills the screen.
func dashboardFarAway(t *testing.T, conf string) *farSession {
	f := showFarAway(t, 120, conf)
	opens(t, f.Terminal, "far", "work")
	f.types("ctrl+b", ":z")
	f.sees("ready>", "")
	return f
}

func TestKeysAreShownUnderlinedUntilTheMachineHasEchoedThem(t *testing.T) {
	t.Parallel()
	f := attachFarAway(t)
	f.echoesLate()
}

func TestDashboardUnderlinesKeysUntilTheirEcho(t *testing.T) {
	t.Parallel()
	f := dashboardFarAway(t, "")
	f.echoesLate()
}

// predicts types behind a plain text until that is shown before it has been echoed, and takes
// it back: where a machine is slow, an echo may come too late for a guess to be believed.
func (f *farSession) predicts(plain string) {
	f.Helper()
	for guessed := false; !guessed; {
		f.types(":x")
		err := f.WaitFor(func(string) bool {
			guessed = f.shows(plain, "x")
			return guessed || f.shows(plain+" x", "")
		})
		if err != nil {
			f.Fatal(err)
		}
		f.types("backspace")
		f.sees(plain, "")
	}
}

func (f *farSession) echoesLate() {
	f.Helper()
	f.types(":echo ")
	f.sees("ready> echo", "")
	f.predicts("ready> echo")
	f.keep()
	f.types(":fax")
	f.sees("ready> echo", "fax")
	f.types("backspace", ":r")
	f.sees("ready> echo", "far")
	f.release()
	f.sees("ready> echo far", "")
	f.types("enter")
	harness.Await(f.TB, f.Terminal, "\nfar")
	f.sees("ready>", "")
}

func TestWrongPredictionDisappears(t *testing.T) {
	t.Parallel()
	f := attachFarAway(t, "--predict", "always")
	f.keepsSecrets()
}

func TestDashboardShowsNoPredictionWithoutEcho(t *testing.T) {
	t.Parallel()
	f := dashboardFarAway(t, "[attach]\npredict = \"always\"\n")
	f.keepsSecrets()
}

func (f *farSession) keepsSecrets() {
	f.Helper()
	f.types(":stty -echo; printf 'password> '; read x; stty echo; echo got-$x", "enter")
	harness.Await(f.TB, f.Terminal, "\npassword>")
	f.keep()
	f.types(":secret")
	f.release()
	f.types("enter")
	harness.Await(f.TB, f.Terminal, "got-secret")
	if screen, _ := f.Text(); strings.Contains(screen, "password> s") {
		f.Errorf("the password was shown:\n%s", screen)
	}
	f.types(":echo ")
	f.sees("ready> echo", "")
	f.types(":; stty -echo; echo quiet; exec sed -u s/.*/taken/")
	f.sees("ready> echo ; stty -echo; echo quiet; exec sed -u s/.*/taken/", "")
	f.types("enter")
	f.sees("quiet", "") // from here on nothing is echoed
	f.types(":typed in vain", "enter")
	f.sees("taken", "")
	if screen, _ := f.Text(); strings.Contains(screen, "vain") {
		f.Errorf("what has no echo is shown:\n%s", screen)
	}
}

func TestKeysThatAMachineDoesNotAnswerAreCounted(t *testing.T) {
	t.Parallel()
	f := attachFarAway(t, "--predict", "off")
	f.types(":echo a")
	f.sees("ready> echo a", "")
	f.keep()
	f.types(":12345")
	harness.Await(t, f.Terminal, "far has not answered for ")
	harness.Await(t, f.Terminal, " keys wait; ctrl+b d detaches")
	f.release()
	f.sees("ready> echo a12345", "")
	if err := f.WaitFor(func(s string) bool { return !strings.Contains(s, "detaches") }); err != nil {
		t.Error(err)
	}
	f.types("ctrl+b", ":d")
	harness.Await(t, f.Terminal, "detached from work")
}

func TestKeysTypedWhileTheMachineIsAwayWaitForIt(t *testing.T) {
	t.Parallel()
	f := attachFarAway(t)
	f.types(":echo a")
	f.sees("ready> echo a", "")
	f.keep()
	for _, pid := range f.BridgePIDs("far") {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	harness.Await(t, f.Terminal, "far is offline")
	f.types(":bc")
	harness.Await(t, f.Terminal, " keys wait; ctrl+b d detaches")
	f.release()
	f.Must("machine", "connect", "far")
	f.types("enter")
	harness.Await(t, f.Terminal, "\nabc")
}
