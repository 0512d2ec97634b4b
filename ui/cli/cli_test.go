package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a command line with a fake engine behind it.
type rig struct {
	t        *testing.T
	options  Options
	sessions []api.Process
	started  []api.SessionStartInput
	written  []api.SessionWriteInput
	looked   []api.SessionScreenInput
	removed  []string
	stopped  []api.EngineStopInput
	screen   api.Screen
	fakeProcesses
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	dir := shortDir(t)
	t.Setenv("TANDEM_DATA_DIR", dir)
	r.serve(dir)
	connect := func(ctx context.Context) (*api.Client, error) {
		return api.Connect(ctx, api.ConnectOptions{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options = Options{Version: "1.2.3", Connect: connect, Reach: connect, Stdin: strings.NewReader(""),
		Environ: []string{"TERM=xterm-256color", "SHELL=/bin/sh", "LANG=C.UTF-8"}}
	return r
}

func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve runs the fake engine until the test ends.
func (r *rig) serve(dir string) {
	socket, _ := api.Sockets(dir)
	listener, err := api.Listen(socket)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	mux := r.mux()
	go func() { served <- mux.Serve(ctx, listener) }()
	r.t.Cleanup(func() {
		stop()
		<-served
	})
}

func (r *rig) mux() *api.Mux {
	mux := api.NewMux()
	api.Handle(mux, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{EnginePID: 10, KeeperPID: 11, Version: "1.2.3", Protocol: api.Protocol, DataDir: "/data",
			Socket: "/data/tandem.sock", BootID: "boot", Running: len(r.sessions)}, nil
	})
	api.Handle(mux, api.EngineStop, func(_ context.Context, in api.EngineStopInput) (api.Empty, error) {
		r.stopped = append(r.stopped, in)
		return api.Empty{}, nil
	})
	api.Handle(mux, api.SessionStart, func(_ context.Context, in api.SessionStartInput) (api.Process, error) {
		r.started = append(r.started, in)
		return api.Process{ID: "0123456789ab", Kind: api.KindSession, Name: "new", State: api.StateRunning}, nil
	})
	api.Handle(mux, api.SessionList, func(context.Context, api.Empty) (api.SessionListOutput, error) {
		return api.SessionListOutput{Sessions: r.sessions}, nil
	})
	api.Handle(mux, api.SessionWrite, func(_ context.Context, in api.SessionWriteInput) (api.Empty, error) {
		r.written = append(r.written, in)
		return api.Empty{}, nil
	})
	api.Handle(mux, api.SessionScreen, func(_ context.Context, in api.SessionScreenInput) (api.Screen, error) {
		r.looked = append(r.looked, in)
		return r.screen, r.find(in.ID)
	})
	api.Handle(mux, api.SessionGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{ID: "0123456789ab", Name: in.ID}, r.find(in.ID)
	})
	api.Handle(mux, api.SessionKill, func(_ context.Context, in api.IDInput) (api.Process, error) {
		return api.Process{Name: in.ID, State: api.StateStopped, ExitSignal: "SIGHUP"}, r.find(in.ID)
	})
	api.Handle(mux, api.ProcessRemove, func(_ context.Context, in api.IDInput) (api.Empty, error) {
		r.removed = append(r.removed, in.ID)
		return api.Empty{}, r.find(in.ID)
	})
	r.handleProcesses(mux)
	mux.HandleAttach(func(_ context.Context, _ api.AttachOptions, v *api.Viewer) error {
		code := 3
		if err := v.Send(api.Output{Bytes: []byte("bye")}); err != nil {
			return err
		}
		return v.Send(api.Output{Ended: &api.Process{Name: "work", State: api.StateExited, ExitCode: &code}})
	})
	return mux
}

func (r *rig) find(id string) error {
	if id == "nobody" {
		return api.Errorf(api.CodeNotFound, "find session %q: there is none", id).WithHint("`tandem ls` lists them")
	}
	return nil
}

// run runs a command line.
func (r *rig) run(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	var out, err bytes.Buffer
	o := r.options
	o.Stdout, o.Stderr = &out, &err
	status = Main(r.t.Context(), o, args)
	return out.String(), err.String(), status
}

// succeeds runs a command line that has to go well and gives its output.
func (r *rig) succeeds(args ...string) string {
	r.t.Helper()
	stdout, stderr, status := r.run(args...)
	if status != 0 || stderr != "" {
		r.t.Fatalf("tandem %q: status %d, %q", args, status, stderr)
	}
	return stdout
}

func readJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func code(n int) *int { return &n }

func TestNewStartsASessionAndPrintsItsID(t *testing.T) {
	r := newRig(t)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.succeeds("new"); got != "0123456789ab\n" {
		t.Errorf("new prints %q", got)
	}
	r.succeeds("new", "--name", "build", "--cwd", "/tmp", "--size", "100x30", "--", "make", "--watch", "-n")
	r.succeeds("new", "sh", "-c", "exit 7")
	environ := map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	want := []api.SessionStartInput{
		{CWD: cwd, Environ: environ},
		{Command: []string{"make", "--watch", "-n"}, Name: "build", CWD: "/tmp", Cols: 100, Rows: 30, Environ: environ},
		{Command: []string{"sh", "-c", "exit 7"}, CWD: cwd, Environ: environ},
	}
	for i := range want {
		want[i].Environ = map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	}
	if diff := cmp.Diff(want, r.started); diff != "" {
		t.Error(diff)
	}
	if got := readJSON(t, r.succeeds("new", "--json")).(map[string]any)["id"]; got != "0123456789ab" {
		t.Errorf("new --json has id %v", got)
	}
}

func TestSendTypesTextThenKeysThenEnter(t *testing.T) {
	r := newRig(t)
	r.succeeds("send", "build", "echo", "a  b")
	r.succeeds("send", "build", "--enter", "make")
	r.succeeds("send", "build", "--keys", "ctrl+c up  enter")
	r.succeeds("send", "build", "--enter", "--", "-n")
	r.succeeds("send", "build", "--json", "--enter")
	want := []api.SessionWriteInput{
		{ID: "build", Text: "echo a  b"},
		{ID: "build", Text: "make", Keys: []string{"enter"}},
		{ID: "build", Keys: []string{"ctrl+c", "up", "enter"}},
		{ID: "build", Text: "-n", Keys: []string{"enter"}},
		{ID: "build", Keys: []string{"enter"}},
	}
	if diff := cmp.Diff(want, r.written); diff != "" {
		t.Error(diff)
	}
}

func TestScreenPrintsWhatASessionShows(t *testing.T) {
	r := newRig(t)
	r.screen = api.Screen{Cols: 80, Rows: 4, Lines: []string{"\x1b[31mred\x1b[0m", "", "two", "", ""}}
	if got := r.succeeds("screen", "build", "--ansi"); got != "\x1b[31mred\x1b[0m\x1b[0m\n\x1b[0m\ntwo\x1b[0m\n" {
		t.Errorf("screen --ansi prints %q", got)
	}
	r.screen.Lines = []string{"one", "wide 你好"}
	if got := r.succeeds("screen", "build", "--scrollback", "7"); got != "one\nwide 你好\n" {
		t.Errorf("screen prints %q", got)
	}
	if got := readJSON(t, r.succeeds("screen", "build", "--json")).(map[string]any)["lines"]; len(got.([]any)) != 2 {
		t.Errorf("screen --json has lines %v", got)
	}
	want := []api.SessionScreenInput{{ID: "build", ANSI: true}, {ID: "build", Scrollback: 7}, {ID: "build"}}
	if diff := cmp.Diff(want, r.looked); diff != "" {
		t.Error(diff)
	}
}

func TestListShowsTheLiveFirstInAlignedColumns(t *testing.T) {
	r := newRig(t)
	start := time.Now().Add(-90 * time.Second)
	r.processes = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "old", State: api.StateExited, ExitCode: code(7), CWD: "/", Command: "make", StartedAt: start},
		{ID: "bbbbbbbbbbbb", Name: "你好", State: api.StateRunning, PID: 42, CWD: "/srv", Command: "vim \x1b[31mx", StartedAt: start},
		{ID: "cccccccccccc", Name: "c", State: api.StateStopped, ExitSignal: "SIGHUP", CWD: "/", Command: "sh", StartedAt: start},
	}
	want := "ID            NAME  STATE           PID  AGE  FOLDER  COMMAND\n" +
		"bbbbbbbbbbbb  你好  running         42   1m   /srv    vim ^[[31mx\n" +
		"aaaaaaaaaaaa  old   exited 7        -    1m   /       make\n" +
		"cccccccccccc  c     stopped SIGHUP  -    1m   /       sh\n"
	if diff := cmp.Diff(want, r.succeeds("ls")); diff != "" {
		t.Error(diff)
	}
	rows := readJSON(t, r.succeeds("ls", "--json")).([]any)
	for _, key := range []string{"id", "kind", "name", "state", "pid", "cwd", "command", "exit_code"} {
		if _, ok := rows[0].(map[string]any)[key]; !ok {
			t.Errorf("ls --json has no %q", key)
		}
	}
	if got := rows[1].(map[string]any)["exit_code"]; got != 7.0 {
		t.Errorf("the exit code is %v", got)
	}
}

