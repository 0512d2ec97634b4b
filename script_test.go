package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/engine/api"
	"tandem/engine/fleet/hub/embedded"
	"tandem/ui/cli"
	fleetverbs "tandem/ui/cli/fleet"
)

// asProgram in the environment makes the test binary the program: clients,
// keepers and engines of the tests are all this one executable.
const asProgram = "TANDEM_TEST_AS_PROGRAM"

// patience bounds how long a test waits for something that must come.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if hold := os.Getenv(longWay); hold != "" && len(os.Args) > 1 && os.Args[1] == "bridge" {
		os.Exit(bridgeFarAway(hold))
	}
	if os.Getenv(asProgram) != "" {
		fleetverbs.Server = embedded.Start // as in released packages
		os.Exit(run(cli.Arguments(os.Args), versionOfExecutable()))
	}
	testscript.Main(m, map[string]func(){"tandem": func() {}})
}

// versionOfExecutable is version, or what a copy of the executable has in its
// name, as in tandem-2.0.0: the version that a hand-over is about must not
// come from the environment, which an engine has from another client.
func versionOfExecutable() string {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return version
	}
	if _, v, ok := strings.Cut(filepath.Base(path), "tandem-"); ok {
		return v
	}
	return version
}

func TestScripts(t *testing.T) {
	testscript.Run(t, scriptsOf(setUpScript, "testdata/scripts/*.txtar"))
}

// TestTour plays what the README shows.
func TestTour(t *testing.T) {
	for _, size := range []string{"80x24", "120x36", "200x60"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, scriptsOf(func(env *testscript.Env) error {
				env.Setenv("SIZE", size)
				return setUpScript(env)
			}, "docs/tour.txtar"))
		})
	}
}

// TestTheTourHasEveryCommandOfTheReadme holds the README to what is tried.
func TestTheTourHasEveryCommandOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	tour, err := os.ReadFile("docs/tour.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^tandem .*`).FindAllString(string(readme), -1) {
		command, _, _ := strings.Cut(line, "  #")
		command = strings.TrimSpace(command)
		if !strings.Contains(string(tour), command) && !strings.Contains(command, "--serve") { // see serve_test.go
			t.Errorf("docs/tour.txtar does not try %q", command)
		}
	}
}

// scriptsOf are scripts and what they can do.
func scriptsOf(setUp func(*testscript.Env) error, glob string) testscript.Params {
	files, _ := filepath.Glob(glob)
	return testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"dashboard":   scriptDashboard,
			"keys":        scriptKeys,
			"paste":       scriptPaste,
			"screen":      scriptScreen,
			"mouse":       scriptMouse,
			"clipboard":   scriptClipboard,
			"resize":      scriptResize,
			"left":        scriptLeft,
			"crash":       scriptCrash,
			"eventually":  scriptEventually,
			"release":     scriptRelease,
			"stalesocket": scriptStaleSocket,
			"save":        scriptSave,
			"atmost":      scriptAtMost,
		},
	}
}

// setUpScript gives a script a data folder, a plain shell and terminals of its
// own, and ends what it started.
func setUpScript(env *testscript.Env) error {
	data, err := os.MkdirTemp("", "td")
	if err != nil {
		return err
	}
	if err := hideTips(filepath.Join(data, "d")); err != nil {
		return err
	}
	terminals := map[string]*terminal{}
	env.Values["terminals"] = terminals
	env.Values["pressed"] = new(int)
	env.Setenv(asProgram, "1")
	env.Setenv("TANDEM_DATA_DIR", filepath.Join(data, "d"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(data, "config"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("ENV", "")
	env.Setenv("PS1", "ready> ")
	env.Setenv("TERM", "xterm-256color")
	env.Setenv("LANG", "C.UTF-8")
	env.Defer(func() {
		for _, t := range terminals {
			t.close()
		}
		shutDown(env)
		env.Setenv("TANDEM_DATA_DIR", filepath.Join(env.WorkDir, "other")) // of scripts that have two
		shutDown(env)
		os.RemoveAll(data)
	})
	return nil
}

// hideTips makes a data folder one of somebody who needs no tips.
func hideTips(dataDir string) error {
	if err := os.Mkdir(dataDir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dataDir, "tips.json"), []byte(`{"hidden":true}`), 0o600)
}

// shutDown ends a script's engine, keeper and sessions.
func shutDown(env *testscript.Env) {
	if _, err := os.Stat(env.Getenv("TANDEM_DATA_DIR")); err != nil {
		return
	}
	cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
	cmd.Env = env.Vars
	if out, err := cmd.CombinedOutput(); err != nil {
		env.T().Log(fmt.Sprintf("shut down: %v: %s", err, out))
	}
}

// environ is the environment of a script as it is now.
func environ(ts *testscript.TestScript) []string {
	names := []string{asProgram, "TANDEM_DATA_DIR", "XDG_CONFIG_HOME", "HOME", "SHELL", "ENV", "PS1",
		"TERM", "LANG", "PATH", "TMPDIR", "NO_COLOR", "EDITOR"}
	var vars []string
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			vars = append(vars, name+"="+value)
		}
	}
	return vars
}

func scriptTerminal(ts *testscript.TestScript, name string) *terminal {
	t, ok := ts.Value("terminals").(map[string]*terminal)[name]
	if !ok {
		ts.Fatalf("no terminal %q", name)
	}
	return t
}

