package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/tests/wait"
)

// scriptTerminal returns the terminal with the given name in a script.
func scriptTerminal(ts *testscript.TestScript, name string) *Terminal {
	t, ok := ts.Value("terminals").(map[string]*Terminal)[name]
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
	t, err := StartTerminal(cols, rows, scriptEnviron(ts), ts.MkAbs("."), args[2:]...)
	ts.Check(err)
	ts.Value("terminals").(map[string]*Terminal)[args[0]] = t
}

// keys NAME KEY… presses keys: names as in "ctrl+b", or text in quotes after
// a colon as in ":echo hello".
func scriptKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys NAME KEY…")
	}
	ts.Check(scriptTerminal(ts, args[0]).Press(args[1:]...))
	for _, key := range args[1:] {
		if !strings.HasPrefix(key, ":") {
			*ts.Value("pressed").(*int)++
		}
	}
}

// atmost N fails if more than N keys, not counting typed text, were pressed
// since its last use.
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

// screen NAME REGEXP waits until the screen matches; negated, until it does not. It is for what
// stays: notice waits for a message in the status bar, which disappears by itself.
func scriptScreen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] screen NAME REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	ts.Check(scriptTerminal(ts, args[0]).WaitFor(func(screen string) bool { return re.MatchString(screen) != neg }))
}

// resize NAME COLSxROWS changes the size of a terminal.
func scriptResize(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: resize NAME COLSxROWS")
	}
	cols, rows := parseSize(ts, args[1])
	ts.Check(scriptTerminal(ts, args[0]).Resize(cols, rows))
}

// left NAME STATUS waits until the program in a terminal exits with STATUS.
func scriptLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: left NAME STATUS")
	}
	status, err := scriptTerminal(ts, args[0]).ExitStatus()
	ts.Check(err)
	if strconv.Itoa(status) != args[1] {
		ts.Fatalf("terminal %s exited with status %d, want %s", args[0], status, args[1])
	}
}

// crash engine|keeper|both|TERMINAL kills a process with SIGKILL and waits for its exit.
func scriptCrash(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crash engine|keeper|both|TERMINAL")
	}
	switch args[0] {
	case "engine":
		wait.Kill(ts, scriptInfo(ts).EnginePID)
	case "keeper":
		wait.Kill(ts, scriptInfo(ts).KeeperPID)
	case "both":
		info := scriptInfo(ts)
		ts.Check(syscall.Kill(info.EnginePID, syscall.SIGSTOP)) // or it would start another keeper
		wait.Kill(ts, info.KeeperPID)
		wait.Kill(ts, info.EnginePID)
	default:
		t := scriptTerminal(ts, args[0])
		ts.Check(syscall.Kill(t.PID(), syscall.SIGKILL))
		_, err := t.ExitStatus()
		ts.Check(err)
	}
}

func scriptInfo(ts *testscript.TestScript) (info api.Info) {
	cmd := exec.Command("/proc/self/exe", "info", "--json")
	cmd.Env = scriptEnviron(ts)
	out, err := cmd.Output()
	ts.Check(err)
	ts.Check(json.Unmarshal(out, &info))
	return info
}

// eventually COMMAND… REGEXP runs tandem until its output matches. It is for changes that neither
// screen nor await nor tandem wait can see.
func scriptEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually COMMAND… REGEXP")
	}
	re := regexp.MustCompile("(?m)" + args[len(args)-1])
	command := args[:len(args)-1]
	wait.Poll(ts, fmt.Sprintf("tandem %s to print %s", strings.Join(command, " "), re), func() (string, bool) {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/proc/self/exe", command...)
		cmd.Env, cmd.Dir = scriptEnviron(ts), ts.MkAbs(".")
		out, _ := cmd.CombinedOutput()
		return string(out), re.Match(out)
	})
}

// save VAR keeps the last output, trimmed, in an environment variable.
func scriptSave(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: save VAR")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// release VERSION makes $WORK/tandem-VERSION, a copy of this program with that version.
func scriptRelease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: release VERSION")
	}
	program, err := os.ReadFile("/proc/self/exe")
	ts.Check(err)
	ts.Check(WriteExecutable(ts.MkAbs("tandem-"+args[0]), program))
}

// WriteExecutable writes a program. It holds ForkLock, because a child forked meanwhile would
// inherit the file open for writing, and executing it would fail.
func WriteExecutable(path string, program []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, program, 0o755)
}

// stalesocket PATH… leaves behind sockets without a listener.
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

// mouse NAME [shift+]click|drag X Y [X Y] presses the left button at a cell
// (counted from 0) and releases it there or at another; doubleclick does so twice
// there; mouse NAME wheel X Y turns the wheel up.
func scriptMouse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 && len(args) != 6 {
		ts.Fatalf("usage: mouse NAME [shift+]click X Y | doubleclick X Y | drag X Y X Y | wheel X Y")
	}
	var at []int
	for _, arg := range args[2:] {
		n, err := strconv.Atoi(arg)
		ts.Check(err)
		at = append(at, n)
	}
	if args[1] == "wheel" {
		_, err := fmt.Fprintf(scriptTerminal(ts, args[0]), "\x1b[<64;%d;%dM", at[0]+1, at[1]+1)
		ts.Check(err)
		return
	}
	// A press, perhaps a move, and a release.
	e := keys.Mouse{X: at[0], Y: at[1], Button: keys.ButtonLeft}
	if args[1] == "shift+click" || args[1] == "shift+drag" {
		e.Mods = keys.Shift
	}
	events := []keys.Mouse{e}
	if len(at) == 4 {
		e.X, e.Y, e.Kind = at[2], at[3], keys.MouseMove
		events = append(events, e)
	}
	e.Kind = keys.MouseUp
	events = append(events, e)
	if args[1] == "doubleclick" {
		events = append(events, events...)
	}
	ts.Check(scriptTerminal(ts, args[0]).Point(events...))
}

// Point sends events of the left button in one write, so that the clicks of a double
// click arrive together however slow the machine is.
func (t *Terminal) Point(events ...keys.Mouse) error {
	var b strings.Builder
	for _, e := range events {
		final := 'M'
		if e.Kind == keys.MouseUp {
			final = 'm'
		}
		fmt.Fprintf(&b, "\x1b[<%d;%d;%d%c", SGRButton(e), e.X+1, e.Y+1, final)
	}
	_, err := t.Write([]byte(b.String()))
	return err
}

// SGRButton returns the button code of a left-button event in an SGR report.
func SGRButton(e keys.Mouse) (n int) {
	if e.Kind == keys.MouseMove {
		n += 32
	}
	if e.Mods&keys.Shift != 0 {
		n += 4
	}
	return n
}

// clipboard NAME REGEXP waits until the last copy to the clipboard matches.
func scriptClipboard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: clipboard NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	t := scriptTerminal(ts, args[0])
	if err := t.WaitFor(func(string) bool { return re.MatchString(t.Clipboard()) }); err != nil {
		ts.Fatalf("the clipboard holds %q: %v", t.Clipboard(), err)
	}
}
