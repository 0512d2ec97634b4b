package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tandem/ui/cli/files"
)

// DashboardOptions configures the start of the dashboard. The zero value shows the sessions.
type DashboardOptions struct {
	Folder string // to open in the files view; a folder of another machine as api.PathOn writes it
	Name   string // entry of Folder to put the cursor on
	// OnLeave, if not nil, receives the folder of the files view when the user leaves it. The
	// dashboard then draws on the terminal itself and prints nothing at its end, because standard
	// output is for the answer.
	OnLeave func(folder string)
}

func filesCommand(a *app) *cobra.Command {
	v := files.Verb{Out: &a.out, Connect: a.connect, Host: a.host, Folder: a.folder,
		Open: func(ctx context.Context, folder, name string, printLast, nested bool) error {
			o := DashboardOptions{Folder: folder, Name: name}
			if printLast {
				o.OnLeave = func(folder string) { fmt.Fprintln(a.Stdout, folder) }
			}
			return openDashboard(ctx, a, o, nested)
		}}
	cmd := v.Command()
	cmd.Args = atMost(1)
	return cmd
}