// dashboard NAME COLSxROWS [ARG…] runs tandem in a new terminal.
func scriptDashboard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: dashboard NAME COLSxROWS [ARG…]")
	}
	cols, rows := parseSize(ts, args[1])
	t, err := startTerminal(cols, rows, environ(ts), ts.MkAbs("."), args[2:]...)
	ts.Check(err)
	ts.Value("terminals").(map[string]*terminal)[args[0]] = t
}

// keys NAME KEY… presses keys: names as in "ctrl+b", or text in quotes after
// a colon as in ":echo hello".
func scriptKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys NAME KEY…")
	}
	ts.Check(scriptTerminal(ts, args[0]).press(args[1:]...))
	for _, key := range args[1:] {
		if !strings.HasPrefix(key, ":") {
			*ts.Value("pressed").(*int)++
		}
	}
}

// atmost N fails if more than N keys, beside typed text, were pressed since it was
// used last.
func scriptAtMost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: atmost N")
	}
	pressed := ts.Value("pressed").(*int)
	if most, err := strconv.Atoi(args[0]); err != nil || *pressed > most {
		ts.Fatalf("%d keys were pressed, want %s at most", *pressed, args[0])
	}
	*pressed = 0
}

// paste NAME FILE pastes a file as a terminal would.
func scriptPaste(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: paste NAME FILE")
	}
	ts.Check(scriptTerminal(ts, args[0]).paste(ts.ReadFile(args[1])))
}

// screen NAME REGEXP waits until the screen matches; negated, until it does not.
func scriptScreen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] screen NAME REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	ts.Check(scriptTerminal(ts, args[0]).waitFor(func(screen string) bool { return re.MatchString(screen) != neg }))
}

// resize NAME COLSxROWS changes the size of a terminal.
func scriptResize(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: resize NAME COLSxROWS")
	}
	cols, rows := parseSize(ts, args[1])
	ts.Check(scriptTerminal(ts, args[0]).resize(cols, rows))
}

// left NAME STATUS waits until the program in a terminal has ended so.
func scriptLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: left NAME STATUS")
	}
	status, err := scriptTerminal(ts, args[0]).exitStatus()
	ts.Check(err)
	if strconv.Itoa(status) != args[1] {
		ts.Fatalf("terminal %s ended with status %d, want %s", args[0], status, args[1])
	}
}

// crash engine|keeper|both|TERMINAL kills a process with SIGKILL and waits for its end.
func scriptCrash(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crash engine|keeper|both|TERMINAL")
	}
	switch args[0] {
	case "engine":
		ts.Check(killAndWait(scriptInfo(ts).EnginePID))
	case "keeper":
		ts.Check(killAndWait(scriptInfo(ts).KeeperPID))
	case "both":
		info := scriptInfo(ts)
		ts.Check(syscall.Kill(info.EnginePID, syscall.SIGSTOP)) // so that it starts no keeper
		ts.Check(killAndWait(info.KeeperPID))
		ts.Check(killAndWait(info.EnginePID))
	default:
		t := scriptTerminal(ts, args[0])
		ts.Check(t.cmd.Process.Kill())
		_, err := t.exitStatus()
		ts.Check(err)
	}
}

func scriptInfo(ts *testscript.TestScript) (info api.Info) {
	cmd := exec.Command("/proc/self/exe", "info", "--json")
	cmd.Env = environ(ts)
	out, err := cmd.Output()
	ts.Check(err)
	ts.Check(json.Unmarshal(out, &info))
	return info
}

// killAndWait ends a process and returns when it is gone or a zombie.
func killAndWait(pid int) error {
	fd, err := pidfdOpen(pid)
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer syscall.Close(fd)
	if err := pidfdKill(fd); err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return pidfdWait(fd, patience)
}

// eventually COMMAND… runs tandem until its output matches the last argument,
// a regular expression.
func scriptEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually VERB… REGEXP")
	}
	re := regexp.MustCompile("(?m)" + args[len(args)-1])
	deadline := time.Now().Add(patience)
	var out []byte
	for time.Now().Before(deadline) {
		cmd := exec.Command("/proc/self/exe", args[:len(args)-1]...)
		cmd.Env, cmd.Dir = environ(ts), ts.MkAbs(".")
		out, _ = cmd.CombinedOutput()
		if re.Match(out) {
			return
		}
	}
	ts.Fatalf("tandem %s never matched %s; last:\n%s", strings.Join(args[:len(args)-1], " "), re, out)
}

// save VAR keeps the last output, trimmed, in an environment variable.
func scriptSave(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: save VAR")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// release VERSION makes $WORK/tandem-VERSION, this program as that version.
func scriptRelease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: release VERSION")
	}
	program, err := os.ReadFile("/proc/self/exe")
	ts.Check(err)
	ts.Check(writeExecutable(ts.MkAbs("tandem-"+args[0]), program))
}

// writeExecutable writes a program. A child that is forked meanwhile would have the file open
// for writing, and nobody could execute it.
func writeExecutable(path string, program []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, program, 0o755)
}

// stalesocket PATH… leaves sockets behind that nobody listens on.
func scriptStaleSocket(ts *testscript.TestScript, neg bool, args []string) {
	for _, path := range args {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: ts.MkAbs(path), Net: "unix"})
		ts.Check(err)
		l.SetUnlinkOnClose(false)
		ts.Check(l.Close())
	}
}

func parseSize(ts *testscript.TestScript, size string) (cols, rows int) {
	if n, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); n != 2 || err != nil {
		ts.Fatalf("size %q is not COLSxROWS", size)
	}
	return cols, rows
}
