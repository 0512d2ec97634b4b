package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/shell"
)

const shellPrompt = "tandem> "

func newShell(f *factory.Factory) *cobra.Command {
	s := &shell.Shell{Out: &f.Out, Stdin: f.Stdin, Env: f.Env}
	var list bool
	cmd := &cobra.Command{
		Use:   "shell [--prompt P] [--run LINE]…",
		Short: "Type commands at a prompt",
		Long: "Reads lines and runs each as a command with its arguments, quoted as in a shell.\n" +
			"cd and pwd work, too; help lists the commands; exit or ctrl+d leaves the shell.",
		Example:     "tandem shell\ntandem shell --run ps --run 'logs web -n 20'",
		Annotations: factory.Here.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				verbs := shellCommands(cmd.Root())
				return f.Out.Answer(verbs, func() string { return strings.Join(verbs, "\n") + "\n" })
			}
			s.Nonce, f.Environ = shell.TakeNonce(f.Environ)
			if f.Out.JSON {
				s.Prompt, s.Nonce = "", ""
			}
			s.Verb = func(ctx context.Context, stdin io.Reader, words []string) error {
				o := f.Options
				o.Stdin = stdin
				root := newRoot(factory.New(o))
				if f.Out.JSON {
					words = append([]string{"--json"}, words...)
				}
				root.SetArgs(words)
				return root.ExecuteContext(ctx)
			}
			return s.Loop(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&s.Prompt, "prompt", shellPrompt, "the `text` of the prompt")
	cmd.Flags().StringArrayVar(&s.First, "run", nil, "run this `line` first")
	cmd.Flags().BoolVar(&list, "commands", false, "list the commands, and exit")
	return cmd
}

// shellCommands returns the words allowed at the beginning of a line in the shell, sorted.
func shellCommands(root *cobra.Command) []string {
	words := []string{"cd", "pwd", "exit", "help"}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "shell" && c.Name() != "completion" {
			words = append(words, c.Name())
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
