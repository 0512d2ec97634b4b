package processes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// ofSession reports whether in has a condition for sessions only.
func ofSession(in api.SessionWaitInput) bool {
	return in.Input || in.Prompt || in.Screen != "" || in.Output != ""
}

// checkSessionWait rejects invalid regular expressions and conditions that cannot be combined.
func checkSessionWait(cmd *cobra.Command, in api.SessionWaitInput, process api.ProcessWaitInput) error {
	for flag, expression := range map[string]string{"--screen": in.Screen, "--output": in.Output} {
		if _, err := regexp.Compile(expression); err != nil {
			return output.Usagef(cmd, "read %s: %v", flag, err)
		}
	}
	if ofSession(in) && (process.Ready || process.Log != "") {
		return output.Usagef(cmd, "--ready and --log are for processes; --input, --prompt, --screen and --output are for sessions")
	}
	return nil
}

// waitSession waits until one of the conditions is met or the session exits.
func waitSession(ctx context.Context, f *factory.Factory, in api.SessionWaitInput, timeout time.Duration) error {
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := retry.RepeatUntil(timeout, func(ms int) (out api.SessionWaitOutput, done bool, err error) {
		in.TimeoutMS = ms
		out, err = api.SessionWait.Call(ctx, p, in)
		// Continue after the output already searched, or a match could be missed between calls.
		in.Since = &out.NextCursor
		return out, out.Met != "" || out.Process.State.Ended(), err
	})
	if err != nil {
		return err
	}
	if err := f.Out.Answer(out, func() string { return sessionWaitText(out, in) }); err != nil || out.Met != "" {
		return err
	}
	return notMet(api.ProcessWaitOutput{Process: out.Process, PortHolder: out.PortHolder}, in.Port, timeout)
}

// notMet returns the error of an unsuccessful wait.
func notMet(out api.ProcessWaitOutput, port int, timeout time.Duration) error {
	p := out.Process
	message := fmt.Sprintf("wait for %s: timed out after %v", p.Name, timeout)
	if out.OpenCheck != "" {
		message += ": not ready: " + out.OpenCheck
	}
	if out.CrashLoop {
		message = fmt.Sprintf("wait for %s: it keeps exiting (status %s, restarts: %d)", p.Name, output.ExitText(p), p.Supervision.Automatic)
	}
	if p.State.Ended() {
		message = fmt.Sprintf("wait for %s: it exited: %s", p.Name, output.StateText(p))
		if p.Error != "" {
			message += ": " + p.Error
		}
	}
	if out.PortHolder != "" {
		message += fmt.Sprintf("; port %d is in use by %s", port, output.Visible(out.PortHolder))
	}
	return &output.ExitError{Status: output.StatusFailed, Err: errors.New(message)}
}

// sessionWaitText formats the condition that was met.
func sessionWaitText(out api.SessionWaitOutput, in api.SessionWaitInput) string {
	name := output.Visible(out.Process.Name)
	switch out.Met {
	case "output", "screen":
		return output.Visible(out.Text) + "\n"
	case "input":
		if out.Secret {
			return name + ": waits for a secret\n"
		}
		return name + ": waits for input\n"
	case "prompt":
		return name + ": is at its prompt\n"
	}
	return waitText(api.ProcessWaitOutput{Met: out.Met, Process: out.Process}, api.ProcessWaitInput{Port: in.Port})
}
