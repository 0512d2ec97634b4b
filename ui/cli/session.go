package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

type newFlags struct {
	name, cwd, size string
	tree            codingagents.NewTree
}

func newCommand(a *app) *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new [--name N] [--cwd D] [--size 80x24] [--worktree [NAME] [--base REF]] [--] [CMD…]",
		Short: "Start a session and print its id",
		Long: "Starts a program, or your shell, in a new terminal that keeps running without you.\nPrints the session's id.\n" +
			"--worktree starts it in a new git worktree with a branch of its own, REPOSITORY.worktrees/NAME\nbeside the repository; `tandem worktree` lists, merges and removes those. Put -- before CMD then.",
		Example:           "tandem new\ntandem new --name build --cwd ~/src -- make watch\ntandem new --worktree fix-login --base main -- claude",
		ValidArgsFunction: completeProgram,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.tree.Read(cmd, args)
			if err != nil {
				return err
			}
			in, err := a.startInput(cmd, f, args)
			if err != nil {
				return err
			}
			if err := f.tree.Make(cmd.Context(), agentVerbs(a), &in); err != nil {
				return err
			}
			p, err := callWaiting(cmd.Context(), a, api.SessionStart, in)
			if err != nil {
				return err
			}
			return a.out.Answer(p, func() string { return p.ID + "\n" })
		},
	}
	cmd.Flags().SetInterspersed(false) // flags after CMD are CMD's
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the session (default: the program's)")
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "`folder` to start in (default: this one)")
	cmd.Flags().StringVar(&f.size, "size", "", "columns and rows: a `size` such as 80x24")
	f.tree.Add(cmd.Flags())
	return cmd
}

func (a *app) startInput(cmd *cobra.Command, f newFlags, command []string) (api.SessionStartInput, error) {
	in := api.SessionStartInput{Command: command, Name: f.name, Environ: a.environ(), Umask: a.umask(), ID: api.NewID()}
	var err error
	if in.CWD, err = a.folder(f.cwd); err != nil {
		return in, err
	}
	if f.size == "" {
		in.Cols, in.Rows = a.ownSize()
		return in, nil
	}
	if in.Cols, in.Rows, err = parseSize(f.size); err != nil {
		return in, output.Usagef(cmd, "%v", err)
	}
	return in, nil
}

func parseSize(s string) (cols, rows int, err error) {
	var rest string
	n, _ := fmt.Sscanf(strings.ToLower(s)+" .", "%dx%d %s", &cols, &rows, &rest)
	if n != 3 || rest != "." || cols < 1 || rows < 1 || cols > 1000 || rows > 1000 {
		return 0, 0, fmt.Errorf("read size %q: must be columns and rows up to 1000, as in 80x24", s)
	}
	return cols, rows, nil
}

// ownSize returns the size of this program's terminal, or 0, 0 without one.
func (a *app) ownSize() (cols, rows int) {
	for _, stream := range []any{a.Stdout, a.Stderr, a.Stdin} {
		if f, ok := output.Terminal(stream); ok {
			if cols, rows, err := term.GetSize(f.Fd()); err == nil {
				return cols, rows
			}
		}
	}
	return 0, 0
}

func sendCommand(a *app) *cobra.Command {
	var enter bool
	var names string
	cmd := &cobra.Command{
		Use:   "send ID [--enter] [--keys NAMES] [TEXT…]",
		Short: "Type into a session",
		Long: "Types into a session: the text, with blanks between its words, then the keys of\n--keys, then enter if --enter is given. " +
			"Key names are those of the help, such as\nctrl+c, up, f5, alt+x, enter, space.\n" +
			"If the program does not read everything within 2 seconds, send drops the rest and fails,\nreporting how many bytes were written.",
		Example:           "tandem send build --enter make test\ntandem send build --keys \"ctrl+c up enter\"\ntandem send build -- --not-a-flag",
		Args:              atLeast(1, "which session? Give an id or name."),
		ValidArgsFunction: a.completeSession(isLive),
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
			out, err := call(cmd.Context(), a, api.SessionWrite, in)
			if err != nil {
				return err
			}
			// The JSON answer reports the bytes written even if some were dropped.
			return errors.Join(a.out.Answer(out, func() string { return "" }), out.ShortWriteError(in.ID))
		},
	}
	cmd.Flags().BoolVar(&enter, "enter", false, "press enter at the end")
	cmd.Flags().StringVar(&names, "keys", "", "`names` of keys to press, with blanks between")
	return cmd
}

func killCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "kill ID…",
		Short:             "Kill sessions and everything that runs in them",
		Long:              "Kills sessions and everything running in them. Only daemons, which have left their\nterminal, keep running.",
		Example:           "tandem kill build",
		Args:              atLeast(1, "which session? Give an id or name."),
		ValidArgsFunction: a.completeSessions(isLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callEach(cmd, a, args, 1, byID(api.SessionKill), outcome)
		},
	}
}

// atLeast, atMost and exactly are cobra's argument checks with Tandem's messages.
func atLeast(n int, otherwise string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return output.Usagef(cmd, "%s", otherwise)
		}
		return nil
	}
}

func exactly(n int, otherwise string) cobra.PositionalArgs {
	return cobra.MatchAll(atMost(n), atLeast(n, otherwise))
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			if hint, ok := equivalents[cmd.Name()+" "+args[n]]; ok {
				return output.UsageError(fmt.Sprintf("unexpected argument %q", args[n]), hint)
			}
			return output.Usagef(cmd, "unexpected argument %q", output.Visible(args[n]))
		}
		return nil
	}
}

// home abbreviates the home directory in path to a tilde.
func home(path string) string {
	dir, _ := os.UserHomeDir() // on error dir is "", and TildePath changes nothing
	return api.TildePath(path, dir)
}
