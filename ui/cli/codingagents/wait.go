package codingagents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// Conditions are the flags of `tandem wait` about the coding agent in a session.
type Conditions struct{ blocked, done, working bool }

func (c *Conditions) Add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.blocked, "blocked", false, "the coding agent in it needs you")
	flags.BoolVar(&c.done, "done", false, "the coding agent in it has finished its task")
	flags.BoolVar(&c.working, "working", false, "the coding agent in it works")
}

// States returns the states to wait for.
func (c *Conditions) States() (all []api.AgentState) {
	for state, wanted := range map[api.AgentState]bool{api.AgentBlocked: c.blocked, api.AgentDone: c.done, api.AgentWorking: c.working} {
		if wanted {
			all = append(all, state)
		}
	}
	return all
}

// Other returns the first flag given for a condition other than an agent's; "" for none.
func Other(cmd *cobra.Command) string {
	for _, name := range [...]string{"exit", "ready", "log", "port", "idle", "input", "prompt", "screen", "output"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// Wait waits until the agent in a session is in one of the given states, and prints the result.
func Wait(ctx context.Context, f *factory.Factory, id string, states []api.AgentState, timeout time.Duration) error {
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := retry.RepeatUntil(timeout, func(ms int) (out api.AgentWaitOutput, done bool, err error) {
		out, err = api.AgentWait.Call(ctx, p, api.AgentWaitInput{IDs: []string{id}, States: states, TimeoutMS: ms})
		return out, out.Process != nil || out.Ended, err
	})
	if err != nil {
		return err
	}
	if err := f.Out.Answer(out, func() string { return agentWaitText(out) }); err != nil || out.Process != nil {
		return err
	}
	message := fmt.Sprintf("wait for %s: timed out after %v", output.Visible(id), timeout)
	if out.Ended {
		message = fmt.Sprintf("wait for %s: it has exited", output.Visible(id))
	}
	return &output.ExitError{Status: output.StatusFailed, Err: errors.New(message)}
}

func agentWaitText(out api.AgentWaitOutput) string {
	if out.Process == nil {
		return ""
	}
	agent := out.Process.Agent
	text := output.Visible(out.Process.Name) + ": " + string(agent.State)
	if agent.Text != "" {
		text += ": " + output.Visible(agent.Text)
	}
	return text + "\n"
}
