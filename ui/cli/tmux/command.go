package tmux

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// name is the command's name, and the file name under which the program acts as tmux.
const name = "tmux"

// Arguments returns the arguments in argv, without the program's name. Run as tmux, as through the
// link of with-tmux, the program gets the tmux command in front of them.
func Arguments(argv []string) []string {
	if len(argv) > 0 && filepath.Base(argv[0]) == name {
		return append([]string{name}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// IsInvocation reports whether args are for Main: `tandem tmux` with anything but a lone --help.
func IsInvocation(args []string) bool {
	return len(args) > 0 && args[0] == name && (len(args) != 2 || args[1] != "--help")
}

// OptionsOf returns the connection, streams and environment of f.
func OptionsOf(f *factory.Factory) Options {
	return Options{Connect: f.Connect, Stdin: f.Stdin, Stdout: f.Stdout, Stderr: f.Stderr, Environ: f.Environ}
}

// NewTmux returns `tandem tmux`. It passes its arguments to Main unparsed.
func NewTmux(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux ARGS…",
		Short: "tmux's command line over Tandem's sessions",
		Long: "Does what tmux does with the same arguments, for scripts and agents that use it:\n" +
			"windows and panes are tabs and splits of the dashboard, and their programs are sessions.\n" +
			"What Tandem lacks is rejected by name; `tandem tmux list-commands` lists what it supports.",
		Example:            "tandem tmux new-session -d -s work\ntandem tmux split-window -h -t work -P -F '#{pane_id}' make watch\ntandem tmux capture-pane -p -t work:0.1",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		Annotations:        factory.Here.Annotations(),
		ValidArgsFunction:  completeName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "--help" {
				return cmd.Help()
			}
			if len(args) > 0 && strings.HasPrefix(args[0], "--") { // a global flag before tmux; tmux itself has none like it
				return output.Usagef(cmd, "%s works on this machine only, and takes no %s", cmd.CommandPath(), output.Visible(args[0]))
			}
			return exitError(Main(cmd.Context(), OptionsOf(f), args))
		},
	}
}

func completeName(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []cobra.Completion
	for _, h := range newTable(&call{}) {
		names = append(names, h.name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// NewWithTmux returns `tandem with-tmux`.
func NewWithTmux(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "with-tmux [--] CMD…",
		Short: "Run a program with Tandem as its tmux",
		Long: "Runs a program with TMUX set, and with a `tmux` first in its PATH that runs `tandem tmux`.\n" +
			"In a session of Tandem, TMUX_PANE names the session's own pane, and splits appear beside it\n" +
			"in the dashboard. Exits with the status of the program.",
		Annotations: factory.Here.Annotations(),
		Example:     "tandem with-tmux -- claude\ntandem with-tmux -- tmuxinator start work",
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
			code, err := RunWith(cmd.Context(), OptionsOf(f), args)
			if err != nil {
				return &output.ExitError{Status: max(code, 1), Err: err}
			}
			return exitError(code)
		},
	}
	cmd.Flags().SetInterspersed(false) // flags after CMD are for CMD
	return cmd
}

// exitError returns an exit status as an error, and nil for 0.
func exitError(code int) error {
	if code == 0 {
		return nil
	}
	return &output.ExitError{Status: code}
}
