// Package android holds the tools of the profile android.
package android

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	androidTimeout     = 60_000  // milliseconds of a command
	androidTimeoutMost = 300_000 // and at most
)

// Tools returns the tools of the profile android: local_* with the plain
// shell and no terminal, termux_* with bash and one.
func Tools() []toolkit.Tool { return AndroidToolsWith(exec.LookPath) }

// AndroidToolsWith finds programs with look.
func AndroidToolsWith(look func(name string) (string, error)) []toolkit.Tool {
	a := &android{look: look, turns: turns{}}
	only := []toolkit.Profile{toolkit.Android}
	tools := []toolkit.Tool{
		toolkit.Define[androidRun, toolkit.None](toolkit.Tool{Name: "local_run_shell", Effect: api.Destructive, Profiles: only,
			Doc: "Run a command in sh and get stdout, stderr and exit code."}, a.runLocal),
		toolkit.Define[localSessionInput, toolkit.None](toolkit.Tool{Name: "local_shell_session", Effect: api.Destructive, Profiles: only,
			Doc: "Use persistent sh sessions without a terminal: cwd and variables stay. start first; exec needs command, write needs input."}, a.localSession),
		toolkit.Define[androidRun, toolkit.None](toolkit.Tool{Name: "termux_run_shell", Effect: api.Destructive, Profiles: only,
			Doc: "Run a command in bash -lc and get stdout, stderr and exit code."}, a.runTermux),
		toolkit.Define[termuxSessionInput, toolkit.None](toolkit.Tool{Name: "termux_shell_session", Effect: api.Destructive, Profiles: only,
			Doc: "Use persistent bash sessions in a terminal. start first; exec needs command, write needs input."}, a.termuxSession),
		toolkit.Define[androidFS, toolkit.None](toolkit.Tool{Name: "termux_fs", Effect: api.Destructive, Profiles: only,
			Doc: "Read and change files below the home folder."}, a.files),
		toolkit.Define[deviceInput, toolkit.None](toolkit.Tool{Name: "device_api", Effect: api.Destructive, Profiles: only,
			Doc: "Get the state of the termux tools' backend, restart it, or explain its setup."}, a.device),
	}
	for i := range tools {
		tools[i] = inJSON(tools[i])
	}
	return tools
}

// An android holds what the tools of the profile share.
type android struct {
	look  func(name string) (string, error)
	turns turns // of local sessions
}

// An AndroidError is a failure in the form that this profile has for it.
type AndroidError struct {
	Status string  `json:"status"` // always error
	Code   string  `json:"error"`
	Detail string  `json:"detail"`
	Output *string `json:"output,omitempty"` // of a session that has ended: what was not read yet
}

func (e *AndroidError) Error() string { return e.Detail }

func androidErrorf(code, format string, args ...any) *AndroidError {
	return &AndroidError{Status: "error", Code: code, Detail: fmt.Sprintf(format, args...)}
}

// androidFailure is err in this profile's form.
func androidFailure(err error) *AndroidError {
	var known *AndroidError
	if errors.As(err, &known) {
		return known
	}
	e := api.AsError(err)
	code := string(e.Code)
	if e.Code == api.CodeInvalid {
		code = "invalid_arguments"
	}
	return androidErrorf(code, "%s", e.Message)
}

// inJSON makes a tool tell its errors as JSON, and those of an argument that
// lacks by its name.
func inJSON(t toolkit.Tool) toolkit.Tool {
	call := t.Call
	t.Call = func(ctx context.Context, f *toolkit.Agent, args json.RawMessage) (toolkit.Result, error) {
		if name := missingFirst(t, args); name != "" {
			return toolkit.AnswerJSON(androidErrorf("missing_"+name, "%s is missing", name)).AsFailure(), nil
		}
		r, err := call(ctx, f, args)
		if err != nil {
			return toolkit.AnswerJSON(androidFailure(err)).AsFailure(), nil
		}
		return r, nil
	}
	return t
}

