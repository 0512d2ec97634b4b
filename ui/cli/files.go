package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// DashboardOptions say with what the dashboard begins. Zero values begin with the
// sessions.
type DashboardOptions struct {
	Folder string // that the files view begins with
	Name   string // that the cursor is on there
	// Left is told the folder of the files view when the person leaves. The
	// dashboard is then drawn on the terminal itself, and says nothing at its end:
	// standard output is for the answer.
	Left func(folder string)
}

func filesCommand(a *app) *cobra.Command {
	var cd, nested bool
	cmd := &cobra.Command{
		Use:   "files [PATH] [--cd]",
		Short: "Open the dashboard at its files; --cd prints the folder you leave it in",
		Long: "Opens the dashboard at the files of a folder (default: this one), or with the cursor on a file.\n" +
			"With --cd it prints the folder that you leave it in, for a shell function that goes there:\n\n" +
			"  tcd() { local dir; dir=$(tandem files --cd \"$@\") && cd -- \"$dir\"; }      # bash, zsh\n" +
			"  function tcd; set -l dir (tandem files --cd $argv); and cd -- $dir; end   # fish",
		Example: "tandem files ~/src\ncd \"$(tandem files --cd)\"",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := filesAt(args)
			if err != nil {
				return err
			}
			if cd {
				o.Left = func(folder string) { fmt.Fprintln(a.Stdout, folder) }
			}
			return openDashboard(cmd.Context(), a, o, nested)
		},
	}
	cmd.Flags().BoolVar(&cd, "cd", false, "print the folder that you leave it in")
	cmd.Flags().BoolVar(&nested, "nested", false, "open it in a session of another data folder")
	return cmd
}

// filesAt is what the files view begins with: a folder, or a file in one.
func filesAt(args []string) (o DashboardOptions, err error) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	if path, err = filepath.Abs(path); err != nil {
		return o, fmt.Errorf("open files: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, api.Errorf(api.CodeNotFound, "open files: %s does not exist", output.Visible(path))
	case err != nil:
		return o, fmt.Errorf("open files: %w", err)
	case info.IsDir():
		return DashboardOptions{Folder: path}, nil
	}
	return DashboardOptions{Folder: filepath.Dir(path), Name: filepath.Base(path)}, nil
}