func TestEmptyListSaysWhatToDo(t *testing.T) {
	r := newRig(t)
	stdout, stderr, status := r.run("ls")
	if stdout != "" || status != 0 || !strings.Contains(stderr, "tandem new") {
		t.Errorf("ls prints %q and %q, status %d", stdout, stderr, status)
	}
	if got := r.succeeds("ls", "--json"); got != "[]\n" {
		t.Errorf("ls --json prints %q", got)
	}
}

func TestKillAndRemoveGoOnAfterAFailure(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("kill", "a", "b"); got != "a: stopped SIGHUP\nb: stopped SIGHUP\n" {
		t.Errorf("kill prints %q", got)
	}
	stdout, stderr, status := r.run("kill", "a", "nobody", "b")
	if status != 1 || stdout != "a: stopped SIGHUP\nb: stopped SIGHUP\n" ||
		stderr != "tandem: find session \"nobody\": there is none\nhint: `tandem ls` lists them\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if got := readJSON(t, r.succeeds("kill", "--json", "a")).([]any); len(got) != 1 {
		t.Errorf("kill --json prints %v", got)
	}
	if got := r.succeeds("rm", "a", "b"); got != "" || !cmp.Equal(r.removed, []string{"a", "b"}) {
		t.Errorf("rm prints %q and removes %q", got, r.removed)
	}
	if _, stderr, status := r.run("rm", "nobody", "nobody"); status != 1 || strings.Count(stderr, "tandem: ") != 2 {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestInfoTellsPidsAndPaths(t *testing.T) {
	r := newRig(t)
	text := r.succeeds("info")
	for _, want := range []string{"1.2.3", "10", "11", "/data/tandem.sock"} {
		if !strings.Contains(text, want) {
			t.Errorf("info has no %q: %s", want, text)
		}
	}
	info := readJSON(t, r.succeeds("info", "--json")).(map[string]any)
	for _, key := range []string{"engine_pid", "keeper_pid", "version", "data_dir", "socket", "boot_id"} {
		if _, ok := info[key]; !ok {
			t.Errorf("info --json has no %q", key)
		}
	}
}

func TestShutdownAsksBeforeItEndsAnything(t *testing.T) {
	r := newRig(t)
	r.succeeds("shutdown")
	r.succeeds("shutdown", "--all") // nothing runs
	r.sessions = []api.Process{{ID: "a", State: api.StateRunning}}
	if _, stderr, status := r.run("shutdown", "--all"); status != 2 || !strings.Contains(stderr, "--yes") {
		t.Errorf("without a terminal: status %d, %q", status, stderr)
	}
	r.succeeds("shutdown", "--all", "--yes", "--json")
	want := []api.EngineStopInput{{}, {All: true}, {All: true}}
	if diff := cmp.Diff(want, r.stopped); diff != "" {
		t.Error(diff)
	}
	for answer, status := range map[string]int{"n\n": 1, "\n": 1, "y\n": 0} {
		master, slave := openTerminal(t)
		if _, err := io.WriteString(master, answer); err != nil {
			t.Fatal(err)
		}
		r.options.Stdin = slave
		before := len(r.stopped)
		if _, stderr, got := r.run("shutdown", "--all"); got != status || !strings.Contains(stderr, "[y/N]") {
			t.Errorf("answered %q: status %d, %q", answer, got, stderr)
		}
		if stopped := len(r.stopped) > before; stopped != (status == 0) {
			t.Errorf("answered %q: stopped is %v", answer, stopped)
		}
	}
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		slave.Close()
		master.Close()
	})
	return master, slave
}

