package manual

import (
	"github.com/spf13/cobra"

	"tandem/ui/cli/output"
)

// Command returns the command man.
func Command(out *output.Printer, version string) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [--dir D]",
		Short: "Print the manual page",
		Long: "Prints the manual page tandem(1), with every command. With --dir it writes that\n" +
			"page and one for each command to D; man finds them there if D is a man1 folder of $MANPATH.",
		Example: "tandem man | man -l -\ntandem man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := cmd.Root()
			if dir == "" {
				text := Page(root, version)
				return out.Answer(map[string]string{"page": text}, func() string { return text })
			}
			if err := WritePages(dir, root, version); err != nil {
				return err
			}
			return out.Answer(map[string]string{"folder": dir}, func() string { return "" })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages to this `folder`")
	_ = cmd.MarkFlagDirname("dir") // fails only for an unknown flag
	return cmd
}
