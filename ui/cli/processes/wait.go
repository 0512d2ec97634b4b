package processes

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// NewWait returns the command wait.
func NewWait(f *factory.Factory) *cobra.Command {
	var in api.ProcessWaitInput
	var session api.SessionWaitInput
	var idle, timeout factory.Duration
	var agent codingagents.Conditions
	cmd := &cobra.Command{
		Use:   "wait ID [--exit|--ready|--log RE|--port N|--idle D|--input|--prompt|…] [--timeout D]",
		Short: "Wait until a process exits, is ready, prints something …",
		Long: "Waits until one of the conditions holds, by default until the process exits.\n" +
			"--input, --prompt, --screen and --output are conditions of sessions, --blocked, --done and\n" +
			"--working of the coding agent in one. Exits with 1 when none was met in time, or none can be\n" +
			"met any longer.",
		Example: "tandem wait web --ready --timeout 30s\ntandem wait build && echo done\ntandem wait web --log 'listening on' --idle 5s\n" +
			"tandem send db --enter 'psql' && tandem wait db --input --timeout 5s\ntandem wait claude --blocked --done",
		Annotations:       factory.Several.Naming(1),
		Args:              factory.Exactly(1, "which process? Give an id or name."),
		ValidArgsFunction: f.CompleteProcess(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.IdleMS = args[0], idle.Milliseconds()
			if _, err := regexp.Compile(in.Log); err != nil {
				return output.Usagef(cmd, "read --log: %v", err)
			}
			if in.Port < 0 || in.Port > 65535 {
				return output.Usagef(cmd, "read --port %d: must be a port up to 65535", in.Port)
			}
			if states := agent.States(); len(states) > 0 {
				if name := codingagents.Other(cmd); name != "" {
					return output.Usagef(cmd, "--%s cannot be used with --blocked, --done and --working", name)
				}
				return codingagents.Wait(cmd.Context(), f, args[0], states, time.Duration(timeout))
			}
			if err := checkSessionWait(cmd, session, in); err != nil {
				return err
			}
			if ofSession(session) {
				session.ID, session.Exit, session.Port, session.IdleMS = in.ID, in.Exit, in.Port, in.IdleMS
				return waitSession(cmd.Context(), f, session, time.Duration(timeout))
			}
			if !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 {
				in.Exit = true
			}
			return runWait(cmd.Context(), f, in, time.Duration(timeout))
		},
	}
	cmd.Flags().BoolVar(&in.Exit, "exit", false, "it has exited")
	cmd.Flags().BoolVar(&in.Ready, "ready", false, "it is ready")
	cmd.Flags().StringVar(&in.Log, "log", "", "a line of its log matches this regular `expression`")
	cmd.Flags().IntVar(&in.Port, "port", 0, "it listens on this TCP `port`")
	cmd.Flags().Var(&idle, "idle", "it has written nothing for this long")
	cmd.Flags().BoolVar(&session.Input, "input", false, "its program waits for typed input")
	cmd.Flags().BoolVar(&session.Prompt, "prompt", false, "its shell is at its prompt")
	cmd.Flags().StringVar(&session.Screen, "screen", "", "the text of its screen matches this regular `expression`")
	cmd.Flags().StringVar(&session.Output, "output", "", "what it prints from now on matches this regular `expression`")
	agent.Add(cmd.Flags())
	cmd.Flags().Var(&timeout, "timeout", "give up after this long (default: never)")
	return cmd
}

func runWait(ctx context.Context, f *factory.Factory, in api.ProcessWaitInput, timeout time.Duration) error {
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := retry.Wait(ctx, p, in, timeout)
	if err != nil {
		return err
	}
	if err := f.Out.Answer(out, func() string { return waitText(out, in) }); err != nil || out.Met != "" {
		return err
	}
	return notMet(out, in.Port, timeout)
}

// waitText formats the condition that was met.
func waitText(out api.ProcessWaitOutput, in api.ProcessWaitInput) string {
	name := output.Visible(out.Process.Name)
	switch out.Met {
	case "exit":
		if p := out.Process; !p.State.Ended() {
			return fmt.Sprintf("%s: exited with %s, now %s\n", name, output.ExitText(p), p.State)
		}
		return output.Outcome(out.Process)
	case "log":
		return output.Visible(out.Line) + "\n"
	case "port":
		return fmt.Sprintf("%s: port %d is open\n", name, in.Port)
	case "":
		return ""
	}
	return name + ": " + output.Visible(out.Met) + "\n"
}