// missingFirst is the first argument that is required and not given.
func missingFirst(t toolkit.Tool, args json.RawMessage) string {
	given := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &given) != nil {
		return "" // the tool itself says what is wrong
	}
	for i := range t.In.NumField() {
		name, options, _ := strings.Cut(t.In.Field(i).Tag.Get("json"), ",")
		if value, ok := given[name]; (!ok || string(value) == "null") && name != "" && !strings.Contains(options, "omit") {
			return name
		}
	}
	return ""
}

// bash is the shell of the termux tools.
func (a *android) bash() (string, error) {
	path, err := a.look("bash")
	if err != nil {
		return "", androidErrorf("termux_required", `bash is not installed; device_api(action="termux.show_setup") says how to get it`)
	}
	return path, nil
}

// plainShell is the shell of the local tools.
func plainShell() string {
	const android = "/system/bin/sh"
	if _, err := os.Stat(android); err == nil {
		return android
	}
	return "/bin/sh"
}

// androidCWD is a folder that an agent named, absolute and there.
func androidCWD(f *toolkit.Agent, path, base string) (string, error) {
	switch {
	case path == "":
		return base, nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = f.Options.Home + path[1:]
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", androidErrorf("invalid_cwd", "%s is not a folder", path)
	}
	return path, nil
}

type androidRun struct {
	Command   toolkit.ShellLine `json:"command"`
	CWD       string            `json:"cwd,omitempty"`
	TimeoutMS int               `json:"timeout_ms,omitempty" default:"60000" max:"300000"`
	Env       toolkit.Env       `json:"env,omitempty"`
}

func (in androidRun) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: string(in.Command), CWD: f.Folder(in.CWD), Env: in.Env}
}

// RanShell is what a command has come to.
type RanShell struct {
	Status   string `json:"status"` // ok or timeout
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (a *android) runLocal(ctx context.Context, f *toolkit.Agent, in androidRun) (toolkit.Result, error) {
	return runShell(ctx, f, in, f.Options.CWD, plainShell(), "-c")
}

func (a *android) runTermux(ctx context.Context, f *toolkit.Agent, in androidRun) (toolkit.Result, error) {
	bash, err := a.bash()
	if err != nil {
		return toolkit.Result{}, err
	}
	return runShell(ctx, f, in, f.Options.Home, bash, "-lc")
}

func runShell(ctx context.Context, f *toolkit.Agent, in androidRun, base string, shell ...string) (toolkit.Result, error) {
	if strings.TrimSpace(string(in.Command)) == "" {
		return toolkit.Result{}, androidErrorf("missing_command", "command is empty")
	}
	if in.TimeoutMS < 0 {
		return toolkit.Result{}, androidErrorf("invalid_arguments", "timeout_ms cannot be negative")
	}
	cwd, err := androidCWD(f, in.CWD, base)
	if err != nil {
		return toolkit.Result{}, err
	}
	timeout := androidTimeout
	if in.TimeoutMS > 0 {
		timeout = min(in.TimeoutMS, androidTimeoutMost)
	}
	out, err := f.Exec(ctx, api.ExecInput{
		ID: api.NewID(), Command: append(shell, string(in.Command)), CWD: cwd, Env: in.Env, Environ: f.ChildEnv(), Umask: f.Umask, Actor: f.Actor,
		TimeoutMS: timeout, Kill: true, MaxOutput: toolkit.MaxStream,
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	ran := RanShell{Status: "ok", ExitCode: -1, Stdout: toolkit.NoteOmitted(out.StdoutDropped, out.Process.LogPath) + out.Stdout,
		Stderr: toolkit.NoteOmitted(out.StderrDropped, out.Process.ErrorLogPath) + out.Stderr}
	if code, ok := toolkit.ExitCode(out.Process); ok {
		ran.ExitCode = code
	}
	if toolkit.IsTimedOut(out) {
		ran.Status, ran.ExitCode = "timeout", -1
		ran.Stderr = "Command timed out after " + secondsText(timeout) + "s"
	}
	return toolkit.AnswerJSON(ran).ForProcess(out.Process.ID), nil
}

// secondsText is milliseconds in seconds, as short as it is exact.
func secondsText(ms int) string {
	return strconv.FormatFloat((time.Duration(ms) * time.Millisecond).Seconds(), 'f', -1, 64)
}
