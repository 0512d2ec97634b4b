package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	shellLines   = 500 // kept of each stream
	shellSeconds = 5   // until a command becomes a daemon
)

// osTools are the tools of the profile os: shell commands that become daemons
// when they take long, and the environment. Every answer is a YAML document.
func osTools() []tool {
	alone, both := []Profile{OS}, []Profile{OS, Native}
	tools := []tool{
		define[shellCmd, none](tool{name: "shell_cmd", effect: api.Destructive, profiles: alone,
			doc: "Run a shell command. After timeoutSeconds it goes on as a daemon with the pid given."}, runShellCmd),
		define[daemonPID, none](tool{name: "stop_daemon", effect: api.Destructive, profiles: alone,
			doc: "End a daemon of shell_cmd and all that it started."}, stopDaemon),
		define[daemonPID, none](tool{name: "get_daemon_output", effect: api.Read, profiles: alone,
			doc: "Get the output of a daemon of shell_cmd, also of one that has ended."}, daemonOutput),
		define[envGet, envState](tool{name: "env_get", effect: api.Read, profiles: both,
			doc: "Read an environment variable as what I start gets it."}, getEnv),
		define[envSet, envState](tool{name: "env_set", effect: api.Write, idempotent: true, profiles: both,
			doc: "Set an environment variable for what I start from now on."}, setEnv),
		define[envUnset, envKey](tool{name: "env_unset", effect: api.Write, profiles: both,
			doc: "Remove a variable that env_set has set."}, unsetEnv),
	}
	for i := range tools {
		tools[i] = inYAML(tools[i])
	}
	return tools
}

// inYAML makes a tool tell its errors as YAML.
func inYAML(t tool) tool {
	call := t.call
	t.call = func(ctx context.Context, f *face, args json.RawMessage) (result, error) {
		r, err := call(ctx, f, args)
		if err != nil {
			return yamlError(err), nil
		}
		return r, nil
	}
	return t
}

// A yamlFailure is an error with the code that it has in this profile.
type yamlFailure struct{ code, message string }

func (e *yamlFailure) Error() string { return e.message }

func yamlError(err error) result {
	var known *yamlFailure
	if !errors.As(err, &known) {
		e := api.AsError(err)
		known = &yamlFailure{strings.ToUpper(string(e.Code)), e.Message}
		switch {
		case e.Code == api.CodeInvalid:
			known.code = "INVALID_ARGUMENT"
		case e.Hint != "":
			known.message += "; " + forAgents(e.Hint)
		}
	}
	return yamlAnswer(yamlField{"status", "error"}, yamlField{"error_code", known.code}, yamlField{"message", known.message}).fail()
}

func yamlAnswer(fields ...yamlField) result { return text(yamlText(fields)) }

// stamp is a moment as this profile tells it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

type shellCmd struct {
	Command        string   `json:"command"`
	Shell          string   `json:"shell,omitempty" doc:"default bash"`
	BufferSize     int      `json:"bufferSize,omitempty" doc:"lines kept of each stream, default 500"`
	TimeoutSeconds *float64 `json:"timeoutSeconds,omitempty" doc:"default 5"`
}

func (c shellCmd) subject(f *face) subject { return subject{command: c.Command, cwd: f.o.CWD} }

// timeout is the time until the command becomes a daemon, in milliseconds.
func (c shellCmd) timeout() (int, error) {
	seconds := float64(shellSeconds)
	if c.TimeoutSeconds != nil {
		seconds = *c.TimeoutSeconds
	}
	if seconds < 0 {
		return 0, &yamlFailure{"INVALID_ARGUMENT", "timeoutSeconds cannot be negative"}
	}
	return max(int(min(seconds, untilDone.Seconds())*1000), 1), nil
}

// shell is the program that runs the command.
func (c shellCmd) shell() string {
	return cmp.Or(c.Shell, commandShell())
}

