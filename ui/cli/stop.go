package cli

import (
	"context"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// maxConcurrent is how many processes one command stops or restarts at the same time. It is more
// than 1, so that a slow one does not delay the others.
const maxConcurrent = 16

func stopCommand(a *app) *cobra.Command {
	var all bool
	var signal string
	cmd := &cobra.Command{
		Use:   "stop ID… [--signal S] | stop --all",
		Short: "Stop processes and everything they started",
		Long: "Stops processes and everything they started, and returns when all have exited. Sends the\n" +
			"stop signal (TERM by default, HUP for sessions of `tandem new`), then KILL if they take\n" +
			"too long. Stopped processes are not restarted. --all leaves sessions alone.",
		Example: "tandem stop web\ntandem stop --all\ntandem stop web --signal INT",
		Args: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return output.Usagef(cmd, "stop takes ids or --all, not both")
			}
			if all {
				return nil
			}
			return atLeast(1, "which process? Give an id or name, or --all.")(cmd, args)
		},
		ValidArgsFunction: a.completeProcesses(isLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				return a.stopAll(cmd, signal)
			}
			return callEach(cmd, a, args, maxConcurrent, func(ctx context.Context, e api.Engine, id string) (api.Process, error) {
				return api.ProcessStop.Call(ctx, e, api.ProcessStopInput{ID: id, Signal: signal})
			}, outcome)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every process")
	cmd.Flags().StringVar(&signal, "signal", "", "this `signal` instead of the stop signal")
	completeFlag(cmd, "signal", signals()...)
	return cmd
}

func (a *app) stopAll(cmd *cobra.Command, signal string) error {
	out, err := call(cmd.Context(), a, api.ProcessStopAll, api.ProcessStopAllInput{Signal: signal})
	if err != nil {
		return err
	}
	return output.AnswerList(a.out, out.Stopped, "no process is running", func() string {
		var b strings.Builder
		for _, p := range out.Stopped {
			b.WriteString(outcome(p))
		}
		return b.String()
	})
}

// outcome formats the name and state of a process as a line.
func outcome(p api.Process) string { return output.Visible(p.Name) + ": " + output.StateText(p) + "\n" }

func restartCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "restart ID…",
		Short:             "Restart processes, or start them again",
		Example:           "tandem restart web",
		Args:              atLeast(1, "which process? Give an id or name."),
		ValidArgsFunction: a.completeProcesses(anyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callEach(cmd, a, args, maxConcurrent, restart, outcome)
		},
	}
}

func restart(ctx context.Context, e api.Engine, id string) (api.Process, error) {
	return api.ProcessRestart.Call(ctx, e, api.ProcessRestartInput{ID: id, RestartID: api.NewID()})
}

func signalCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "signal ID SIGNAL",
		Short:             "Send a signal to a process and its group",
		Example:           "tandem signal web HUP\ntandem signal web 10",
		Args:              exactly(2, "which process and signal? Give an id or name, and a signal such as HUP."),
		ValidArgsFunction: a.completeSignal,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := call(cmd.Context(), a, api.ProcessSignal, api.ProcessSignalInput{ID: args[0], Signal: args[1]})
			if err != nil {
				return err
			}
			return a.out.Answer(out, func() string { return "" })
		},
	}
}

func signals() []string {
	return []string{"TERM", "HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "STOP", "CONT", "WINCH"}
}

func (c completer) completeSignal(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return c.completeProcesses(hasProgram)(cmd, args, toComplete)
	case 1:
		return signals(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// byID returns a function for calls to op, an operation with an id as its only input.
func byID[Out any](op api.Operation[api.IDInput, Out]) func(context.Context, api.Engine, string) (Out, error) {
	return func(ctx context.Context, e api.Engine, id string) (Out, error) {
		return op.Call(ctx, e, api.IDInput{ID: id})
	}
}

// callEach calls do for every id, at most atOnce at a time, and continues after errors. It prints
// the results in the order of ids; as JSON they are an array.
func callEach[Out any](cmd *cobra.Command, a *app, ids []string, atOnce int,
	do func(context.Context, api.Engine, string) (Out, error), text func(Out) string) error {
	conn, err := a.connectRetrying(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	outs, errs := make([]Out, len(ids)), make([]error, len(ids))
	slots := make(chan struct{}, atOnce)
	var calls sync.WaitGroup
	for i, id := range ids {
		slots <- struct{}{}
		calls.Go(func() {
			outs[i], errs[i] = do(cmd.Context(), conn, id)
			<-slots
		})
	}
	calls.Wait()
	return output.AnswerAll(a.out, outs, errs, text)
}