func TestShutdownWithoutAnEngineIsDone(t *testing.T) {
	r := newRig(t)
	t.Setenv("TANDEM_DATA_DIR", shortDir(t))
	r.options.Reach = nil
	stdout, stderr, status := r.run("shutdown")
	if status != 0 || stdout != "" || stderr != "no engine is running\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestAttachTellsHowTheSessionEnded(t *testing.T) {
	r := newRig(t)
	master, slave := openTerminal(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, master)
	}()
	var stderr bytes.Buffer
	o := r.options
	o.Stdin, o.Stdout, o.Stderr = slave, slave, &stderr
	if status := Main(t.Context(), o, []string{"attach", "work"}); status != 0 {
		t.Errorf("status %d", status)
	}
	if stderr.String() != "work has ended: exited 3\n" {
		t.Errorf("attach says %q", &stderr)
	}
	slave.Close()
	<-done
}

func TestAttachRefusesWhatIsNoTerminal(t *testing.T) {
	r := newRig(t)
	_, stderr, status := r.run("attach", "work")
	if status != 1 || !strings.Contains(stderr, "have to be a terminal\nhint: ") {
		t.Errorf("status %d, %q", status, stderr)
	}
	_, slave := openTerminal(t)
	o := r.options
	var errs bytes.Buffer
	o.Stdin, o.Stdout, o.Stderr, o.Environ = slave, slave, &errs, []string{"TERM=dumb"}
	if status := Main(t.Context(), o, []string{"attach", "work"}); status != 1 || !strings.Contains(errs.String(), "TERM") {
		t.Errorf("status %d, %q", status, &errs)
	}
}

