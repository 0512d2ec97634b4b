// Package osenv implements the tools of the profile os: programs and environment.
package osenv

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/shell"
)

const (
	shellLines   = 500 // of each stream
	shellSeconds = 5   // until a command becomes a daemon
)

// Tools returns the tools of the "os" profile, which run shell commands that become daemons after a
// timeout, and read and change the environment. Every result is a YAML document. On a read-only
// server, env_get never reveals a secret.
func Tools(readOnly bool) []toolkit.Tool {
	alone, both := []toolkit.Profile{toolkit.OS}, []toolkit.Profile{toolkit.OS, toolkit.Native}
	tools := []toolkit.Tool{
		toolkit.Define[shellCmd, toolkit.None](toolkit.Tool{Name: "shell_cmd", Effect: api.Destructive, Profiles: alone,
			Doc: "Run a shell command. After timeoutSeconds it keeps running as a daemon; the result has its pid."}, runShellCmd),
		toolkit.Define[daemonPID, toolkit.None](toolkit.Tool{Name: "stop_daemon", Effect: api.Destructive, Profiles: alone,
			Doc: "Stop a daemon started by shell_cmd and everything it started."}, stopDaemon),
		toolkit.Define[daemonPID, toolkit.None](toolkit.Tool{Name: "get_daemon_output", Effect: api.Read, Profiles: alone,
			Doc: "Get the output of a daemon started by shell_cmd, running or not."}, daemonOutput),
		envGetTool(both, readOnly),
		toolkit.Define[envSet, EnvState](toolkit.Tool{Name: "env_set", Effect: api.Write, Profiles: both,
			Doc: "Set a variable for what this connection starts from now on."}, setEnv),
		toolkit.Define[envUnset, envKey](toolkit.Tool{Name: "env_unset", Effect: api.Write, Profiles: both,
			Doc: "Remove a variable from what this connection starts from now on."}, unsetEnv),
	}
	return toolkit.ConvertErrors(tools, yamlError)
}

func envGetTool(in []toolkit.Profile, readOnly bool) toolkit.Tool {
	t := toolkit.Tool{Name: "env_get", Effect: api.Read, Profiles: in, Doc: "Read a variable as your commands on this machine get it"}
	if readOnly {
		t.Doc += "; secrets are masked."
		return toolkit.Define[envName, EnvState](t, func(ctx context.Context, f *toolkit.Agent, in envName) (toolkit.Result, error) {
			return getEnv(ctx, f, envGet{envName: in})
		})
	}
	t.Doc += "; reveal unmasks secrets."
	return toolkit.Define[envGet, EnvState](t, getEnv)
}

// A yamlFailure is an error with its code in this profile.
type yamlFailure struct{ code, message string }

func (e *yamlFailure) Error() string { return e.message }

func yamlError(err error) toolkit.Result {
	var known *yamlFailure
	if !errors.As(err, &known) {
		e := api.AsError(err)
		known = &yamlFailure{strings.ToUpper(string(e.Code)), e.Message}
		switch {
		case e.Code == api.CodeInvalid:
			known.code = "INVALID_ARGUMENT"
		case e.Hint != "":
			known.message += "; " + toolkit.HintForAgents(e.Hint)
		}
	}
	return yamlAnswer(yamlField{"status", "error"}, yamlField{"error_code", known.code}, yamlField{"message", known.message})
}

