// Package sessions implements the commands about sessions: starting them, attaching to them, typing
// into them, showing their screens and killing them.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type newFlags struct {
	name, cwd, size string
	private         bool
	restore         string
	tree            codingagents.NewTree
}

// NewNew returns the command new.
func NewNew(f *factory.Factory) *cobra.Command {
	var opts newFlags
	cmd := &cobra.Command{
		Use:   "new [--name N] [--cwd D] [--size 80x24] [--private] [--worktree [NAME]] [--] [CMD…]",
		Short: "Start a session and print its id",
		Long: "Starts a program, or your shell, in a new terminal that keeps running without you.\nPrints the session's id.\n" +
			"--worktree starts it in a new git worktree with a branch of its own, REPOSITORY.worktrees/NAME\nbeside the repository; `tandem worktree` lists, merges and removes those. It needs -- before CMD.\n" +
			"--private writes nothing of it to disk, and keeps agents out of it.\n" +
			"--restore starts a shell in a session that a reboot or crash ended, as `tandem restore` does.",
		Example:           "tandem new\ntandem new --name build --cwd ~/src -- make watch\ntandem new --worktree fix-login --base main -- claude",
		Annotations:       factory.One.Annotations(),
		ValidArgsFunction: factory.CompleteProgram,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.restore != "" {
				if len(args) > 0 || slices.ContainsFunc([]string{"name", "cwd", "size", "private", "worktree"}, cmd.Flags().Changed) {
					return output.Usagef(cmd, "new --restore takes nothing else: the session keeps its name, folder and size")
				}
				return restoreOne(cmd.Context(), f, opts.restore)
			}
			args, err := opts.tree.Read(cmd, args)
			if err != nil {
				return err
			}
			in, err := StartInput(f, opts.cwd, args)
			if err != nil {
				return err
			}
			if in.Private = opts.private; in.Private {
				known, err := factory.CallWaiting(cmd.Context(), f, api.EngineOperations, api.Empty{})
				if err == nil {
					err = known.CheckInput(api.SessionStart.Name, "private")
				}
				if err != nil {
					return err
				}
			}
			if in.Name = opts.name; opts.size != "" {
				if in.Cols, in.Rows, err = parseSize(opts.size); err != nil {
					return output.Usagef(cmd, "%v", err)
				}
			}
			if err := opts.tree.Make(cmd.Context(), f, &in); err != nil {
				return err
			}
			p, err := factory.CallWaiting(cmd.Context(), f, api.SessionStart, in)
			if err != nil {
				return err
			}
			return f.Out.Answer(p, func() string { return p.ID + "\n" })
		},
	}
	cmd.Flags().SetInterspersed(false) // flags after CMD are CMD's
	cmd.Flags().StringVar(&opts.name, "name", "", "`name` of the session (default: the program's)")
	cmd.Flags().StringVar(&opts.cwd, "cwd", "", "`folder` to start in (default: this one)")
	cmd.Flags().StringVar(&opts.size, "size", "", "columns and rows: a `size` such as 80x24")
	cmd.Flags().BoolVar(&opts.private, "private", false, "write nothing of it to disk, and keep agents out")
	cmd.Flags().StringVar(&opts.restore, "restore", "", "`session` to restore, by id or name")
	opts.tree.Add(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("restore", f.CompleteSessions(isInterrupted)) // fails only for unknown flags
	return cmd
}

// StartInput returns the input to start a session in cwd, with the size of this terminal.
func StartInput(f *factory.Factory, cwd string, command []string) (in api.SessionStartInput, err error) {
	in = api.SessionStartInput{Command: command, Environ: f.StartEnviron(), Umask: f.StartUmask(), ID: api.NewID()}
	in.Cols, in.Rows = f.TerminalSize()
	in.CWD, err = f.Folder(cwd)
	return in, err
}

func parseSize(s string) (cols, rows int, err error) {
	var rest string
	n, _ := fmt.Sscanf(strings.ToLower(s)+" .", "%dx%d %s", &cols, &rows, &rest)
	if n != 3 || rest != "." || cols < 1 || rows < 1 || cols > 1000 || rows > 1000 {
		return 0, 0, fmt.Errorf("read size %q: must be columns and rows up to 1000, as in 80x24", s)
	}
	return cols, rows, nil
}

