package sessions

import (
	"context"
	"errors"
	"slices"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// restoreFlags are the flags of restore.
type restoreFlags struct{ list, all, dismiss bool }

// NewRestore returns the command restore.
func NewRestore(f *factory.Factory) *cobra.Command {
	var opts restoreFlags
	cmd := &cobra.Command{
		Use:   "restore [--list] | [--dismiss] {ID… | --all}",
		Short: "Restore sessions that have ended, by a reboot or otherwise",
		Long: "Starts a shell in sessions that have ended: under the same id, below the old screen, in the\n" +
			"last folder, with the command that ran typed but not run. Without ids it lists those that a\n" +
			"reboot or crash ended. --dismiss stops offering these instead; they stay listed as exited.",
		Example:     "tandem restore\ntandem restore build web\ntandem restore --all",
		Annotations: factory.Several.Naming(factory.AllNames),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && opts.all, opts.list && (len(args) > 0 || opts.all || opts.dismiss):
				return output.Usagef(cmd, "give either ids or --all; --list takes neither of them, nor --dismiss")
			case opts.dismiss && len(args) == 0 && !opts.all:
				return output.Usagef(cmd, "which session? Give an id or name, or --all.")
			}
			return nil
		},
		ValidArgsFunction: f.CompleteSessions(func(p api.Process) bool { return p.State.Ended() && !p.IsPrivate() }),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.dismiss:
				out, err := factory.Call(cmd.Context(), f, api.SessionDismiss, api.SessionDismissInput{IDs: args, All: opts.all})
				if err != nil {
					return err
				}
				return f.Out.Answer(out, func() string { return "" })
			case opts.all || len(args) > 0:
				return restore(cmd.Context(), f, api.SessionRestoreInput{IDs: args, All: opts.all, RestoreID: api.NewID()})
			}
			return listInterrupted(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&opts.list, "list", false, "list them, which is the default")
	cmd.Flags().BoolVar(&opts.all, "all", false, "every session that a reboot or crash ended")
	cmd.Flags().BoolVar(&opts.dismiss, "dismiss", false, "do not offer them again")
	return cmd
}

func isInterrupted(p api.Process) bool { return p.Interrupted != nil }

const nothingToRestore = "nothing to restore: no reboot or crash ended a session"

func restore(ctx context.Context, f *factory.Factory, in api.SessionRestoreInput) error {
	in.Environ, in.Umask = f.StartEnviron(), f.StartUmask()
	out, err := factory.Call(ctx, f, api.SessionRestore, in)
	if err != nil {
		return err
	}
	if len(out.Restored)+len(out.Failed) == 0 && !f.Out.JSON {
		f.Out.Tell(nothingToRestore)
		return nil
	}
	restored, errs := out.Restored, make([]error, len(out.Restored))
	for _, one := range out.Failed {
		restored, errs = append(restored, api.RestoredSession{}), append(errs, errors.New(one.Error))
	}
	return output.AnswerAll(f.Out, restored, errs, func(one api.RestoredSession) string {
		text := output.Visible(one.Process.Name) + ": restored in " + output.Visible(f.DisplayPath(one.Folder)) + "\n"
		if one.Note != "" {
			text += "  " + output.Visible(one.Note) + "\n"
		}
		return text
	})
}

// listInterrupted lists the sessions to restore, the last interrupted first.
func listInterrupted(ctx context.Context, f *factory.Factory) error {
	out, err := factory.Call(ctx, f, api.SessionList, api.Empty{})
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(out.Sessions, func(p api.Process) bool { return !isInterrupted(p) })
	slices.SortStableFunc(all, func(a, b api.Process) int { return b.Interrupted.At.Compare(a.Interrupted.At) })
	return output.AnswerList(f.Out, all, nothingToRestore, func() string {
		t := f.Out.Table("ID", "NAME", "SINCE", "BY", "FOLDER", "RAN")
		t.Spare = []string{"BY", "ID", "SINCE", "FOLDER"}
		for _, p := range all {
			i := p.Interrupted
			t.Add(output.Text(p.ID), output.Tinted(output.Visible(p.Name), output.Strong), output.Text(i.At.Local().Format("Jan 2 15:04")), output.Text(i.By),
				output.Text(output.Visible(factory.TildePath(p.CWD))), output.Text(output.Visible(i.Program)))
		}
		return t.String()
	})
}

// restoreOne restores a session and prints its id, as new does.
func restoreOne(ctx context.Context, f *factory.Factory, id string) error {
	in := api.SessionRestoreInput{IDs: []string{id}, RestoreID: api.NewID(), Environ: f.StartEnviron(), Umask: f.StartUmask()}
	out, err := factory.Call(ctx, f, api.SessionRestore, in)
	switch {
	case err != nil:
		return err
	case len(out.Failed) > 0:
		return errors.New(out.Failed[0].Error)
	}
	restored := out.Restored[0]
	if restored.Note != "" {
		f.Out.Tell("%s", restored.Note)
	}
	return f.Out.Answer(restored.Process, func() string { return restored.Process.ID + "\n" })
}
