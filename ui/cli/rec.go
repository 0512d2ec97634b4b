package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/cast"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type recFlags struct {
	output, since string
	overwrite     bool
	idle          duration
}

func (f recFlags) options() cast.RecordOptions {
	return cast.RecordOptions{Path: f.output, Overwrite: f.overwrite, Whole: f.since == "start", Idle: time.Duration(f.idle)}
}

func recCommand(a *app) *cobra.Command {
	var f recFlags
	cmd := &cobra.Command{
		Use:   "rec ID [-o FILE] [--since start] [--idle-limit D] | rec [-o FILE] -- CMD…",
		Short: "Record a session as an asciicast",
		Long: "Records a session's output as an asciicast v2 file, which `tandem play` and the\n" +
			"players of asciinema play. It records until the session exits or you press ctrl+c; with\n" +
			"--since start it first writes everything kept of the session so far, with its times\n" +
			"where the engine recorded them. With a command it runs that in this terminal\n" +
			"and records it. Your input is recorded only where the program shows it.",
		Example:           "tandem rec build\ntandem rec build --since start -o build.cast\ntandem rec --idle-limit 2s -- vim notes.md",
		Args:              a.recArgs,
		ValidArgsFunction: a.completeSession(anyProcess),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.since != "" && f.since != "start" && f.since != "now" {
				return output.Usagef(cmd, "read --since %s: must be start or now", output.Visible(f.since))
			}
			if cmd.ArgsLenAtDash() == 0 {
				if f.since != "" {
					return output.Usagef(cmd, "--since needs a session, not a command")
				}
				return a.recordCommand(cmd, args, f)
			}
			return a.recordSession(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` to write, or - (default: named after the session)")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an existing file")
	flags.StringVar(&f.since, "since", "", "record from `when`: start (everything kept) or now (default)")
	flags.Var(&f.idle, "idle-limit", "longest pause that players show")
	completeFlag(cmd, "since", "start", "now")
	return cmd
}

func (a *app) recArgs(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() == 0 {
		return atLeast(1, "which command? Give one after --.")(cmd, args)
	}
	return exactly(1, "which session? Give an id or name, or a command after --.")(cmd, args)
}

// recordSession records an existing session.
func (a *app) recordSession(ctx context.Context, id string, f recFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	client, err := a.connect(ctx)
	if err != nil {
		return err
	}
	p, err := api.SessionGet.Call(ctx, client, api.IDInput{ID: id})
	client.Close()
	if err != nil {
		return err
	}
	r, err := cast.NewRecorder(a.out, a.connect, p.Name, f.options())
	if err != nil {
		return err
	}
	r.Process = p
	if f.since != "start" {
		a.out.Tell("recording %s to %s; press ctrl+c to stop", output.Visible(p.Name), output.Visible(r.Path))
	}
	err = r.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // the user pressed ctrl+c
	}
	return r.Finish(err)
}

// recordCommand runs a command in this terminal and records it. Without a terminal the command runs
// unseen.
func (a *app) recordCommand(cmd *cobra.Command, command []string, f recFlags) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	in, err := a.startInput(cmd, newFlags{}, command)
	if err != nil {
		return err
	}
	r, err := cast.NewRecorder(a.out, a.connect, filepath.Base(command[0]), f.options())
	if err != nil {
		return err
	}
	p, err := call(ctx, a, api.SessionStart, in)
	if err != nil {
		return r.Finish(err)
	}
	r.Process, r.Since = p, new(int64)
	// Since 0 includes output from before the recorder connects.
	recording, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.Run(recording) }()
	_, reads := output.Terminal(a.Stdin)
	_, shows := output.Terminal(a.Stdout)
	if reads && shows {
		err = a.attach(cmd, p.ID, false, "")
		if now, errNow := call(ctx, a, api.SessionGet, api.IDInput{ID: p.ID}); errNow != nil || !now.State.Ended() {
			cancel() // detached: stop recording, the session keeps running
		}
	}
	if errRec := <-done; err == nil && !errors.Is(errRec, context.Canceled) {
		err = errRec
	}
	return r.Finish(err)
}