// NewSend returns the command send.
func NewSend(f *factory.Factory) *cobra.Command {
	var enter, insert bool
	var names string
	cmd := &cobra.Command{
		Use:   "send ID [--enter] [--keys NAMES] [--insert] [TEXT…]",
		Short: "Type into a session",
		Long: "Types into a session: the text, with blanks between its words, then the keys of\n--keys, then enter if --enter is given. " +
			"Key names are those of the help, such as\nctrl+c, up, f5, alt+x, enter, space.\n" +
			"With --insert, the text is a command to be edited at the prompt: it has no control characters,\n" +
			"and several lines only if the program takes them as a paste.\n" +
			"If the program does not read everything within 2 seconds, send drops the rest and fails,\nreporting how many bytes were written.",
		Example:           "tandem send build --enter make test\ntandem send build --keys \"ctrl+c up enter\"\ntandem send build -- --not-a-flag",
		Annotations:       factory.One.Naming(1),
		Args:              factory.AtLeast(1, "which session? Give an id or name."),
		ValidArgsFunction: f.CompleteSession(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.SessionWriteInput{ID: args[0], Text: strings.Join(args[1:], " "), Keys: strings.Fields(names)}
			for _, name := range in.Keys {
				if _, err := keys.Parse(name); err != nil {
					return output.Usagef(cmd, "%v", err)
				}
			}
			if enter {
				in.Keys = append(in.Keys, "enter")
			}
			if in.Text == "" && len(in.Keys) == 0 {
				return output.Usagef(cmd, "send what to %s? Give text, --keys or --enter.", output.Visible(in.ID))
			}
			if insert {
				if len(in.Keys) > 0 {
					return output.Usagef(cmd, "--insert runs nothing: leave out --keys and --enter")
				}
				_, err := factory.Call(cmd.Context(), f, api.SessionInsert, api.SessionInsertInput{ID: in.ID, Text: in.Text})
				return err
			}
			out, err := factory.Call(cmd.Context(), f, api.SessionWrite, in)
			if err != nil {
				return err
			}
			// The JSON answer reports the bytes written even if some were dropped.
			return errors.Join(f.Out.Answer(out, func() string { return "" }), out.ShortWriteError(in.ID))
		},
	}
	cmd.Flags().BoolVar(&enter, "enter", false, "press enter at the end")
	cmd.Flags().BoolVar(&insert, "insert", false, "type the text at the prompt without running it")
	cmd.Flags().StringVar(&names, "keys", "", "`names` of keys to press, with blanks between")
	return cmd
}

// NewRename returns the command rename.
func NewRename(f *factory.Factory) *cobra.Command {
	tab := false
	cmd := &cobra.Command{
		Use:   "rename ID NAME",
		Short: "Give a session another name",
		Long: "Gives a session another name. The dashboard then shows that instead of what runs in it.\n" +
			"With --tab, names the session's tab; an empty name takes that back.",
		Example:           "tandem rename bash-4 build\ntandem rename --tab build work",
		Annotations:       factory.One.Naming(1),
		Args:              factory.Exactly(2, "rename which session to what? Give the session and its new name."),
		ValidArgsFunction: f.CompleteSession(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			if tab {
				return renameTab(cmd.Context(), f, args[0], args[1])
			}
			out, err := factory.Call(cmd.Context(), f, api.SessionRename, api.SessionRenameInput{ID: args[0], Name: args[1]})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return "" })
		},
	}
	cmd.Flags().BoolVar(&tab, "tab", false, "name the tab with the session's pane")
	return cmd
}

// renameTab names the tab of a session.
func renameTab(ctx context.Context, f *factory.Factory, id, name string) error {
	p, err := factory.Call(ctx, f, api.ProcessGet, api.IDInput{ID: id})
	if err != nil {
		return err
	}
	in := api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutRename, ID: p.ID, Name: name}}}
	out, err := factory.Call(ctx, f, api.LayoutChanges, in)
	if err != nil {
		return err
	}
	return f.Out.Answer(out, func() string { return "" })
}

// NewKill returns the command kill.
func NewKill(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:               "kill ID…",
		Short:             "Kill sessions and everything that runs in them",
		Long:              "Kills sessions and everything running in them. Only daemons, which have left their\nterminal, keep running.",
		Example:           "tandem kill build",
		Annotations:       factory.Several.Naming(factory.AllNames),
		Args:              factory.AtLeast(1, "which session? Give an id or name."),
		ValidArgsFunction: f.CompleteSessions(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			return factory.CallEach(cmd, f, args, 1, factory.ByID(api.SessionKill), output.Outcome)
		},
	}
}
