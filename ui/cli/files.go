package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tandem/ui/cli/files"
)

// DashboardOptions say with what the dashboard begins. Zero values begin with the
// sessions.
type DashboardOptions struct {
	Folder string // that the files view begins with, of another machine as api.PathOn writes it
	Name   string // that the cursor is on there
	// Left is told the folder of the files view when the person leaves. The
	// dashboard is then drawn on the terminal itself, and says nothing at its end:
	// standard output is for the answer.
	Left func(folder string)
}

func filesCommand(a *app) *cobra.Command {
	v := files.Verb{Out: &a.out, Connect: a.connect, Host: a.host, Folder: a.folder,
		Open: func(ctx context.Context, folder, name string, told, nested bool) error {
			o := DashboardOptions{Folder: folder, Name: name}
			if told {
				o.Left = func(folder string) { fmt.Fprintln(a.Stdout, folder) }
			}
			return openDashboard(ctx, a, o, nested)
		}}
	cmd := v.Command()
	cmd.Args = atMost(1)
	return cmd
}