func TestAttachRefusesTheSessionThatItRunsIn(t *testing.T) {
	r := newRig(t)
	_, slave := openTerminal(t)
	o := r.options
	var errs bytes.Buffer
	o.Stdin, o.Stdout, o.Stderr = slave, slave, &errs
	o.Environ = append(o.Environ, "TANDEM_SESSION_ID=0123456789ab")
	status := Main(t.Context(), o, []string{"attach", "work"})
	if status != 1 || !strings.HasPrefix(errs.String(), "tandem: attach to work: this terminal is that session\nhint: ") {
		t.Errorf("status %d, %q", status, &errs)
	}
}

func TestWordsThatAreNotUnderstoodAreUsageErrors(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"frobnicate"}, "frobnicate"},
		{[]string{"atach"}, "did you mean `tandem attach`?"},
		{[]string{"ls", "--frobnicate"}, "--frobnicate"},
		{[]string{"ls", "x"}, "takes no \"x\""},
		{[]string{"attach"}, "which session"},
		{[]string{"attach", "a", "b"}, "takes no \"b\""},
		{[]string{"send"}, "which session"},
		{[]string{"send", "a"}, "send what"},
		{[]string{"send", "a", "--keys", "ctrl+foo"}, "ctrl+foo"},
		{[]string{"screen"}, "which session"},
		{[]string{"screen", "a", "--scrollback", "-1"}, "-1"},
		{[]string{"screen", "a", "--scrollback", "x"}, "x"},
		{[]string{"kill"}, "which session"},
		{[]string{"rm"}, "which session"},
		{[]string{"new", "--size", "80"}, "80x24"},
		{[]string{"new", "--size", "80x24x"}, "80x24"},
		{[]string{"new", "--size", "0x5"}, "80x24"},
		{[]string{"completion"}, "which shell"},
		{[]string{"completion", "tcsh"}, "no script for tcsh"},
		{[]string{"help", "nosuch"}, "no verb"},
		{[]string{"help", "completion", "tcsh"}, "no verb"},
		{[]string{"screen", "a", "--scrollback", "many"}, "read --scrollback many: want a whole number\n"},
		{[]string{"screen", "a", "--scrollback", "99999999999999999999"}, "too large"},
		{[]string{"play", "a", "--speed", "fast"}, "read -s, --speed fast: want a number\n"},
		{[]string{"ls", "--json=perhaps"}, "want true or false"},
	} {
		stdout, stderr, status := r.run(c.args...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "tandem: ") || !strings.Contains(stderr, c.says) ||
			!strings.Contains(stderr, "\nhint: ") {
			t.Errorf("%q: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	if len(r.started)+len(r.written) > 0 {
		t.Error("something was done all the same")
	}
}

func TestErrorsOfTheEngineHaveTheirHintOnALineOfItsOwn(t *testing.T) {
	r := newRig(t)
	_, stderr, status := r.run("screen", "nobody")
	if status != 1 || stderr != "tandem: find session \"nobody\": there is none\nhint: `tandem ls` lists them\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestRootOpensTheDashboard(t *testing.T) {
	r := newRig(t)
	opened := 0
	r.options.Dashboard = func(context.Context) error {
		opened++
		return nil
	}
	r.succeeds()
	if opened != 1 {
		t.Errorf("the dashboard was opened %d times", opened)
	}
}

func TestVersionAndHelp(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("--version"); got != "tandem 1.2.3\n" {
		t.Errorf("--version prints %q", got)
	}
	for _, c := range New(r.options).Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		help := r.succeeds(c.Name(), "--help")
		for _, want := range []string{"Usage\n  tandem " + c.Name(), "Examples\n  ", "--json", c.Example[:6]} {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s has no %q: %s", c.Name(), want, help)
			}
		}
		if !strings.Contains(r.succeeds("--help"), "  "+c.Name()) {
			t.Errorf("the help does not list %s", c.Name())
		}
		for line := range strings.Lines(help) {
			if len([]rune(line)) > 100 {
				t.Errorf("the help of %s has a long line: %q", c.Name(), line)
			}
		}
	}
}

