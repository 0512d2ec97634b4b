// Package processes implements the commands that start, supervise, signal and delete processes, run a
// command to its end, wait for conditions, and set variables for whatever starts next.
package processes

import (
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/fleet"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type startFlags struct {
	launchFlags
	keepAlive, tty, splitLog, noStdin bool
	restart, readyLog, any            string
	stopSignal                        string
	readyPort                         int
	maxRestarts                       int // 0 means unlimited
	logLimit                          int64
	stopTimeout                       factory.Duration
}

// NewStart returns the command start.
func NewStart(f *factory.Factory) *cobra.Command {
	var opts startFlags
	cmd := &cobra.Command{
		Use:   "start [FLAGS] [--] CMD…",
		Short: "Start a background process and print its id",
		Long: "Starts a program that keeps running without you, and supervises it. Its output goes\nto a log, " +
			"which `tandem logs` shows. Prints the process's id.\n" +
			"--max-restarts counts restarts without a healthy run of 10 seconds in between\n(of 30 with --keep-alive); alone it means --restart on-failure.\n\n" + sandboxHelp,
		Example: "tandem start --name web --keep-alive -- python3 -m http.server 0\n" +
			"tandem start --restart on-failure --max-restarts 5 --ready-port 8080 -- ./server",
		Annotations:       factory.Several.Annotations(),
		Args:              factory.AtLeast(1, "start what? Give a program and its arguments."),
		ValidArgsFunction: factory.CompleteProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.any != "" {
				host, err := fleet.NewCommands(f).Any(cmd, opts.any, f.Host())
				if err != nil {
					return err
				}
				f.Hosts = []string{host}
			}
			in, err := processInput(f, cmd, opts, args)
			if err != nil {
				return err
			}
			p, err := factory.CallWaiting(cmd.Context(), f, api.ProcessStart, in)
			if err != nil {
				return err
			}
			if err := f.Out.Answer(p, func() string { return p.ID + "\n" }); err != nil {
				return err
			}
			// The id is printed first: the failed process has a record and a log.
			if p.State == api.StateFailed {
				return api.Errorf(api.CodeConflict, "start %s: %s", p.Name, p.Error)
			}
			return nil
		},
	}
	opts.add(cmd.Flags())
	cmd.Flags().BoolVar(&opts.keepAlive, "keep-alive", false, "restart it whenever it exits, and after a reboot")
	cmd.Flags().StringVar(&opts.restart, "restart", "", "`when` to restart it: "+strings.Join(policies(), ", "))
	cmd.Flags().Func("max-restarts", "give up after this `count` in a row; default unlimited", setTo(&opts.maxRestarts, parseRestarts))
	cmd.Flags().BoolVar(&opts.tty, "tty", false, "give it a terminal, which makes it a session")
	cmd.Flags().StringVar(&opts.readyLog, "ready-log", "", "it is ready when a line of its log matches this regular `expression`")
	cmd.Flags().IntVar(&opts.readyPort, "ready-port", 0, "it is ready when this TCP `port` is open")
	cmd.Flags().StringVar(&opts.stopSignal, "stop-signal", "", "`signal` asking the process to exit (default: TERM)")
	cmd.Flags().Var(&opts.stopTimeout, "stop-timeout", "time allowed to exit before KILL (default: 8s)")
	cmd.Flags().BoolVar(&opts.splitLog, "split-log", false, "log standard output and error separately")
	cmd.Flags().BoolVar(&opts.noStdin, "no-stdin", false, "give it /dev/null as standard input (default: open, but silent)")
	cmd.Flags().StringVar(&opts.any, "any", "", "on any one machine of the fleet with the label `K=V`")
	cmd.Flags().Func("log-limit", "maximum `size` of its log, such as 200MB; none for no limit", setTo(&opts.logLimit, parseSize))
	factory.CompleteFlag(cmd, "restart", policies()...)
	factory.CompleteFlag(cmd, "max-restarts", "3", "10", unlimited)
	factory.CompleteFlag(cmd, "stop-signal", signals()...)
	factory.CompleteFlag(cmd, "stop-timeout", "1s", "8s", "30s", "2m")
	factory.CompleteFlag(cmd, "log-limit", "16MB", "64MB", "256MB", "1GB", "none")
	return cmd
}

func policies() []string {
	return []string{string(api.PolicyNo), string(api.PolicyOnFailure), string(api.PolicyAlways)}
}

func processInput(f *factory.Factory, cmd *cobra.Command, opts startFlags, command []string) (in api.ProcessStartInput, err error) {
	if err := opts.check(cmd); err != nil {
		return in, err
	}
	in = api.ProcessStartInput{Command: command, Name: opts.name, Environ: f.StartEnviron(), Umask: f.StartUmask(), TTY: opts.tty, KeepAlive: opts.keepAlive, SplitLog: opts.splitLog, NoStdin: opts.noStdin,
		LogLimit: opts.logLimit, StopSignal: opts.stopSignal, StopTimeoutMS: opts.stopTimeout.Milliseconds(), ID: api.NewID()}
	if opts.restart != "" || cmd.Flags().Changed("max-restarts") {
		in.Restart = &api.Restart{Policy: api.Policy(opts.restart), Max: opts.maxRestarts}
		if opts.restart == "" {
			in.Restart.Policy = api.PolicyOnFailure
			if opts.keepAlive {
				in.Restart.Policy = api.PolicyAlways
			}
		}
	}
	if opts.readyLog != "" || opts.readyPort > 0 {
		in.Ready = &api.Readiness{Log: opts.readyLog, Port: opts.readyPort}
	}
	if opts.tty {
		in.Cols, in.Rows = f.TerminalSize()
	}
	if in.Env, err = environment(f, cmd, opts.launchFlags); err != nil {
		return in, err
	}
	if in.CWD, err = f.Folder(opts.cwd); err != nil {
		return in, err
	}
	in.Sandbox, err = opts.confinement()
	return in, err
}

func (opts *startFlags) check(cmd *cobra.Command) error {
	policy, known := api.ParsePolicy(opts.restart)
	switch {
	case opts.restart != "" && !known:
		return output.Usagef(cmd, "read --restart %s: must be %s", output.Visible(opts.restart), strings.Join(policies(), ", "))
	case opts.keepAlive && known && policy != api.PolicyAlways:
		return output.Usagef(cmd, "--keep-alive is short for --restart always; give one of the two")
	case opts.maxRestarts > 0 && policy == api.PolicyNo:
		return output.Usagef(cmd, "--max-restarts cannot be used with --restart no")
	case cmd.Flags().Changed("ready-port") && (opts.readyPort < 1 || opts.readyPort > 65535):
		return output.Usagef(cmd, "read --ready-port %d: must be from 1 to 65535", opts.readyPort)
	case opts.tty && opts.splitLog:
		return output.Usagef(cmd, "a terminal has one output: --split-log cannot be used with --tty")
	case opts.tty && opts.noStdin:
		return output.Usagef(cmd, "a session reads its terminal: --no-stdin cannot be used with --tty")
	}
	return nil
}
