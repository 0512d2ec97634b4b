package history

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/pick"
)

// Exit statuses of history pick, for the shell hooks.
const (
	statusEdit          = 10  // the command is to be edited before it runs
	statusNothingChosen = 130 // nothing was chosen, as after ctrl+c
)

// NewInit returns the command init.
func NewInit(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "init bash|zsh|fish",
		Short: "Print a script that opens the history on ctrl+r in your shell",
		Long: "Prints lines for a shell that make ctrl+r open Tandem's history, inside Tandem and\n" +
			"elsewhere. In the history, enter runs the command, tab puts it on the command line to be\n" +
			"edited, and esc leaves the line as it was.",
		Example: "eval \"$(tandem init bash)\"    # in ~/.bashrc\n" +
			"eval \"$(tandem init zsh)\"     # in ~/.zshrc\n" +
			"tandem init fish | source      # in ~/.config/fish/config.fish",
		Annotations: factory.Here.Annotations(),
		ValidArgs:   pick.Shells(),
		Args:        factory.Exactly(1, "which shell? Give bash, zsh or fish."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(pick.Shells(), args[0]) {
				return output.Usagef(cmd, "nothing to print for %s; must be bash, zsh or fish", output.Visible(args[0]))
			}
			hook := pick.ReadHook(args[0])
			return f.Out.Answer(map[string]string{"script": hook}, func() string { return hook })
		},
	}
}

func newPick(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "pick [QUERY…]",
		Short: "Choose a command from the history and print it",
		Long: "Shows the history on your terminal and prints the command that you choose, for scripts and\n" +
			"shells (see tandem init). The exit status is 0 after enter, 10 after tab, which means that\n" +
			"the command is to be edited first, and 130 if nothing was chosen.",
		Example:           "cmd=$(tandem history pick git) && eval \"$cmd\"",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := os.Getwd()
			if err != nil {
				folder = "" // the folder was deleted
			}
			chosen, err := pick.Run(cmd.Context(), pick.Options{
				Connect: f.Dial, Query: strings.Join(args, " "), Folder: folder, Home: f.Env("HOME"), Theme: f.Settings().ThemeFor,
			})
			switch {
			case err != nil:
				return api.Errorf(api.CodeInvalid, "pick from history: %v", err)
			case chosen.Line == "":
				return &output.ExitError{Status: statusNothingChosen}
			}
			answer := map[string]any{"command": chosen.Line, "run": chosen.Run}
			if err := f.Out.Answer(answer, func() string { return chosen.Line + "\n" }); err != nil || chosen.Run {
				return err
			}
			return &output.ExitError{Status: statusEdit}
		},
	}
}
