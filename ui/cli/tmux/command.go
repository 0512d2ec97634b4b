package tmux

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/ui/cli/output"
)

// name is the verb, and the name under which the program is nothing but it.
const name = "tmux"

// Arguments are those after a program's name. One that is called tmux, as in the folder that
// with-tmux puts in front of PATH, is the verb.
func Arguments(argv []string) []string {
	if len(argv) > 0 && filepath.Base(argv[0]) == name {
		return append([]string{name}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// Asked reports whether arguments are tmux's own: all but `tandem tmux --help`.
func Asked(args []string) bool {
	return len(args) > 0 && args[0] == name && (len(args) != 2 || args[1] != "--help")
}

// Command returns `tandem tmux`. Its arguments are tmux's, so Main reads them.
func Command(o Options) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux ARGS…",
		Short: "tmux's command line over Tandem's sessions",
		Long: "Does what tmux does with the same arguments, for scripts and agents that use it:\n" +
			"windows and panes are tabs and splits of the dashboard, their programs ordinary sessions.\n" +
			"What Tandem lacks is rejected by name; `tandem tmux list-commands` lists the rest.",
		Example:            "tandem tmux new-session -d -s work\ntandem tmux split-window -h -t work -P -F '#{pane_id}' make watch\ntandem tmux capture-pane -p -t work:0.1",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		ValidArgsFunction:  completeVerb,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "--help" {
				return cmd.Help()
			}
			if len(args) > 0 && strings.HasPrefix(args[0], "--") { // stood before tmux, which has no such flags
				return output.Usagef(cmd, "%s works on this machine only, and takes no %s", cmd.CommandPath(), output.Visible(args[0]))
			}
			return status(Main(cmd.Context(), o, args))
		},
	}
}

func completeVerb(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []cobra.Completion
	for _, v := range verbs() {
		if handlers()[v.name].does != nil {
			names = append(names, v.name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// WithCommand returns `tandem with-tmux`.
func WithCommand(o Options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "with-tmux [--] CMD…",
		Short: "Run a program with Tandem as its tmux",
		Long: "Runs a program with a `tmux` first in its PATH that is `tandem tmux`, and with TMUX\n" +
			"set. In a session of Tandem, that is the pane the program is in (TMUX_PANE), and what it\n" +
			"splits appears beside it in the dashboard. The program's exit status is this command's.",
		Example: "tandem with-tmux -- claude\ntandem with-tmux -- tmuxinator start work",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return output.Usagef(cmd, "run what? Give a command.")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := With(cmd.Context(), o, args)
			if err != nil {
				return &output.ExitError{Status: max(code, 1), Message: err.Error()}
			}
			return status(code)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows CMD is CMD's
	return cmd
}

// status returns an exit status as an error; nil for 0.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return &output.ExitError{Status: code}
}
