package cli

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

func waitCommand(a *app) *cobra.Command {
	var in api.ProcessWaitInput
	var session api.SessionWaitInput
	var idle, timeout duration
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
		Args:              exactly(1, "which process? Give an id or name."),
		ValidArgsFunction: a.completeProcess(isLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.IdleMS = args[0], idle.milliseconds()
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
				return codingagents.Wait(cmd.Context(), agentVerbs(a), args[0], states, time.Duration(timeout))
			}
			if err := checkSessionWait(cmd, session, in); err != nil {
				return err
			}
			if ofSession(session) {
				session.ID, session.Exit, session.Port, session.IdleMS = in.ID, in.Exit, in.Port, in.IdleMS
				return a.waitSession(cmd.Context(), session, time.Duration(timeout))
			}
			if !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 {
				in.Exit = true
			}
			return a.wait(cmd.Context(), in, time.Duration(timeout))
		},
	}
	cmd.Flags().BoolVar(&in.Exit, "exit", false, "it has ended")
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

func (a *app) wait(ctx context.Context, in api.ProcessWaitInput, timeout time.Duration) error {
	p, err := retry.Connect(ctx, a.connect)
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := retry.Wait(ctx, p, in, timeout)
	if err != nil {
		return err
	}
	if err := a.out.Answer(out, func() string { return waitText(out, in) }); err != nil || out.Met != "" {
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
		return outcome(out.Process)
	case "log":
		return output.Visible(out.Line) + "\n"
	case "port":
		return fmt.Sprintf("%s: port %d is open\n", name, in.Port)
	case "":
		return ""
	}
	return name + ": " + output.Visible(out.Met) + "\n"
}
