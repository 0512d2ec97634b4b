package manual

import (
	"tandem/ui/cli/factory"

	"github.com/spf13/cobra"
)

// NewMan returns the command man.
func NewMan(f *factory.Factory) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [--dir D]",
		Short: "Print the manual page",
		Long: "Prints the manual page tandem(1), with every command. With --dir it writes that\n" +
			"page and one for each command to D; man finds them there if D is a man1 folder of $MANPATH.",
		Example:     "tandem man | man -l -\ntandem man --dir ~/.local/share/man/man1",
		Annotations: factory.Here.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := cmd.Root()
			if dir == "" {
				text := Page(root, f.Version)
				return f.Out.Answer(map[string]string{"page": text}, func() string { return text })
			}
			if err := WritePages(dir, root, f.Version); err != nil {
				return err
			}
			return f.Out.Answer(map[string]string{"folder": dir}, func() string { return "" })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages to this `folder`")
	_ = cmd.MarkFlagDirname("dir") // fails only for an unknown flag
	return cmd
}
