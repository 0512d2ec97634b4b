package service

import (
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
)

func TestMarkedLineReportsTheExitCode(t *testing.T) {
	t.Parallel()
	const mark = "0123456789ab"
	for _, tc := range []struct {
		before, command string
		output          string
		code            int
	}{
		{"", "echo hi", "hi\n", 0},
		{"", "false", "", 1},
		{"false\n", "echo $?", "1\n", 0},
		{"echo open", "echo it's; (exit 3)", "open\nit's\n", 3},
		{"", "printf x; cat <<END\na\nEND", "xa\n", 0},
		{"", "echo a\necho b", "a\nb\n", 0},
	} {
		shell := exec.CommandContext(t.Context(), "/bin/sh")
		shell.Stdin = strings.NewReader(tc.before + markedLine(strings.ReplaceAll(tc.command, "it's", `"it's"`), mark))
		printed, err := shell.Output()
		if err != nil && tc.code == 0 {
			t.Errorf("%q: %v", tc.command, err)
		}
		code, end, ok := findMark(printed, mark)
		if !ok || code != tc.code || end != len(printed) {
			t.Errorf("%q printed %q: code %d, end %d, found %v", tc.command, printed, code, end, ok)
		}
		if !strings.HasPrefix(string(printed), tc.output+"\x1b]133;D;") {
			t.Errorf("%q printed %q, want %q", tc.command, printed, tc.output)
		}
	}
}

func TestFindMarkNeedsAWholeMark(t *testing.T) {
	t.Parallel()
	const mark = "0123456789ab"
	for data, want := range map[string]int{
		"":                                   0,
		"x\x1b]133;D;7;" + mark:              0,
		"x\x1b]133;D;7;ba9876543210\a":       0,
		"x\x1b]133;D;7;" + mark + "\ay":      24,
		"\x1b]133;D;255;" + mark + "\a\x1b]": 25,
		"x\x1b]133;D;no;" + mark + "\a":      0,
	} {
		if _, end, ok := findMark([]byte(data), mark); ok != (want > 0) || ok && end != want {
			t.Errorf("%q: end %d, found %v; want %d", data, end, ok, want)
		}
	}
}

// A fake shell can return these instead of an exit code: the command keeps running, or makes the
// shell exit with 3.
const (
	runs  = -1
	exits = -2
)

// fakeShell makes a shell without a terminal answer each input. answer returns the output before
// the mark, and the exit code, runs or exits.
func (r *rig) fakeShell(p api.Process, answer func(command string) (output string, code int)) {
	r.t.Helper()
	path := r.store.InputPath(p.ID)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		r.t.Fatal(err)
	}
	in, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { in.Close() })
	log, err := os.OpenFile(p.LogPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	marks := regexp.MustCompile(`"\$__tandem" ([0-9a-f]{12});`)
	go func() {
		defer log.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			text := string(buffer[:n])
			mark := marks.FindStringSubmatch(text)[1]
			output, code := answer(text)
			if code >= 0 {
				// In two parts, as a busy machine may print it.
				output += "\x1b]133;D;" + strconv.Itoa(code) + ";" + mark[:5]
				_, _ = log.WriteString(output)
				output = mark[5:] + "\a"
			}
			_, _ = log.WriteString(output)
			if code == exits {
				r.exit(p, 3)
			}
		}
	}()
}

