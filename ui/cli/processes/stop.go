package processes

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// maxConcurrent is how many processes one command stops or restarts at the same time. It is more
// than 1, so that a slow one does not delay the others.
const maxConcurrent = 16

// NewStop returns the command stop.
func NewStop(f *factory.Factory) *cobra.Command {
	var all bool
	var signal string
	cmd := &cobra.Command{
		Use:   "stop ID… [--signal S] | stop --all",
		Short: "Stop processes and everything they started",
		Long: "Stops processes and everything they started, and returns when all have exited. Sends the\n" +
			"stop signal (TERM by default, HUP for sessions of `tandem new`), then KILL if they take\n" +
			"too long. Stopped processes are not restarted. --all leaves sessions alone.",
		Example:     "tandem stop web\ntandem stop --all\ntandem stop web --signal INT",
		Annotations: factory.Several.Naming(factory.AllNames),
		Args: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return output.Usagef(cmd, "stop takes ids or --all, not both")
			}
			if all {
				return nil
			}
			return factory.AtLeast(1, "which process? Give an id or name, or --all.")(cmd, args)
		},
		ValidArgsFunction: f.CompleteProcesses(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				return stopAll(f, cmd, signal)
			}
			return factory.CallEach(cmd, f, args, maxConcurrent, func(ctx context.Context, e api.Engine, id string) (api.Process, error) {
				return api.ProcessStop.Call(ctx, e, api.ProcessStopInput{ID: id, Signal: signal})
			}, output.Outcome)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every process")
	cmd.Flags().StringVar(&signal, "signal", "", "this `signal` instead of the stop signal")
	factory.CompleteFlag(cmd, "signal", signals()...)
	return cmd
}

func stopAll(f *factory.Factory, cmd *cobra.Command, signal string) error {
	out, err := factory.Call(cmd.Context(), f, api.ProcessStopAll, api.ProcessStopAllInput{Signal: signal})
	if err != nil {
		return err
	}
	return output.AnswerList(f.Out, out.Stopped, "no process is running", func() string {
		var b strings.Builder
		for _, p := range out.Stopped {
			b.WriteString(output.Outcome(p))
		}
		return b.String()
	})
}

// NewRestart returns the command restart.
func NewRestart(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "restart ID…",
		Short:             "Restart processes, running or exited",
		Example:           "tandem restart web",
		Annotations:       factory.Several.Naming(factory.AllNames),
		Args:              factory.AtLeast(1, "which process? Give an id or name."),
		ValidArgsFunction: f.CompleteProcesses(factory.AnyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			return factory.CallEach(cmd, f, args, maxConcurrent, restart, output.Outcome)
		},
	}
}

func restart(ctx context.Context, e api.Engine, id string) (api.Process, error) {
	return api.ProcessRestart.Call(ctx, e, api.ProcessRestartInput{ID: id, RestartID: api.NewID()})
}

// NewSignal returns the command signal.
func NewSignal(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "signal ID SIGNAL",
		Short:             "Send a signal to a process and its group",
		Example:           "tandem signal web HUP\ntandem signal web 10",
		Annotations:       factory.One.Naming(1),
		Args:              factory.Exactly(2, "which process and signal? Give an id or name, and a signal such as HUP."),
		ValidArgsFunction: completeSignal(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := factory.Call(cmd.Context(), f, api.ProcessSignal, api.ProcessSignalInput{ID: args[0], Signal: args[1]})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return "" })
		},
	}
}

// hasProgram accepts processes with a program that can be signalled.
func hasProgram(p api.Process) bool {
	return p.State == api.StateRunning || p.State == api.StateStopping
}

func signals() []string {
	return []string{"TERM", "HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "STOP", "CONT", "WINCH"}
}

func completeSignal(f *factory.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return f.CompleteProcesses(hasProgram)(cmd, args, toComplete)
		case 1:
			return signals(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
