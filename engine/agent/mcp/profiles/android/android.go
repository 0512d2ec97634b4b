// Package android holds the tools of the android profile. Their names, results and error codes are
// fixed by its seed document, and they run on any system.
package android

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	defaultTimeout = 60_000 // milliseconds
	maxTimeout     = 300_000
)

// Tools returns the tools of the android profile: local_* use the plain shell without a terminal,
// termux_* use bash in one.
func Tools() []toolkit.Tool { return ToolsWith(exec.LookPath) }

// ToolsWith is Tools with a function for finding programs.
func ToolsWith(lookPath func(name string) (string, error)) []toolkit.Tool {
	a := &android{lookPath: lookPath}
	only := []toolkit.Profile{toolkit.Android}
	tools := []toolkit.Tool{
		toolkit.Define[runInput, toolkit.None](toolkit.Tool{Name: "local_run_shell", Effect: api.Destructive, Profiles: only,
			Doc: "Run a command in sh and get stdout, stderr and exit code."}, a.runLocal),
		toolkit.Define[localSessionInput, toolkit.None](toolkit.Tool{Name: "local_shell_session", Effect: api.Destructive, Profiles: only,
			Doc: "Use persistent sh sessions without a terminal: cwd and variables stay. start first; exec needs command, write needs input."}, a.localSession),
		toolkit.Define[runInput, toolkit.None](toolkit.Tool{Name: "termux_run_shell", Effect: api.Destructive, Profiles: only,
			Doc: "Run a command in bash -lc and get stdout, stderr and exit code."}, a.runTermux),
		toolkit.Define[termuxSessionInput, toolkit.None](toolkit.Tool{Name: "termux_shell_session", Effect: api.Destructive, Profiles: only,
			Doc: "Use persistent bash sessions in a terminal. start first; exec needs command, write needs input."}, a.termuxSession),
		toolkit.Define[fsInput, toolkit.None](toolkit.Tool{Name: "termux_fs", Effect: api.Destructive, Profiles: only,
			Doc: "Read and change files below the home folder."}, a.accessFiles),
		toolkit.Define[deviceInput, toolkit.None](toolkit.Tool{Name: "device_api", Effect: api.Destructive, Profiles: only,
			Doc: "Get the state of the termux tools' backend, restart it, or explain its setup."}, a.controlDevice),
	}
	return toolkit.ConvertErrors(tools, func(err error) toolkit.Result { return toolkit.AnswerJSON(toError(err)) })
}

// An android holds the state shared by the profile's tools.
type android struct {
	lookPath func(name string) (string, error)
}

// An Error is a failure in this profile's format.
type Error struct {
	Status string  `json:"status"` // always "error"
	Code   string  `json:"error"`
	Detail string  `json:"detail"`
	Output *string `json:"output,omitempty"` // of an ended session: its unread output
}

func (e *Error) Error() string { return e.Detail }

func androidErrorf(code, format string, args ...any) *Error {
	return &Error{Status: "error", Code: code, Detail: fmt.Sprintf(format, args...)}
}

// toError converts err to this profile's format.
func toError(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var missing *toolkit.MissingArgument
	if errors.As(err, &missing) {
		return androidErrorf("missing_"+missing.Name, "%s is missing", missing.Name)
	}
	e := api.AsError(err)
	code := string(e.Code)
	switch {
	case e.Reason == api.ReasonBadCWD:
		code = "invalid_cwd"
	case e.Code == api.CodeInvalid:
		code = "invalid_arguments"
	}
	return androidErrorf(code, "%s", e.Message)
}

// findBash returns the shell of the termux tools.
func (a *android) findBash() (string, error) {
	path, err := a.lookPath("bash")
	if err != nil {
		return "", androidErrorf("termux_required", `bash is not installed; device_api(action="termux.show_setup") says how to get it`)
	}
	return path, nil
}

// plainShell returns the shell of the local tools.
func plainShell() string {
	const android = "/system/bin/sh"
	if _, err := os.Stat(android); err == nil {
		return android
	}
	return "/bin/sh"
}

type runInput struct {
	Command   toolkit.ShellLine `json:"command"`
	CWD       string            `json:"cwd,omitempty"`
	TimeoutMS int               `json:"timeout_ms,omitempty" default:"60000" max:"300000"`
	Env       toolkit.Env       `json:"env,omitempty"`
}

// A ShellResult is the outcome of a command.
type ShellResult struct {
	Status   string `json:"status"` // ok or timeout
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (a *android) runLocal(ctx context.Context, f *toolkit.Agent, in runInput) (toolkit.Result, error) {
	return runShell(ctx, f, in, f.Options.CWD, plainShell(), "-c", string(in.Command))
}

func (a *android) runTermux(ctx context.Context, f *toolkit.Agent, in runInput) (toolkit.Result, error) {
	bash, err := a.findBash()
	if err != nil {
		return toolkit.Result{}, err
	}
	line := string(in.Command)
	// A login shell resets PATH.
	if path, ok := in.Env["PATH"]; ok {
		line = "export PATH=" + toolkit.QuoteForShell(path) + "; " + line
	}
	return runShell(ctx, f, in, f.Options.Home, bash, "-lc", line)
}

func runShell(ctx context.Context, f *toolkit.Agent, in runInput, base string, argv ...string) (toolkit.Result, error) {
	if strings.TrimSpace(string(in.Command)) == "" {
		return toolkit.Result{}, androidErrorf("missing_command", "command is empty")
	}
	if in.TimeoutMS < 0 {
		return toolkit.Result{}, androidErrorf("invalid_arguments", "timeout_ms cannot be negative")
	}
	timeout := defaultTimeout
	if in.TimeoutMS > 0 {
		timeout = min(in.TimeoutMS, maxTimeout)
	}
	out, err := f.Exec(ctx, api.ExecInput{
		Command: argv, CWD: api.AbsolutePath(in.CWD, base, f.Options.Home), Env: in.Env, TimeoutMS: timeout, Kill: true, MaxOutput: toolkit.MaxStream,
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	ran := ShellResult{Status: "ok", ExitCode: -1}
	ran.Stdout, ran.Stderr = toolkit.Streams(out)
	if code, ok := toolkit.ExitCode(out.Process); ok {
		ran.ExitCode = code
	}
	// The profile reports a timeout in place of stderr.
	if toolkit.IsTimedOut(out) {
		ran.Status, ran.ExitCode = "timeout", -1
		ran.Stderr = "Command timed out after " + secondsText(timeout) + "s"
	}
	return toolkit.AnswerJSON(ran).ForProcess(out.Process.ID), nil
}

// secondsText formats milliseconds as seconds, exactly and without trailing zeros.
func secondsText(ms int) string {
	return strconv.FormatFloat((time.Duration(ms) * time.Millisecond).Seconds(), 'f', -1, 64)
}