func TestExecRunsCommandsInAShellWithoutATerminal(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Name: "shell", Command: []string{"sh"}, Stdin: true})
	r.fakeShell(p, func(command string) (string, int) {
		switch {
		case strings.Contains(command, "fail"):
			return "", 7
		case strings.Contains(command, "long"):
			return strings.Repeat("x", 100) + "\n", 0
		case strings.Contains(command, "hang"):
			return "so far\n", runs
		}
		return "\x1b[1mout\x1b[m\r\nrest", 0
	})
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		in   api.SessionExecInput
		want api.SessionExecOutput
	}{
		{api.SessionExecInput{Command: "ls"}, api.SessionExecOutput{Output: "out\nrest", ExitCode: code(0), Method: "marker"}},
		{api.SessionExecInput{Command: "fail"}, api.SessionExecOutput{ExitCode: code(7), Method: "marker"}},
		{api.SessionExecInput{Command: "long", MaxOutput: 40}, api.SessionExecOutput{Output: "xxx\n", ExitCode: code(0), Method: "marker"}},
		{api.SessionExecInput{Command: "hang", TimeoutMS: 50}, api.SessionExecOutput{Output: "so far\n", Method: "none", TimedOut: true}},
	} {
		c.in.ID = "shell"
		out := call(t, r, api.SessionExec, c.in)
		if !strings.HasSuffix(out.Output, c.want.Output) || !reflect.DeepEqual(out.ExitCode, c.want.ExitCode) || out.Method != c.want.Method || out.TimedOut != c.want.TimedOut || !out.Alive {
			t.Errorf("%s: %+v", c.in.Command, out)
		}
		if limit := c.in.MaxOutput; limit > 0 && (len(out.Output) > limit || out.Dropped == 0) {
			t.Errorf("%s: %d bytes, dropped %d", c.in.Command, len(out.Output), out.Dropped)
		}
	}
	// The command that hangs would read a later one.
	wantError(t, r, api.SessionExec, api.SessionExecInput{ID: "shell", Command: "ls", TimeoutMS: 1}, api.CodeConflict, "the previous command is still running; wait for its end")
	wantError(t, r, api.SessionExec, api.SessionExecInput{ID: "shell", Command: strings.Repeat("x", maxInput+1)}, api.CodeInvalid, "longer than 1048576 bytes")

	leaving := r.start(api.ProcessStartInput{Command: []string{"sh"}, Stdin: true})
	r.fakeShell(leaving, func(string) (string, int) { return "bye\n", exits })
	out := call(t, r, api.SessionExec, api.SessionExecInput{ID: leaving.ID, Command: "exit 3"})
	if out.Alive || out.Method != "exit" || out.ExitCode == nil || *out.ExitCode != 3 || out.Output != "bye\n" {
		t.Errorf("a shell that exits: %+v", out)
	}
	wantError(t, r, api.SessionExec, api.SessionExecInput{ID: leaving.ID, Command: "ls"}, api.CodeEnded, "it has exited")
}

// Output after the end of a command belongs to the next call.
func TestResultInAPipeShellEndsAtItsCursor(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Command: []string{"sh"}, Stdin: true})
	writeFile(t, p.LogPath, "before\nafter\n")
	e, err := r.control.FindEntry(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	s := &Sessions{Control: r.control}
	for _, c := range []struct {
		start, next int64
		want        string
	}{{0, 7, "before\n"}, {7, 7, ""}, {7, 13, "after\n"}} {
		run := pipeRun{logs: r.procs.Logs, entry: e, start: c.start, out: api.SessionExecOutput{NextCursor: c.next}}
		if out, err := s.pipeResult(t.Context(), run, 1000); err != nil || out.Output != c.want {
			t.Errorf("%d to %d: %q, %v", c.start, c.next, out.Output, err)
		}
	}
}

func TestTimedOutCommandHasNoExitCodeOfThePreviousOne(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Command: []string{"sh"}, Stdin: true})
	inputs := make(chan string, 2)
	r.fakeShell(p, func(text string) (string, int) { inputs <- text; return "", runs })
	if out := call(t, r, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: "first", TimeoutMS: 1}); !out.TimedOut {
		t.Errorf("the first gives %+v", out)
	}
	mark := regexp.MustCompile(`"\$__tandem" ([0-9a-f]{12});`).FindStringSubmatch(<-inputs)[1]
	writeFile(t, p.LogPath, "\x1b]133;D;7;"+mark+"\a")
	if out := call(t, r, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: "second", TimeoutMS: 50}); !out.TimedOut || out.ExitCode != nil {
		t.Errorf("the second gives %+v", out)
	}
}