func TestCompletionOffersSessions(t *testing.T) {
	r := newRig(t)
	r.sessions = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "build", State: api.StateRunning, Command: "make\x1b"},
		{ID: "bbbbbbbbbbbb", Name: "old", State: api.StateExited, ExitCode: code(1), Command: "sh"},
		{ID: "cccccccccccc", Name: "two words", State: api.StateRunning, Command: "sh"},
		{ID: "dddddddddddd", Name: "build", State: api.StateExited, ExitCode: code(0), Command: "make"},
	}
	r.processes = append(r.sessions, api.Process{ID: "eeeeeeeeeeee", Name: "waits", State: api.StateBackoff, Command: "false"})
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"attach", ""}, []string{"build\trunning: make^[", "cccccccccccc\ttwo words, running: sh"}},
		{[]string{"attach", "a"}, []string{"aaaaaaaaaaaa\tbuild, running: make^["}},
		{[]string{"attach", "build", ""}, nil},
		{[]string{"rm", ""}, []string{"old\texited 1: sh", "dddddddddddd\tbuild, exited 0: make"}},
		{[]string{"rm", "old", "b"}, nil},
		{[]string{"kill", "x", "b"}, []string{"build\trunning: make^["}},
		{[]string{"kill", "build", "b"}, nil},
		{[]string{"restart", "o"}, []string{"old\texited 1: sh"}},
		{[]string{"wait", "o"}, nil},
		{[]string{"stop", "w"}, []string{"waits\tbackoff: false"}},
		{[]string{"signal", "w"}, nil},
	} {
		out, _, status := r.run(append([]string{"__complete"}, c.args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var got []string
		if len(lines) > 1 {
			got = lines[:len(lines)-1]
		}
		if diff := cmp.Diff(c.want, got); diff != "" || status != 0 || lines[len(lines)-1] != ":4" {
			t.Errorf("%q: status %d, %q: %s", c.args, status, out, diff)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := r.succeeds("completion", shell); !strings.Contains(got, "tandem") {
			t.Errorf("completion %s prints %q", shell, got)
		}
	}
}

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	r := newRig(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	o := r.options
	var stderr bytes.Buffer
	o.Stdout, o.Stderr = full, &stderr
	if status := Main(t.Context(), o, []string{"info"}); status != 1 || !strings.Contains(stderr.String(), "write to standard output") {
		t.Errorf("status %d, %q", status, &stderr)
	}
}

func TestVisibleShowsWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 你 👩‍👩‍👧":    "plain é 你 👩‍👩‍👧",
		"a\x1b[31mb\rc\x7f":  "a^[[31mb^Mc^?",
		"\u009b31m":          `\u009b31m`,
		"bad \xff\xfe":       `bad \xff\xfe`,
		"\u202etxt.exe":      `\u202etxt.exe`,
		"two\nlines":         "two^Jlines",
		"\ue0b0 main \uf418": "\ue0b0 main \uf418",
		"a\u00a0b\u2028c":    "a\u00a0b\\u2028c",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("visible(%q) = %q", s, got)
			}
		}
		if again := visible(got); again != got {
			t.Fatalf("visible(%q) is %q, and of that %q", s, got, again)
		}
	})
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	r := newRig(t)
	text := r.succeeds("doctor")
	for _, want := range []string{"ok    data folder", "ok    engine", "version 1.2.3, pid 10", "ok    keeper", "warn  terminal", "ok    shell"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor has no %q:\n%s", want, text)
		}
	}
	dir := os.Getenv("TANDEM_DATA_DIR")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "processes", "aaaaaaaaaaaa")
	if err := os.MkdirAll(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "record.json.bad"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{
		"bbbbbbbbbbbb": `{"schema":1,"id":"bbbbbbbbbbbb","na`,
		"cccccccccccc": `{"schema":1,"id":"cccccccccccc"}`,
		"dddddddddddd": `{"schema":2}`,
		"eeeeeeeeeeee": "",
	} {
		if err := os.Mkdir(filepath.Join(dir, "processes", id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "processes", id, "record.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.options.Version = "1.3.0"
	r.options.Environ = []string{"SHELL=/no/shell", "LANG=C"}
	stdout, stderr, status := r.run("doctor")
	if status != 1 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, want := range []string{"warn  data folder", "chmod 700", "warn  engine", "this program is 1.3.0", "3 of 5 are damaged",
		"warn  locale", "fail  shell"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("doctor has no %q:\n%s", want, stdout)
		}
	}
	stdout, _, _ = r.run("doctor", "--json")
	for _, f := range readJSON(t, stdout).([]any) {
		row := f.(map[string]any)
		if row["status"] != "ok" && row["fix"] == nil {
			t.Errorf("%v has no fix", row)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".doctor-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("doctor leaves %q, %v", left, err)
	}
}

func TestDoctorWorksWithoutAnEngineAndStartsNone(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(shortDir(t), "data")
	t.Setenv("TANDEM_DATA_DIR", dir)
	r.options.Reach, r.options.Connect = nil, nil
	if text := r.succeeds("doctor"); !strings.Contains(text, "not running") || !strings.Contains(text, "will be made") {
		t.Errorf("doctor prints %s", text)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("doctor made the data folder: %v", err)
	}
	file := filepath.Join(shortDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TANDEM_DATA_DIR", file)
	if stdout, _, status := r.run("doctor"); status != 1 || !strings.Contains(stdout, "fail  data folder") {
		t.Errorf("status %d, %s", status, stdout)
	}
}

func TestLoginManagerSettingsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logind.conf")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if killsUserProcesses(path) {
		t.Error("a file that is not there kills")
	}
	write(path, "[Login]\n#KillUserProcesses=yes\n")
	if killsUserProcesses(path) {
		t.Error("a comment kills")
	}
	write(path, "[Login]\nKillUserProcesses=yes\n")
	if !killsUserProcesses(path) {
		t.Error("yes does not kill")
	}
	write(path+".d/90.conf", "[Login]\nKillUserProcesses = no\n")
	if killsUserProcesses(path) {
		t.Error("the last file does not count")
	}
}
