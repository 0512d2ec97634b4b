package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

func TestExecForwardsOutputAndStatus(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		p      api.Process
		status int
		says   string
	}{
		{api.Process{ExitCode: code(0)}, 0, ""},
		{api.Process{ExitCode: code(42)}, 42, ""},
		{api.Process{ExitSignal: "SIGKILL"}, 137, ""},
		{api.Process{ExitUnknown: true}, 125, "tandem: exec: its exit status is unknown\n"},
	} {
		r.execution = api.ExecOutput{Process: c.p, Stdout: "out\x1b\n", Stderr: "err\n"}
		stdout, stderr, status := r.run("exec", "--", "x")
		if stdout != "out\x1b\n" || stderr != "err\n"+c.says || status != c.status {
			t.Errorf("%+v: status %d, %q, %q", c.p, status, stdout, stderr)
		}
	}
	r.execution = api.ExecOutput{Process: api.Process{ID: "abc", Name: "x"}, Stdout: "a\n", TimedOut: true, DurationMS: 1000.4}
	stdout, stderr, status := r.run("exec", "--timeout", "0.1", "--cwd", "/tmp", "--env", "A=b", "x", "--timeout")
	if status != 124 || stdout != "a\n" || stderr != "tandem: exec: still running after 100ms as abc x; see `tandem logs -f abc`\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	want := api.ExecInput{Command: []string{"x", "--timeout"}, CWD: "/tmp", Env: map[string]string{"A": "b"}, TimeoutMS: 100, MaxOutput: 1 << 20, Exact: true, CallerGraceMS: 15000,
		Environ: map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}, Umask: api.Umask()}
	if diff := cmp.Diff(want, r.execs[len(r.execs)-1], ofOwnID); diff != "" {
		t.Error(diff)
	}
	if _, stderr, status := r.run("exec", "--timeout", "100ms", "--kill", "x"); status != 124 || !strings.Contains(stderr, "was killed") || !r.execs[len(r.execs)-1].Kill {
		t.Errorf("status %d, %q", status, stderr)
	}
	stdout, _, status = r.run("exec", "--json", "x")
	if status != 124 || readJSON(t, stdout).(map[string]any)["timed_out"] != true {
		t.Errorf("status %d, %q", status, stdout)
	}
}

func TestExecPrintsLongOutputInFull(t *testing.T) {
	r := newRig(t)
	r.execution = api.ExecOutput{Process: api.Process{ID: "abc", ExitCode: code(0)}, Stdout: "end\n", StdoutDropped: 3 << 20,
		Stderr: "done\n", StderrDropped: 4}
	head := strings.Repeat("0123456\n", 3<<17)
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if in.Stream == "stderr" {
			return api.ProcessLogOutput{Data: "r\n", Start: 2, NextCursor: 4, End: 9, State: api.StateExited}, nil
		}
		return logOf(head+"end\n", api.StateExited)(in)
	}
	stdout, stderr, status := r.run("exec", "x")
	if stdout != head+"end\n" || status != 0 || stderr != "2 earlier bytes of stderr are gone: the log has a size limit\nr\ndone\n" {
		t.Errorf("status %d, %d bytes, %q", status, len(stdout), stderr)
	}
}

// setSlowExec makes the fake engine run a command whose log grows by one line per call, up to the
// given number of lines. The command then exits. It ends earlier if it is stopped, or if late is
// called, which simulates its timeout.
func (r *rig) setSlowExec(lines int) (late func()) {
	timedOut := make(chan struct{})
	exited, stopped := make(chan struct{}), make(chan struct{})
	exit := sync.OnceFunc(func() { close(exited) })
	r.onStop = sync.OnceFunc(func() { close(stopped) })
	r.execute = func(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
		out := api.ExecOutput{Process: api.Process{ID: in.ID, Name: "x", State: api.StateRunning}, Stdout: "not this", Stderr: "not this"}
		select {
		case <-exited:
			out.Process.State, out.Process.ExitCode = api.StateExited, code(9)
		case <-stopped:
			out.Process.State, out.Process.ExitSignal = api.StateStopped, "SIGINT"
		case <-timedOut:
			out.TimedOut = true
		case <-ctx.Done():
		}
		return out, ctx.Err()
	}
	written, complete := map[string]int{}, map[string]bool{}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		state := api.StateRunning
		if written[in.Stream]++; written[in.Stream] > lines {
			state, written[in.Stream] = api.StateExited, lines
			if complete[in.Stream] = true; len(complete) == 2 { // a command that has exited has written everything
				exit()
			}
		}
		return logOf(strings.Repeat(in.Stream+"\n", written[in.Stream]), state)(in)
	}
	return sync.OnceFunc(func() { close(timedOut) })
}

