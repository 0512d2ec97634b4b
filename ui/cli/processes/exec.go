package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	// CommandExec is the name of the command exec.
	CommandExec = "exec"
	// maxExecOutput is how many bytes of each stream come with the answer; the rest is read from
	// the log.
	maxExecOutput = 1 << 20
	// execAtOnce is how long a command may take for its output to come with the answer. After that,
	// its output is printed as it arrives.
	execAtOnce  = 200 * time.Millisecond
	execTimeout = 30 * time.Second
	// The engine stops the command of a caller that has been disconnected for callerGrace or, on
	// another machine, for machineGrace, as links break and laptops sleep. callerGrace is as long
	// as a call waits for a lost engine.
	callerGrace, machineGrace = 15 * time.Second, 10 * time.Minute
	// statusTimedOut equals the exit status of timeout(1).
	statusTimedOut = 124
)

// NewExec returns the command exec.
func NewExec(f *factory.Factory) *cobra.Command {
	var opts launchFlags
	timeout := factory.Duration(execTimeout)
	var kill bool
	cmd := &cobra.Command{
		Use:   CommandExec + " [--timeout D] [--kill] [--cwd D] [--env K=V] [--] CMD…",
		Short: "Run a command and exit with its status",
		Long: "Runs a command through the engine and prints its output. The exit status is the command's,\n" +
			"or 128 plus the number of the signal that killed it. After the timeout it keeps\n" +
			"running in the background, or is killed with --kill, and the exit status is 124.\n" +
			"It is 127 if the program does not exist, 126 if it cannot be run, and 125 if Tandem\n" +
			"itself failed. ctrl+c, SIGTERM or SIGHUP stops the command too. If this program is\n" +
			"killed, the command is stopped 15 seconds later, on another machine 10 minutes later.\n" +
			"The command's standard input is empty; to give it input, redirect a file:\nsh -c 'psql < dump.sql'.\n\n" + sandboxHelp,
		Example: "tandem exec -- make test\ntandem exec --timeout 5m -- sh -c 'make && make install'\n" +
			"tandem exec -- sh -c 'psql < dump.sql'",
		Annotations:       factory.Several.Annotations(),
		Args:              factory.AtLeast(1, "run what? Give a program and its arguments."),
		ValidArgsFunction: factory.CompleteProgram,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := api.ExecInput{Command: args, Name: opts.name, Environ: f.StartEnviron(), Umask: f.StartUmask(), TimeoutMS: timeout.Milliseconds(),
				Kill: kill, MaxOutput: maxExecOutput, Exact: !f.Out.JSON, ID: api.NewID()}
			if in.Env, err = environment(f, cmd, opts); err != nil {
				return err
			}
			if in.CWD, err = f.Folder(opts.cwd); err != nil {
				return err
			}
			if in.Sandbox, err = opts.confinement(); err != nil {
				return err
			}
			err = runExec(cmd.Context(), f, in)
			var exit *output.ExitError
			if err == nil || errors.As(err, &exit) && exit.Status != statusNotFound && exit.Status != statusNotExecutable {
				warnInput(f)
			}
			return err
		},
	}
	opts.add(cmd.Flags())
	cmd.Flags().Var(&timeout, "timeout", "time limit")
	cmd.Flags().BoolVar(&kill, "kill", false, "after the timeout kill it and everything it started")
	return cmd
}

// runExec runs a command, prints its output and returns its exit status as an error. The engine keeps
// the time limit, and stops the command if this program is gone for longer than its grace.
func runExec(ctx context.Context, f *factory.Factory, in api.ExecInput) error {
	conn, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	grace := callerGrace
	if conn.Machine() != "" {
		grace = machineGrace
	}
	in.CallerGraceMS = int(grace.Milliseconds())
	// Signals are caught before the start, so an early ctrl+c also reaches the command.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &liveExec{f: f, conn: conn, in: in, grace: grace, streams: [2]liveStream{{name: "stdout", to: f.Stdout}, {name: "stderr", to: f.Stderr}}}
	return l.run(ctx, signals)
}

// statusOf converts the result of exec into an error with the exit status; nil for 0.
func statusOf(out api.ExecOutput, in api.ExecInput) error {
	p := out.Process
	if out.TimedOut {
		message := fmt.Sprintf("exec: still running after %s as %s %s; see `tandem logs -f %s`",
			time.Duration(in.TimeoutMS)*time.Millisecond, p.ID, p.Name, p.ID)
		if in.Kill {
			message = fmt.Sprintf("exec: timed out; %s was killed", p.Name)
		}
		return &output.ExitError{Status: statusTimedOut, Err: errors.New(message)}
	}
	return exitOf(p)
}

// printStreams prints both streams. The answer has only their ends, so what was dropped before them
// is read from the log.
func printStreams(ctx context.Context, f *factory.Factory, out api.ExecOutput) error {
	stdout, stderr, err := out.Output()
	if err != nil {
		return err
	}
	streams := [...]liveStream{{name: "stdout", to: f.Stdout, until: out.StdoutDropped}, {name: "stderr", to: f.Stderr, until: out.StderrDropped}}
	for i, end := range [...][]byte{stdout, stderr} {
		s := &streams[i]
		if s.until > 0 {
			if err := s.read(ctx, f, out.Process.ID, false); err != nil {
				return err
			}
		}
		if err := s.write(end); err != nil {
			return err
		}
	}
	return nil
}

// exitOf converts the exit status of an exited process into an error; nil for 0.
func exitOf(p api.Process) error {
	switch {
	case p.ExitCode != nil && *p.ExitCode == 0:
		return nil
	case p.ExitCode != nil:
		return &output.ExitError{Status: *p.ExitCode}
	case p.ExitSignal != "":
		if n := unix.SignalNum(p.ExitSignal); n > 0 {
			return &output.ExitError{Status: output.StatusSignal + int(n)}
		}
		return &output.ExitError{Status: StatusExecFailed, Err: errors.New("exec: killed by signal " + strings.TrimPrefix(p.ExitSignal, "SIG"))}
	case p.Error != "":
		return &output.ExitError{Status: StatusExecFailed, Err: fmt.Errorf("exec: %s: %s", p.Name, p.Error)}
	}
	return &output.ExitError{Status: StatusExecFailed, Err: errors.New("exec: its exit status is unknown")}
}