func yamlAnswer(fields ...yamlField) toolkit.Result { return toolkit.Text(yamlText(fields)) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

type shellCmd struct {
	Command        toolkit.ShellLine `json:"command"`
	Shell          string            `json:"shell,omitempty" default:"bash"`
	BufferSize     *int              `json:"bufferSize,omitempty" doc:"number of lines to keep of each stream" default:"500"`
	TimeoutSeconds *float64          `json:"timeoutSeconds,omitempty" default:"5" min:"0"`
}

func runShellCmd(ctx context.Context, f *toolkit.Agent, in shellCmd) (toolkit.Result, error) {
	seconds, lines := toolkit.ValueOr(in.TimeoutSeconds, shellSeconds), toolkit.ValueOr(in.BufferSize, shellLines)
	switch {
	case seconds < 0:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "timeoutSeconds cannot be negative")
	case lines < 0:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "bufferSize cannot be negative")
	}
	// At least 1: the engine takes 0 for its default.
	timeout := max(int(min(seconds, toolkit.NoTimeout.Seconds())*1000), 1)
	argv := []string{cmp.Or(in.Shell, shell.CommandShell()), "-c", string(in.Command)}
	out, err := f.Exec(ctx, api.ExecInput{
		Command: argv, CWD: f.Options.CWD, TimeoutMS: timeout, MaxOutput: toolkit.MaxStream, Daemon: &api.Daemon{Lines: lines},
	})
	if err != nil {
		return toolkit.Result{}, &yamlFailure{"SHELL_COMMAND_FAILED", toolkit.StartFailure(argv, err)}
	}
	stdout, cut := toolkit.LastLines(out.Stdout, lines)
	stderr, cutErrors := toolkit.LastLines(out.Stderr, lines)
	p := out.Process
	fields := []yamlField{{"status", "ok"}, {"command", string(in.Command)}, {"exit_code", nil}, {"stdout", stdout}, {"stderr", stderr},
		{"executed_at", stamp(p.StartedAt)}}
	if code, ok := toolkit.ExitCode(p); ok {
		fields[2].value = code
	}
	if cut || cutErrors || out.StdoutDropped+out.StderrDropped > 0 {
		fields = append(fields, yamlField{"truncated", true})
	}
	if !p.State.Ended() {
		fields = append(fields, yamlField{"pid", p.PID}, yamlField{"daemon", true})
	}
	return yamlAnswer(fields...).ForProcess(p.ID), nil
}

type daemonPID struct {
	PID int `json:"pid"`
}

// findDaemon finds a daemon by its present or last pid: of several with the same pid the running
// one, otherwise the latest.
func findDaemon(ctx context.Context, f *toolkit.Agent, pid int) (api.Process, error) {
	out, err := api.ProcessList.Call(api.WithoutTool(ctx), f.Engine, api.ProcessListInput{})
	if err != nil {
		return api.Process{}, err
	}
	var found *api.Process
	for i := range out.Processes {
		p := &out.Processes[i]
		if p.Supervision == nil || p.Supervision.Daemon == nil || cmp.Or(p.PID, p.LastPID) != pid {
			continue
		}
		// The kernel reuses pids, so several daemons may have had this one.
		if found == nil || found.State.Ended() && (!p.State.Ended() || p.StartedAt.After(found.StartedAt)) {
			found = p
		}
	}
	if found == nil {
		return api.Process{}, &yamlFailure{"DAEMON_NOT_FOUND", "shell_cmd started no daemon with this pid"}
	}
	return *found, nil
}

func stopDaemon(ctx context.Context, f *toolkit.Agent, in daemonPID) (toolkit.Result, error) {
	p, err := findDaemon(ctx, f, in.PID)
	if err != nil {
		return toolkit.Result{}, err
	}
	stopped := p
	if !p.State.Ended() {
		stopped, err = api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: p.ID, TimeoutMS: toolkit.StopTimeout})
	}
	switch {
	// It may have exited between the two calls.
	case p.State.Ended(), errors.Is(err, api.CodeEnded):
		return toolkit.Result{}, &yamlFailure{"DAEMON_NOT_RUNNING", "the daemon has exited; get_daemon_output returns its output"}
	case err != nil:
		return toolkit.Result{}, err
	}
	at := time.Now()
	if stopped.ExitedAt != nil {
		at = *stopped.ExitedAt
	}
	return yamlAnswer(yamlField{"status", "ok"}, yamlField{"pid", in.PID}, yamlField{"stopped_at", stamp(at)}).ForProcess(p.ID), nil
}

func daemonOutput(ctx context.Context, f *toolkit.Agent, in daemonPID) (toolkit.Result, error) {
	p, err := findDaemon(ctx, f, in.PID)
	if err != nil {
		return toolkit.Result{}, err
	}
	var output string
	truncated := false
	for _, stream := range []string{"stdout", "stderr"} {
		all, dropped, err := f.StreamOutput(ctx, p, stream)
		if err != nil {
			return toolkit.Result{}, err
		}
		lines, cut := toolkit.LastLines(all, p.Supervision.Daemon.Lines)
		output += toolkit.NewlineBetween(output, lines) + lines
		truncated = truncated || cut || dropped > 0
	}
	fields := []yamlField{{"status", "ok"}, {"pid", in.PID}, {"output", output}, {"retrieved_at", stamp(time.Now())}}
	if truncated {
		fields = append(fields, yamlField{"truncated", true})
	}
	return yamlAnswer(fields...).ForProcess(p.ID), nil
}
