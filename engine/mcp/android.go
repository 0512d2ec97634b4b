package mcp

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
)

const (
	androidTimeout     = 60_000  // milliseconds of a command
	androidTimeoutMost = 300_000 // and at most
)

// androidTools are the tools of the profile android: local_* with the plain
// shell and no terminal, termux_* with bash and one.
func androidTools() []tool { return androidToolsWith(exec.LookPath) }

// androidToolsWith finds programs with look.
func androidToolsWith(look func(name string) (string, error)) []tool {
	a := &android{look: look, turns: turns{}}
	only := []Profile{Android}
	tools := []tool{
		define[androidRun, none](tool{name: "local_run_shell", effect: api.Destructive, profiles: only,
			doc: "Run a command in sh and get stdout, stderr and exit code."}, a.runLocal),
		define[localSessionInput, none](tool{name: "local_shell_session", effect: api.Destructive, profiles: only,
			doc: "Use persistent sh sessions without a terminal: cwd and variables stay. start first; exec needs command, write needs input."}, a.localSession),
		define[androidRun, none](tool{name: "termux_run_shell", effect: api.Destructive, profiles: only,
			doc: "Run a command in bash -lc and get stdout, stderr and exit code."}, a.runTermux),
		define[termuxSessionInput, none](tool{name: "termux_shell_session", effect: api.Destructive, profiles: only,
			doc: "Use persistent bash sessions in a terminal. start first; exec needs command, write needs input."}, a.termuxSession),
		define[androidFS, none](tool{name: "termux_fs", effect: api.Destructive, profiles: only,
			doc: "Read and change files below the home folder."}, a.files),
		define[deviceInput, none](tool{name: "device_api", effect: api.Destructive, profiles: only,
			doc: "Get the state of the termux tools' backend, restart it, or explain its setup."}, a.device),
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

// An androidError is a failure in the form that this profile has for it.
type androidError struct {
	Status string  `json:"status"` // always error
	Code   string  `json:"error"`
	Detail string  `json:"detail"`
	Output *string `json:"output,omitempty"` // of a session that has ended: what was not read yet
}

func (e *androidError) Error() string { return e.Detail }

func androidErrorf(code, format string, args ...any) *androidError {
	return &androidError{Status: "error", Code: code, Detail: fmt.Sprintf(format, args...)}
}

// androidFailure is err in this profile's form.
func androidFailure(err error) *androidError {
	var known *androidError
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

// answerJSON answers with a value as JSON text and structured.
func answerJSON(v any) result { return text(jsonText(v)).with(v) }

// inJSON makes a tool tell its errors as JSON, and those of an argument that
// lacks by its name.
func inJSON(t tool) tool {
	call := t.call
	t.call = func(ctx context.Context, f *face, args json.RawMessage) (result, error) {
		if name := missingFirst(t, args); name != "" {
			return answerJSON(androidErrorf("missing_"+name, "%s is missing", name)).fail(), nil
		}
		r, err := call(ctx, f, args)
		if err != nil {
			return answerJSON(androidFailure(err)).fail(), nil
		}
		return r, nil
	}
	return t
}

// missingFirst is the first argument that is required and not given.
func missingFirst(t tool, args json.RawMessage) string {
	given := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &given) != nil {
		return "" // the tool itself says what is wrong
	}
	for i := range t.in.NumField() {
		name, options, _ := strings.Cut(t.in.Field(i).Tag.Get("json"), ",")
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
func androidCWD(f *face, path, base string) (string, error) {
	switch {
	case path == "":
		return base, nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = f.o.Home + path[1:]
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", androidErrorf("invalid_cwd", "%s is not a folder", path)
	}
	return path, nil
}

type androidRun struct {
	Command   string            `json:"command"`
	CWD       string            `json:"cwd,omitempty"`
	TimeoutMS int               `json:"timeout_ms,omitempty" doc:"default 60000, at most 300000"`
	Env       map[string]string `json:"env,omitempty"`
}

func (in androidRun) subject(f *face) subject {
	return subject{command: in.Command, cwd: f.folder(in.CWD), env: in.Env}
}

// ranShell is what a command has come to.
type ranShell struct {
	Status   string `json:"status"` // ok or timeout
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (a *android) runLocal(ctx context.Context, f *face, in androidRun) (result, error) {
	return runShell(ctx, f, in, f.o.CWD, plainShell(), "-c")
}

func (a *android) runTermux(ctx context.Context, f *face, in androidRun) (result, error) {
	bash, err := a.bash()
	if err != nil {
		return result{}, err
	}
	return runShell(ctx, f, in, f.o.Home, bash, "-lc")
}

func runShell(ctx context.Context, f *face, in androidRun, base string, shell ...string) (result, error) {
	if strings.TrimSpace(in.Command) == "" {
		return result{}, androidErrorf("missing_command", "command is empty")
	}
	if in.TimeoutMS < 0 {
		return result{}, androidErrorf("invalid_arguments", "timeout_ms cannot be negative")
	}
	cwd, err := androidCWD(f, in.CWD, base)
	if err != nil {
		return result{}, err
	}
	timeout := androidTimeout
	if in.TimeoutMS > 0 {
		timeout = min(in.TimeoutMS, androidTimeoutMost)
	}
	out, err := api.Exec.Call(ctx, f.engine, api.ExecInput{
		Command: append(shell, in.Command), CWD: cwd, Env: in.Env, Environ: f.environ, Actor: f.actor,
		TimeoutMS: timeout, Kill: true, MaxOutput: streamMost,
	})
	if err != nil {
		return result{}, err
	}
	ran := ranShell{Status: "ok", ExitCode: -1, Stdout: cutNote(out.StdoutDropped, out.Process) + out.Stdout,
		Stderr: cutNote(out.StderrDropped, out.Process) + out.Stderr}
	if code, ok := exitCode(out.Process); ok {
		ran.ExitCode = code
	}
	if overdue(out) {
		ran.Status, ran.ExitCode = "timeout", -1
		ran.Stderr = "Command timed out after " + secondsText(timeout) + "s"
	}
	return answerJSON(ran).of(out.Process.ID), nil
}

// secondsText is milliseconds in seconds, as short as it is exact.
func secondsText(ms int) string {
	return strconv.FormatFloat((time.Duration(ms) * time.Millisecond).Seconds(), 'f', -1, 64)
}