func runShellCmd(ctx context.Context, f *face, in shellCmd) (result, error) {
	timeout, err := in.timeout()
	if err != nil {
		return result{}, err
	}
	if in.BufferSize < 0 {
		return result{}, &yamlFailure{"INVALID_ARGUMENT", "bufferSize cannot be negative"}
	}
	lines := cmp.Or(in.BufferSize, shellLines)
	argv := []string{in.shell(), "-c", in.Command}
	out, err := api.Exec.Call(ctx, f.engine, api.ExecInput{
		Command: argv, CWD: f.o.CWD, Environ: f.environ, Actor: f.actor,
		TimeoutMS: timeout, MaxOutput: streamMost, Daemon: &api.Daemon{Lines: lines},
	})
	if err != nil {
		return result{}, &yamlFailure{"SHELL_COMMAND_FAILED", in.shell() + ": " + cannotStart(argv, err)}
	}
	stdout, cut := lastLines(out.Stdout, lines)
	stderr, cutErrors := lastLines(out.Stderr, lines)
	p := out.Process
	fields := []yamlField{{"status", "ok"}, {"command", in.Command}, {"exit_code", nil}, {"stdout", stdout}, {"stderr", stderr},
		{"executed_at", stamp(p.StartedAt)}}
	if code, ok := exitCode(p); ok {
		fields[2].value = code
	}
	if cut || cutErrors || out.StdoutDropped+out.StderrDropped > 0 {
		fields = append(fields, yamlField{"truncated", true})
	}
	if !p.State.Ended() {
		fields = append(fields, yamlField{"pid", p.PID}, yamlField{"daemon", true})
	}
	return yamlAnswer(fields...).of(p.ID), nil
}

type daemonPID struct {
	PID int `json:"pid" doc:"as shell_cmd gave it"`
}

// daemon finds a daemon by the pid it has, or had; of several with the same
// pid the one that runs, else the latest.
func (f *face) daemon(ctx context.Context, pid int) (api.Process, error) {
	out, err := api.ProcessList.Call(ctx, f.engine, api.ProcessListInput{})
	if err != nil {
		return api.Process{}, err
	}
	var found *api.Process
	for i := range out.Processes {
		p := &out.Processes[i]
		if p.Supervision == nil || p.Supervision.Daemon == nil || cmp.Or(p.PID, p.LastPID) != pid {
			continue
		}
		if found == nil || found.State.Ended() && (!p.State.Ended() || p.StartedAt.After(found.StartedAt)) {
			found = p
		}
	}
	if found == nil {
		return api.Process{}, &yamlFailure{"DAEMON_NOT_FOUND", "no daemon of shell_cmd has or had this pid"}
	}
	return *found, nil
}

func stopDaemon(ctx context.Context, f *face, in daemonPID) (result, error) {
	p, err := f.daemon(ctx, in.PID)
	if err != nil {
		return result{}, err
	}
	stopped := p
	if !p.State.Ended() {
		stopped, err = api.ProcessStop.Call(ctx, f.engine, api.ProcessStopInput{ID: p.ID, TimeoutMS: stopPatience})
	}
	switch {
	case p.State.Ended(), errors.Is(err, api.CodeEnded):
		return result{}, &yamlFailure{"DAEMON_NOT_RUNNING", "the daemon has ended; get_daemon_output gives its output"}
	case err != nil:
		return result{}, err
	}
	at := time.Now()
	if stopped.ExitedAt != nil {
		at = *stopped.ExitedAt
	}
	return yamlAnswer(yamlField{"status", "ok"}, yamlField{"pid", in.PID}, yamlField{"stopped_at", stamp(at)}).of(p.ID), nil
}

func daemonOutput(ctx context.Context, f *face, in daemonPID) (result, error) {
	p, err := f.daemon(ctx, in.PID)
	if err != nil {
		return result{}, err
	}
	var output string
	truncated := false
	for _, stream := range []string{"stdout", "stderr"} {
		all, dropped, err := f.printed(ctx, p, stream)
		if err != nil {
			return result{}, err
		}
		lines, cut := lastLines(all, p.Supervision.Daemon.Lines)
		output += lineBetween(output, lines) + lines
		truncated = truncated || cut || dropped > 0
	}
	fields := []yamlField{{"status", "ok"}, {"pid", in.PID}, {"output", output}, {"retrieved_at", stamp(time.Now())}}
	if truncated {
		fields = append(fields, yamlField{"truncated", true})
	}
	return yamlAnswer(fields...).of(p.ID), nil
}
