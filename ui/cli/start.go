package cli

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type startFlags struct {
	launchFlags
	keepAlive, tty, splitLog bool
	restart, readyLog, any   string
	stopSignal               string
	readyPort                int
	maxRestarts              restartCount
	logLimit                 byteSize
	stopTimeout              duration
}

func startCommand(a *app) *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:   "start [FLAGS] [--] CMD…",
		Short: "Start a background process and print its id",
		Long: "Starts a program that keeps running without you, and supervises it. Its output goes\nto a log, " +
			"which `tandem logs` shows. Prints the process's id.\n" +
			"--max-restarts counts restarts without a healthy run of 10 seconds in between\n(of 30 with --keep-alive); alone it means --restart on-failure.\n\n" + sandboxHelp,
		Example: "tandem start --name web --keep-alive -- python3 -m http.server 0\n" +
			"tandem start --restart on-failure --max-restarts 5 --ready-port 8080 -- ./server",
		Args:              atLeast(1, "start what? Give a program and its arguments."),
		ValidArgsFunction: completeProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.any != "" {
				host, err := a.fleet().Any(cmd, f.any, a.host())
				if err != nil {
					return err
				}
				a.hosts = []string{host}
			}
			in, err := a.processInput(cmd, f, args)
			if err != nil {
				return err
			}
			p, err := callWaiting(cmd.Context(), a, api.ProcessStart, in)
			if err != nil {
				return err
			}
			if err := a.out.Answer(p, func() string { return p.ID + "\n" }); err != nil {
				return err
			}
			// The id is printed first: the failed process has a record and a log.
			if p.State == api.StateFailed {
				return api.Errorf(api.CodeConflict, "start %s: %s", p.Name, p.Error)
			}
			return nil
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.keepAlive, "keep-alive", false, "restart it whenever it exits, and after a reboot")
	cmd.Flags().StringVar(&f.restart, "restart", "", "`when` to restart it: "+strings.Join(policies(), ", "))
	cmd.Flags().Var(&f.maxRestarts, "max-restarts", "give up after this many in a row; default unlimited")
	cmd.Flags().BoolVar(&f.tty, "tty", false, "give it a terminal, which makes it a session")
	cmd.Flags().StringVar(&f.readyLog, "ready-log", "", "it is ready when a line of its log matches this regular `expression`")
	cmd.Flags().IntVar(&f.readyPort, "ready-port", 0, "it is ready when this TCP `port` is open")
	cmd.Flags().StringVar(&f.stopSignal, "stop-signal", "", "`signal` asking the process to exit (default: TERM)")
	cmd.Flags().Var(&f.stopTimeout, "stop-timeout", "time allowed to exit before KILL (default: 8s)")
	cmd.Flags().BoolVar(&f.splitLog, "split-log", false, "log standard output and error separately")
	cmd.Flags().StringVar(&f.any, "any", "", "on any one machine of the fleet with the label `K=V`")
	cmd.Flags().Var(&f.logLimit, "log-limit", "maximum size of its log, such as 200MB; none for no limit")
	completeFlag(cmd, "restart", policies()...)
	completeFlag(cmd, "max-restarts", "3", "10", unlimited)
	completeFlag(cmd, "stop-signal", signals()...)
	completeFlag(cmd, "stop-timeout", "1s", "8s", "30s", "2m")
	completeFlag(cmd, "log-limit", "16MB", "64MB", "256MB", "1GB", "none")
	return cmd
}

func policies() []string {
	return []string{string(api.PolicyNo), string(api.PolicyOnFailure), string(api.PolicyAlways), string(api.PolicyUnlessStopped)}
}

func (a *app) processInput(cmd *cobra.Command, f startFlags, command []string) (in api.ProcessStartInput, err error) {
	if err := f.check(cmd); err != nil {
		return in, err
	}
	in = api.ProcessStartInput{Command: command, Name: f.name, Environ: a.environ(), Umask: a.umask(), TTY: f.tty, KeepAlive: f.keepAlive, SplitLog: f.splitLog,
		LogLimit: int64(f.logLimit), StopSignal: f.stopSignal, StopTimeoutMS: f.stopTimeout.milliseconds(), ID: api.NewID()}
	if f.restart != "" || f.maxRestarts.given {
		in.Restart = &api.Restart{Policy: api.Policy(f.restart), Max: f.maxRestarts.max}
		if f.restart == "" {
			in.Restart.Policy = api.PolicyOnFailure
			if f.keepAlive {
				in.Restart.Policy = api.PolicyAlways
			}
		}
	}
	if f.readyLog != "" || f.readyPort > 0 {
		in.Ready = &api.Readiness{Log: f.readyLog, Port: f.readyPort}
	}
	if f.tty {
		in.Cols, in.Rows = a.ownSize()
	}
	if in.Env, err = a.environment(cmd, f.launchFlags); err != nil {
		return in, err
	}
	if in.CWD, err = a.folder(f.cwd); err != nil {
		return in, err
	}
	in.Sandbox, err = f.confinement()
	return in, err
}

func (f *startFlags) check(cmd *cobra.Command) error {
	switch {
	case f.restart != "" && !slices.Contains(policies(), f.restart):
		return output.Usagef(cmd, "read --restart %s: must be %s", output.Visible(f.restart), strings.Join(policies(), ", "))
	case f.keepAlive && f.restart != "" && f.restart != string(api.PolicyAlways):
		return output.Usagef(cmd, "--keep-alive is short for --restart always; give one of the two")
	case f.maxRestarts.max > 0 && f.restart == string(api.PolicyNo):
		return output.Usagef(cmd, "--max-restarts cannot be used with --restart no")
	case cmd.Flags().Changed("ready-port") && (f.readyPort < 1 || f.readyPort > 65535):
		return output.Usagef(cmd, "read --ready-port %d: must be from 1 to 65535", f.readyPort)
	case f.tty && f.splitLog:
		return output.Usagef(cmd, "a terminal has one output: --split-log cannot be used with --tty")
	}
	return nil
}

// completeProgram lets the shell complete files, because programs and their arguments are files.
func completeProgram(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	// Fails only for unknown flags.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
