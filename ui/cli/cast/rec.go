package cast

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/sessions"

	"github.com/spf13/cobra"
)

// NewRec returns the command rec.
func NewRec(f *factory.Factory) *cobra.Command {
	var o RecordOptions
	var since string
	cmd := &cobra.Command{
		Use:   "rec ID [-o FILE] [--since start] [--idle-limit D] | rec [-o FILE] -- CMD…",
		Short: "Record a session as an asciicast",
		Long: "Records a session's output as an asciicast v2 file, which `tandem play` and the\n" +
			"players of asciinema play. It records until the session exits or you press ctrl+c; with\n" +
			"--since start it first writes everything kept of the session so far, with its times\n" +
			"where the engine recorded them. With a command it runs that in this terminal\n" +
			"and records it. Your input is recorded only where the program shows it.",
		Example:           "tandem rec build\ntandem rec build --since start -o build.cast\ntandem rec --idle-limit 2s -- vim notes.md",
		Annotations:       factory.One.Naming(1),
		Args:              recArgs,
		ValidArgsFunction: f.CompleteSession(factory.AnyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Whole = since == "start"
			command := cmd.ArgsLenAtDash() == 0
			switch {
			case since != "" && since != "start" && since != "now":
				return output.Usagef(cmd, "read --since %s: must be start or now", output.Visible(since))
			case command && since != "":
				return output.Usagef(cmd, "--since needs a session, not a command")
			case command:
				return recordCommand(f, cmd, args, o)
			}
			return recordSession(cmd.Context(), f, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.Path, "output", "o", "", "`file` to write, or - (default: named after the session)")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace an existing file")
	flags.StringVar(&since, "since", "", "record from `when`: start (everything kept) or now (default)")
	flags.Var((*factory.Duration)(&o.Idle), "idle-limit", "longest pause that players show")
	factory.CompleteFlag(cmd, "since", "start", "now")
	return cmd
}

func recArgs(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() == 0 {
		return factory.AtLeast(1, "which command? Give one after --.")(cmd, args)
	}
	return factory.Exactly(1, "which session? Give an id or name, or a command after --.")(cmd, args)
}

// recordSession records an existing session.
func recordSession(ctx context.Context, f *factory.Factory, id string, o RecordOptions) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	p, err := factory.Call(ctx, f, api.SessionGet, api.IDInput{ID: id})
	if err != nil {
		return err
	}
	r, err := NewRecorder(f.Out, f.Dial, p.Name, o)
	if err != nil {
		return err
	}
	r.Process = p
	if !o.Whole {
		f.Out.Tell("recording %s to %s; press ctrl+c to stop", output.Visible(p.Name), output.Visible(r.Path))
	}
	err = r.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // the user pressed ctrl+c
	}
	return r.Finish(err)
}

// recordCommand runs a command in this terminal and records it. Without a terminal the command runs
// unseen.
func recordCommand(f *factory.Factory, cmd *cobra.Command, command []string, o RecordOptions) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	in, err := sessions.StartInput(f, "", command)
	if err != nil {
		return err
	}
	r, err := NewRecorder(f.Out, f.Dial, filepath.Base(command[0]), o)
	if err != nil {
		return err
	}
	p, err := factory.Call(ctx, f, api.SessionStart, in)
	if err != nil {
		return r.Finish(err)
	}
	r.Process, r.Since = p, new(int64)
	// With Since 0, the recording includes output from before the recorder connects.
	recording, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.Run(recording) }()
	_, reads := output.Terminal(f.Stdin)
	_, shows := output.Terminal(f.Stdout)
	if reads && shows {
		err = sessions.RunAttach(f, cmd, p.ID, false, "")
		if now, errNow := factory.Call(ctx, f, api.SessionGet, api.IDInput{ID: p.ID}); errNow != nil || !now.State.Ended() {
			cancel() // detached: stop recording, the session keeps running
		}
	}
	if errRec := <-done; err == nil && !errors.Is(errRec, context.Canceled) {
		err = errRec
	}
	return r.Finish(err)
}
