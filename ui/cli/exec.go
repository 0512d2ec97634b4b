package cli

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
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	verbExec = "exec"
	// execOutput is how much of each stream comes with the answer; of what has
	// more the log is read.
	execOutput = 1 << 20
	// execAtOnce is how long a command may take to come with the answer as a
	// whole; after that its output is passed on as it comes.
	execAtOnce = 200 * time.Millisecond
	// execTimeout is how long a command may take by default.
	execTimeout = 30 * time.Second
	// statusTimedOut is what timeout(1) exits with too.
	statusTimedOut = 124
)

func execCommand(a *app) *cobra.Command {
	var f launchFlags
	timeout := duration(execTimeout)
	var kill bool
	cmd := &cobra.Command{
		Use:   verbExec + " [--timeout D] [--kill] [--cwd D] [--env K=V] [--] CMD…",
		Short: "Run a command and exit with its status",
		Long: "Runs a command through the engine and prints its output. Its exit status is this\n" +
			"one's, 128 and the number of a signal if that ended it. After the timeout it keeps\n" +
			"running in the background, or is killed with --kill, and the exit status is 124.\n" +
			"It is 127 if there is no such program, 126 if it cannot be run, and 125 if Tandem\n" +
			"itself failed: what the message says is then not the command's. ctrl+c ends it too.\n" +
			"The command's standard input is empty; what it shall read has to come from a file:\nsh -c 'psql < dump.sql'.\n\n" + sandboxHelp,
		Example: "tandem exec -- make test\ntandem exec --timeout 5m -- sh -c 'make && make install'\n" +
			"tandem exec -- sh -c 'psql < dump.sql'",
		Args:              atLeast(1, "run what? Give a program and its arguments."),
		ValidArgsFunction: completeProgram,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := api.ExecInput{Command: args, Name: f.name, Environ: a.environ(), Umask: a.umask(), TimeoutMS: timeout.milliseconds(),
				Kill: kill, MaxOutput: execOutput, Exact: !a.out.JSON, ID: api.NewID()}
			if in.Env, err = a.environment(cmd, f); err != nil {
				return err
			}
			if in.CWD, err = a.folder(f.cwd); err != nil {
				return err
			}
			if in.Sandbox, err = f.confinement(); err != nil {
				return err
			}
			err = a.exec(cmd.Context(), in)
			var exit *output.ExitError
			if err == nil || errors.As(err, &exit) && exit.Status != statusNotFound && exit.Status != statusNotExecutable {
				a.tellInput()
			}
			return err
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().Var(&timeout, "timeout", "how long it may take")
	cmd.Flags().BoolVar(&kill, "kill", false, "after the timeout kill it and everything it started")
	return cmd
}

// exec runs a command, prints what it has, and makes its exit status ours.
func (a *app) exec(ctx context.Context, in api.ExecInput) error {
	conn, err := retry.Connect(ctx, a.connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	first, deadline := in, time.Now().Add(time.Duration(in.TimeoutMS)*time.Millisecond)
	live := !a.out.JSON && in.TimeoutMS > int(execAtOnce.Milliseconds())
	signals := make(chan os.Signal, 1)
	if live {
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer signal.Stop(signals)
		first.TimeoutMS, first.Kill = int(execAtOnce.Milliseconds()), false
	}
	out, err := api.Exec.Call(ctx, conn, first)
	switch {
	case err != nil:
		return unstarted(err, in.Command[0])
	case live && out.TimedOut:
		return a.follow(ctx, out.Process, in, deadline, signals)
	case a.out.JSON:
		err = a.out.Answer(out, nil)
	default:
		err = a.printStreams(ctx, out)
	}
	if err != nil {
		return err
	}
	return statusOf(out, in)
}

// statusOf is the exit status of a command as an error of ours.
func statusOf(out api.ExecOutput, in api.ExecInput) error {
	p := out.Process
	if out.TimedOut {
		message := fmt.Sprintf("exec: still running after %s as %s %s; see `tandem logs -f %s`",
			time.Duration(in.TimeoutMS)*time.Millisecond, p.ID, p.Name, p.ID)
		if in.Kill {
			message = fmt.Sprintf("exec: timed out; %s was killed", p.Name)
		}
		return &output.ExitError{Status: statusTimedOut, Message: message}
	}
	return exitOf(p)
}

// printStreams prints the ends of both streams, and before them what the answer
// has no room for.
func (a *app) printStreams(ctx context.Context, out api.ExecOutput) error {
	stdout, stderr, err := out.Output()
	if err != nil {
		return err
	}
	streams := [...]liveStream{{name: "stdout", to: a.Stdout, until: out.StdoutDropped}, {name: "stderr", to: a.Stderr, until: out.StderrDropped}}
	for i, end := range [...][]byte{stdout, stderr} {
		s := &streams[i]
		if s.until > 0 {
			if err := s.read(ctx, a, out.Process.ID, false); err != nil {
				return err
			}
		}
		if err := s.write(end); err != nil {
			return err
		}
	}
	return nil
}

// exitOf is the exit status of a process that has ended, as an error of ours.
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
		return &output.ExitError{Status: statusOwn, Message: "exec: killed by signal " + strings.TrimPrefix(p.ExitSignal, "SIG")}
	case p.Error != "":
		return &output.ExitError{Status: statusOwn, Message: fmt.Sprintf("exec: %s: %s", p.Name, p.Error)}
	}
	return &output.ExitError{Status: statusOwn, Message: "exec: its exit status is unknown"}
}
