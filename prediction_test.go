package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/engine/styled"
)

// longWay in the environment of `tandem bridge` makes the link through it slow. Its
// value names a file: what comes from the machine waits as long as that exists.
const longWay = "TANDEM_TEST_LONG_WAY"

// oneWay is how long each way is.
const oneWay = 40 * time.Millisecond

// bridgeFarAway runs a bridge at the other end of a long way.
func bridgeFarAway(hold string) int {
	os.Unsetenv(longWay)
	cmd := exec.Command("/proc/self/exe", "bridge")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	go func() {
		delay(in, os.Stdin, "")
		in.Close()
	}()
	delay(os.Stdout, out, hold)
	cmd.Process.Kill()
	cmd.Wait()
	return 0
}

// delay copies what comes, each piece some time later.
func delay(to io.Writer, from io.Reader, hold string) {
	type piece struct {
		data []byte
		due  time.Time
	}
	way := make(chan piece, 1<<10)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			way <- piece{data[:n], time.Now().Add(oneWay)}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		<-time.After(time.Until(p.due))
		for held(hold) {
			<-time.After(oneWay / 8)
		}
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}

func held(hold string) bool {
	_, err := os.Stat(hold)
	return hold != "" && err == nil
}

// A farSession is a session of a machine far away, in a terminal here.
type farSession struct {
	*park
	*terminal
	hold string
}

// attachFarAway attaches to a shell on a machine behind a long way.
func attachFarAway(t *testing.T, args ...string) *farSession {
	f := showFarAway(t, 80, "", append([]string{"--host", "far", "attach", "work"}, args...)...)
	f.types("ctrl+b", ":?")
	known := regexp.MustCompile(`far: round trip \d+\.\dms, prediction \w+; ctrl\+b d detaches`)
	if err := f.waitFor(known.MatchString); err != nil {
		t.Fatal(err)
	}
	return f
}

// showFarAway starts a shell on a machine behind a long way, and what shows it here.
func showFarAway(t *testing.T, cols int, conf string, args ...string) *farSession {
	t.Helper()
	p := newPark(t, 0)
	hold := filepath.Join(p.dir, "hold")
	p.configure(conf + "[machines.far]\ntransport = [\"" + os.Args[0] + "\", \"bridge\"]\nenv = { TANDEM_DATA_DIR = \"" + p.data("far") +
		"\", XDG_CONFIG_HOME = \"" + filepath.Join(p.dir, "none") + "\", " + longWay + " = \"" + hold + "\" }\n")
	t.Cleanup(func() {
		cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
		cmd.Env = append(p.env, "TANDEM_DATA_DIR="+p.data("far"))
		_ = cmd.Run() // it may never have run
	})
	p.must("--host", "far", "new", "--name", "work")
	screen, err := startTerminal(cols, 24, p.env, p.dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.close)
	t.Cleanup(func() { _ = os.Remove(hold) }) // before the machine is to end
	await(t, screen, "ready>")
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
	f.T.Helper()
	if err := f.waitFor(func(string) bool { return f.shows(plain, underlined) }); err != nil {
		f.Fatalf("waiting for %q and %q underlined: %v", plain, underlined, err)
	}
}

func (f *farSession) shows(plain, underlined string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, first, end := f.screen.Bounds()
	for _, line := range f.screen.Lines(first, int(end-first)) {
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
	if err := f.press(keys...); err != nil {
		f.Fatal(err)
	}
}

// dashboardFarAway shows such a shell in a dashboard, in a pane that fills the screen.
func dashboardFarAway(t *testing.T, conf string) *farSession {
	f := showFarAway(t, 120, conf)
	opens(t, f.terminal, "far", "work")
	f.types("ctrl+b", ":z")
	f.sees("ready>", "")
	return f
}

func TestKeysAreShownUnderlinedUntilTheMachineHasEchoedThem(t *testing.T) {
	f := attachFarAway(t)
	f.echoesLate()
}

func TestADashboardShowsKeysUnderlinedUntilTheMachineHasEchoedThem(t *testing.T) {
	f := dashboardFarAway(t, "")
	f.echoesLate()
}

// predicts types behind a plain text until that is shown before it has been echoed, and takes
// it back: where a machine is slow, an echo may come too late for a guess to be believed.
func (f *farSession) predicts(plain string) {
	f.Helper()
	for guessed := false; !guessed; {
		f.types(":x")
		err := f.waitFor(func(string) bool {
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
	await(f.T, f.terminal, "\nfar")
	f.sees("ready>", "")
}

func TestAGuessThatIsWrongVanishes(t *testing.T) {
	f := attachFarAway(t, "--predict", "always")
	f.keepsSecrets()
}

func TestADashboardShowsNoGuessWhereNothingIsEchoed(t *testing.T) {
	f := dashboardFarAway(t, "[attach]\npredict = \"always\"\n")
	f.keepsSecrets()
}

func (f *farSession) keepsSecrets() {
	f.Helper()
	f.types(":stty -echo; printf 'password> '; read x; stty echo; echo got-$x", "enter")
	await(f.T, f.terminal, "\npassword>")
	f.keep()
	f.types(":secret")
	f.release()
	f.types("enter")
	await(f.T, f.terminal, "got-secret")
	if screen, _ := f.text(); strings.Contains(screen, "password> s") {
		f.Errorf("the password was shown:\n%s", screen)
	}
	f.types(":echo ")
	f.sees("ready> echo", "")
	f.types(":; stty -echo; exec cat >/dev/null")
	f.sees("ready> echo ; stty -echo; exec cat >/dev/null", "")
	f.types("enter")
	f.types(":typed in vain")
	f.sees("", "")
	if screen, _ := f.text(); strings.Contains(screen, "vain") {
		f.Errorf("what has no echo is shown:\n%s", screen)
	}
}

func TestKeysThatAMachineDoesNotAnswerAreCounted(t *testing.T) {
	f := attachFarAway(t, "--predict", "off")
	f.types(":echo a")
	f.sees("ready> echo a", "")
	f.keep()
	f.types(":12345")
	await(t, f.terminal, "far has not answered for ")
	await(t, f.terminal, " keys wait; ctrl+b d detaches")
	f.release()
	f.sees("ready> echo a12345", "")
	if err := f.waitFor(func(s string) bool { return !strings.Contains(s, "detaches") }); err != nil {
		t.Error(err)
	}
	f.types("ctrl+b", ":d")
	await(t, f.terminal, "detached from work")
}

func TestKeysTypedWhileTheMachineIsAwayWaitForIt(t *testing.T) {
	f := attachFarAway(t)
	f.types(":echo a")
	f.sees("ready> echo a", "")
	f.keep()
	for _, pid := range bridges(f.data("far")) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	await(t, f.terminal, "far is away")
	f.types(":bc")
	await(t, f.terminal, " keys wait; ctrl+b d detaches")
	f.release()
	f.must("machine", "connect", "far")
	f.types("enter")
	await(t, f.terminal, "\nabc")
}