func TestExecPrintsASlowCommandsOutputAsItArrives(t *testing.T) {
	r := newRig(t)
	r.setSlowExec(3)
	stdout, stderr, status := r.run("exec", "x")
	if stdout != "stdout\nstdout\nstdout\n" || stderr != "stderr\nstderr\nstderr\n" || status != 9 {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	// The engine enforces the timeout, so exec makes no call to stop the command.
	if len(r.execs) != 1 || r.execs[0].TimeoutMS != 30000 || len(r.stops) != 0 {
		t.Errorf("asked for %+v, %+v", r.execs, r.stops)
	}
}

func TestExecLeavesTheTimeoutToTheEngine(t *testing.T) {
	for _, kill := range []bool{false, true} {
		r := newRig(t) // one rig per case: the engine may still answer the previous call
		late := r.setSlowExec(1 << 30)
		slow := r.log
		r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
			late() // not before the log is read
			if in.WaitMS == 0 {
				return api.ProcessLogOutput{Data: "end\n", Start: *in.Since, NextCursor: *in.Since + 4, End: *in.Since + 4, State: api.StateRunning}, nil
			}
			return slow(in)
		}
		args := []string{"exec", "--timeout", "250ms", "x"}
		says := "still running after 250ms as "
		if kill {
			args, says = slices.Insert(args, 1, "--kill"), "was killed"
		}
		stdout, stderr, status := r.run(args...)
		if status != 124 || !strings.HasSuffix(stdout, "end\n") || !strings.Contains(stderr, says) {
			t.Errorf("kill %v: status %d, %q", kill, status, stderr[max(len(stderr)-200, 0):])
		}
		if in := r.execs[0]; len(r.execs) != 1 || in.TimeoutMS != 250 || in.Kill != kill || in.CallerGraceMS != 15000 || len(r.stops) != 0 {
			t.Errorf("kill %v: asked for %+v, %+v", kill, r.execs, r.stops)
		}
	}
}

func TestInterruptedExecStopsItsCommand(t *testing.T) {
	for _, args := range [][]string{{"exec", "x"}, {"exec", "--kill", "x"}, {"exec", "--json", "x"}} {
		r := newRig(t)
		r.setSlowExec(1 << 30)
		slow, interrupt := r.execute, sync.OnceValue(func() error { return syscall.Kill(os.Getpid(), syscall.SIGINT) })
		r.execute = func(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
			if err := interrupt(); err != nil {
				return api.ExecOutput{}, err
			}
			return slow(ctx, in)
		}
		_, stderr, status := r.run(args...)
		if status != 130 {
			t.Errorf("%q: status %d, %q", args, status, stderr[max(len(stderr)-200, 0):])
		}
		if want := (api.ProcessStopInput{ID: r.execs[0].ID, Signal: "2"}); len(r.stops) != 1 || r.stops[0] != want {
			t.Errorf("%q: asked to stop %+v", args, r.stops)
		}
	}
}

func TestExecForwardsBinaryOutput(t *testing.T) {
	r := newRig(t)
	r.execution = api.ExecOutput{Process: api.Process{ID: "abc", ExitCode: code(0)}, StdoutBytes: "/wD+", StdoutDropped: 2, Stderr: "text\n"}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if !in.Exact {
			t.Errorf("asked for %+v", in)
		}
		return api.ProcessLogOutput{DataBytes: "gIE=", NextCursor: 2, End: 5, State: api.StateExited}, nil
	}
	if stdout, stderr, status := r.run("exec", "--", "x"); stdout != "\x80\x81\xff\x00\xfe" || stderr != "text\n" || status != 0 {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestExecWarnsAboutUnusedInput(t *testing.T) {
	r := newRig(t)
	r.execution = api.ExecOutput{Process: api.Process{ExitCode: code(3)}, Stdout: "out\n"}
	file := func(text string) *os.File {
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	pipe := func(text string) *os.File {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); out.Close() })
		if _, err := out.WriteString(text); err != nil {
			t.Fatal(err)
		}
		return in
	}
	loop := file("one\ntwo\n")
	if _, err := loop.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct {
		in   *os.File
		says bool
	}{
		"a pipe":                    {pipe("hi\n"), true},
		"an empty pipe":             {pipe(""), false},
		"a file":                    {file("hi\n"), true},
		"an empty file":             {file(""), false},
		"a file that a shell reads": {loop, false},
		"nothing":                   {null, false},
	} {
		r.options.Stdin = c.in
		stdout, stderr, status := r.run("exec", "cat")
		if says := strings.Contains(stderr, "was not passed on") && strings.Contains(stderr, "\nhint: "); stdout != "out\n" || status != 3 || says != c.says {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
}
