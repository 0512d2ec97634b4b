package osenv

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func newAgent(t *testing.T) *mcptest.Agent {
	return mcptest.NewAgent(t, "/home/me", toolkit.OS, Tools(false))
}

func exit(code int) *int { return &code }

// now matches the present time in a result.
var now = regexp.MustCompile(`(?m)(_at): "?20[^\n]*$`)

// check compares a result without its times.
func check(f *mcptest.Agent, tool, args, want string, failed bool) {
	f.Fake.Helper()
	got, bad := f.Call(tool, args)
	if got = now.ReplaceAllString(got, "$1: NOW"); got != want || bad != failed {
		f.Fake.Errorf("%s %s gives (failed: %v)\n%s\nwant (failed: %v)\n%s", tool, args, bad, got, failed, want)
	}
}

func failure(code, message string) string {
	return yamlText([]yamlField{{"status", "error"}, {"error_code", code}, {"message", message}})
}

func TestShellCmdKeepsTheLastLines(t *testing.T) {
	t.Parallel()
	done := api.Process{State: api.StateExited, ExitCode: exit(0), StartedAt: time.Now()}
	daemon := api.Process{State: api.StateRunning, PID: 12, StartedAt: time.Now()}
	for _, tc := range []struct {
		args   string
		out    api.ExecOutput
		err    error
		want   string
		failed bool
	}{
		{`{"command":"x"}`, api.ExecOutput{Process: done, Stdout: "a\nb\n"}, nil,
			"status: ok\ncommand: x\nexit_code: 0\nstdout: |\n  a\n  b\nstderr: \"\"\nexecuted_at: NOW\n", false},
		{`{"command":"x","bufferSize":1}`, api.ExecOutput{Process: done, Stdout: "a\nb\n"}, nil,
			"status: ok\ncommand: x\nexit_code: 0\nstdout: |\n  b\nstderr: \"\"\nexecuted_at: NOW\ntruncated: true\n", false},
		{`{"command":"x","bufferSize":0}`, api.ExecOutput{Process: daemon, Stdout: "a\n", TimedOut: true}, nil,
			"status: ok\ncommand: x\nexit_code: null\nstdout: \"\"\nstderr: \"\"\nexecuted_at: NOW\ntruncated: true\npid: 12\ndaemon: true\n", false},
		{`{"command":"x"}`, api.ExecOutput{}, api.Errorf(api.CodeInvalid, `start "bash": no shell`), failure("SHELL_COMMAND_FAILED", "bash: no shell"), true},
		{`{"command":"x","bufferSize":-1}`, api.ExecOutput{}, nil, failure("INVALID_ARGUMENT", "bufferSize cannot be negative"), true},
		{`{"command":"x","timeoutSeconds":-1}`, api.ExecOutput{}, nil, failure("INVALID_ARGUMENT", "timeoutSeconds cannot be negative"), true},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.Exec, func(in api.ExecInput) (api.ExecOutput, error) {
			if in.Daemon == nil || in.Command[2] != "x" || in.TimeoutMS != 5000 {
				t.Errorf("it runs %+v", in)
			}
			return tc.out, tc.err
		})
		check(f, "shell_cmd", tc.args, tc.want, tc.failed)
	}
}

func TestDaemonIsFoundByPID(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	daemon := func(id string, state api.State, pid int, age time.Duration) api.Process {
		p := api.Process{ID: id, State: state, LastPID: pid, StartedAt: begin.Add(-age), Supervision: &api.Supervision{SplitLog: true, Daemon: &api.Daemon{Lines: 2}}}
		if !state.Ended() {
			p.PID, p.LastPID = pid, 0
		}
		return p
	}
	processes := []api.Process{
		{ID: "no daemon", PID: 1, State: api.StateRunning},
		daemon("old", api.StateExited, 2, time.Hour), daemon("running", api.StateRunning, 2, 2*time.Hour), daemon("new", api.StateExited, 2, 0),
		daemon("older", api.StateExited, 3, time.Hour), daemon("ended", api.StateExited, 3, 0),
	}
	var called []string
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.ProcessList, func(api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{Processes: processes}, nil
	})
	mcptest.Handle(f.Fake, api.ProcessStop, func(in api.ProcessStopInput) (api.Process, error) {
		called = append(called, in.ID)
		return api.Process{ID: in.ID, State: api.StateStopped, ExitedAt: &begin}, nil
	})
	mcptest.Handle(f.Fake, api.ProcessLog, func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		called = append(called, in.ID+" "+in.Stream)
		return api.ProcessLogOutput{Data: in.Stream + " 1\n" + in.Stream + " 2\n" + in.Stream + " 3\n"}, nil
	})
	unknown := failure("DAEMON_NOT_FOUND", "shell_cmd started no daemon with this pid")
	check(f, "stop_daemon", `{"pid":1}`, unknown, true)
	check(f, "stop_daemon", `{"pid":4}`, unknown, true)
	check(f, "get_daemon_output", `{"pid":4}`, unknown, true)
	check(f, "stop_daemon", `{"pid":2}`, "status: ok\npid: 2\nstopped_at: NOW\n", false)
	check(f, "stop_daemon", `{"pid":3}`, failure("DAEMON_NOT_RUNNING", "the daemon has exited; get_daemon_output returns its output"), true)
	check(f, "get_daemon_output", `{"pid":3}`, "status: ok\npid: 3\noutput: |\n  stdout 2\n  stdout 3\n  stderr 2\n  stderr 3\nretrieved_at: NOW\ntruncated: true\n", false)
	if got := strings.Join(called, ", "); got != "running, ended stdout, ended stderr" {
		t.Errorf("it asks for %s", got)
	}
}

