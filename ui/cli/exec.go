package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tandem/engine/api"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	// execOutput is how much of each stream is kept, the most the engine gives.
	execOutput = 16 << 20
	// execTimeout is how long a command may take by default.
	execTimeout = 30 * time.Second
	// statusTimedOut is what timeout(1) exits with too.
	statusTimedOut = 124
	// statusSignal and a signal's number is what shells tell of its victim.
	statusSignal = 128
)

func (a *app) execCommand() *cobra.Command {
	var f launchFlags
	timeout := duration(execTimeout)
	var kill bool
	cmd := &cobra.Command{
		Use:   "exec [--timeout D] [--kill] [--cwd D] [--env K=V] [--] CMD…",
		Short: "Run a command and exit with its status",
		Long: "Runs a command through the engine and prints its output when it has ended. Its\n" +
			"exit status is this one's, 128 and the number of a signal if that ended it. After\n" +
			"the time-out it goes on as a background process, or is ended with --kill, and the\nexit status is 124.",
		Example: "tandem exec -- make test\ntandem exec --timeout 5m -- sh -c 'make && make install'",

		DisableFlagsInUseLine: true,
		Args:                  a.atLeast(1, "run what? give a program and its arguments"),
		ValidArgsFunction:     completeProgram,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := api.ExecInput{Command: args, Name: f.name, TimeoutMS: timeout.milliseconds(), Kill: kill, MaxOutput: execOutput}
			if in.Env, err = a.environment(cmd, f); err != nil {
				return err
			}
			if in.CWD, err = f.folder(); err != nil {
				return err
			}
			if in.Sandbox, err = f.confinement(); err != nil {
				return err
			}
			out, err := call(cmd.Context(), a, api.Exec, in)
			if err != nil {
				return err
			}
			return a.executed(out, kill)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().Var(&timeout, "timeout", "how long it may take")
	cmd.Flags().BoolVar(&kill, "kill", false, "after the time-out end it and all it started")
	return cmd
}

// executed prints what a command has, and makes its exit status ours.
func (a *app) executed(out api.ExecOutput, kill bool) error {
	if a.json {
		if err := a.answer(out, nil); err != nil {
			return err
		}
	} else if err := a.printStreams(out); err != nil {
		return err
	}
	p := out.Process
	if out.TimedOut {
		message := fmt.Sprintf("exec: not done after %s; it goes on as %s %s, see `tandem logs -f %s`",
			time.Duration(out.DurationMS*float64(time.Millisecond)).Round(time.Millisecond), p.ID, p.Name, p.ID)
		if kill {
			message = fmt.Sprintf("exec: not done in time; %s was ended", p.Name)
		}
		return &exitError{status: statusTimedOut, message: message}
	}
	return exitOf(p)
}

func (a *app) printStreams(out api.ExecOutput) error {
	for _, s := range []struct {
		name    string
		dropped int64
	}{{"stdout", out.StdoutDropped}, {"stderr", out.StderrDropped}} {
		if s.dropped > 0 {
			a.tell("the first %d bytes of %s are left out; `tandem logs %s --stream %s` has them",
				s.dropped, s.name, out.Process.ID, s.name)
		}
	}
	if err := a.print(out.Stdout); err != nil {
		return err
	}
	_, err := io.WriteString(a.Stderr, out.Stderr)
	return err
}

// exitOf is the exit status of a process that has ended, as an error of ours.
func exitOf(p api.Process) error {
	switch {
	case p.ExitCode != nil && *p.ExitCode == 0:
		return nil
	case p.ExitCode != nil:
		return &exitError{status: *p.ExitCode}
	case p.ExitSignal != "":
		if n := unix.SignalNum(p.ExitSignal); n > 0 {
			return &exitError{status: statusSignal + int(n)}
		}
		return &exitError{status: statusFailed, message: "exec: it was ended by signal " + strings.TrimPrefix(p.ExitSignal, "SIG")}
	case p.Error != "":
		return &exitError{status: statusFailed, message: fmt.Sprintf("exec: %s: %s", p.Name, p.Error)}
	}
	return &exitError{status: statusFailed, message: "exec: nobody saw how it ended"}
}