func TestOverlayTakesPrecedenceOverInheritedVariables(t *testing.T) {
	t.Parallel()
	overlay := map[string]api.EnvVar{"SET": {Value: "inside"}, "API_KEY": {Redacted: true}, "HIDDEN": {Redacted: true}}
	f := newAgent(t)
	f.Environ = map[string]string{"SET": "outside", "OUTER": "outer", "DB_PASSWORD": "secret"}
	mcptest.Handle(f.Fake, api.EnvGet, func(in api.EnvInput) (api.EnvVar, error) {
		v, ok := overlay[in.Name]
		if !ok {
			return v, api.Errorf(api.CodeNotFound, "not set")
		}
		if in.Reveal {
			v = api.EnvVar{Value: "revealed"}
		}
		return v, nil
	})
	got := func(key, value string, more ...yamlField) string {
		return yamlText(append([]yamlField{{"status", "ok"}, {"key", key}, {"value", value}}, more...)) + "retrieved_at: NOW\n"
	}
	secret := yamlField{"redacted", true}
	for args, want := range map[string]string{
		`{"key":"SET"}`:                   got("SET", "inside"),
		`{"key":"OUTER"}`:                 got("OUTER", "outer"),
		`{"key":"API_KEY"}`:               got("API_KEY", "***", secret),
		`{"key":"HIDDEN"}`:                got("HIDDEN", "***", secret),
		`{"key":"API_KEY","reveal":true}`: got("API_KEY", "revealed"),
		`{"key":"DB_PASSWORD"}`:           got("DB_PASSWORD", "***", secret),
	} {
		check(f, "env_get", args, want, false)
	}
	check(f, "env_get", `{"key":"NONE"}`, failure("ENV_NOT_FOUND", "the variable is not set"), true)
	check(f, "env_get", `{"key":"1X"}`, failure("ENV_INVALID_KEY", "a name consists of letters, digits and _, and does not begin with a digit"), true)
}

func TestUnsetRemovesOnlyTheAgentsVariables(t *testing.T) {
	t.Parallel()
	own := map[string]bool{"OWN": true}
	users := map[string]bool{"USERS": true}
	f := newAgent(t)
	f.Environ = map[string]string{"OUTER": "x", "PATH": "/bin"}
	missing := api.Errorf(api.CodeNotFound, "not set")
	mcptest.Handle(f.Fake, api.EnvUnset, func(in api.EnvInput) (api.Empty, error) {
		if !in.Client {
			t.Errorf("it unsets %s for everyone", in.Name)
		}
		if !own[in.Name] {
			return api.Empty{}, missing
		}
		return api.Empty{}, nil
	})
	mcptest.Handle(f.Fake, api.EnvGet, func(in api.EnvInput) (v api.EnvVar, err error) {
		switch {
		case in.Name == "BROKEN":
			err = errors.New("broken")
		case !users[in.Name] || in.Client:
			err = missing
		}
		return v, err
	})
	for _, key := range []string{"OWN", "OUTER", "NONE"} {
		check(f, "env_unset", `{"key":"`+key+`"}`, "status: ok\nkey: "+key+"\nunset_at: NOW\n", false)
	}
	if _, still := f.ChildEnv()["OUTER"]; still {
		t.Error("programs still inherit OUTER")
	}
	check(f, "env_unset", `{"key":"USERS"}`, failure("FORBIDDEN", "unset USERS: the user has set it for all programs; env_set gives it another value for your commands"), true)
	check(f, "env_unset", `{"key":"PATH"}`, failure("FORBIDDEN", "unset PATH: it decides which programs run, so agents may unset it only inside a sandbox"), true)
	check(f, "env_unset", `{"key":"BROKEN"}`, failure("INTERNAL", "broken"), true)
}
