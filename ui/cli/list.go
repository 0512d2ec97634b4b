package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/files"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

func listCommand(a *app) *cobra.Command {
	var verbose bool
	cmd := &cobra.Command{
		Use:     "ls [-v]",
		Aliases: []string{"list"},
		Short:   "List sessions and processes, the live ones first",
		Long:    "Lists sessions and processes, the live ones first. -v and --json tell the git branch that is\nchecked out where each is.",
		Example: "tandem ls\ntandem ls --json | jq -r '.[] | select(.state == \"running\").id'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.listed(cmd.Context(), verbose || a.out.JSON)
			if err != nil {
				return err
			}
			const none = "nothing is running yet; `tandem new` starts a session, `tandem start` a process, `tandem` opens the dashboard"
			return output.AnswerList(a.out, rows, none, func() string { return sessionTable(a.out, rows, verbose, time.Now()) })
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "with the git branch of each folder")
	return cmd
}

// A listRow is a row of ls.
type listRow struct {
	api.Process
	Branch string `json:"branch,omitempty"` // that is checked out where it is
}

// listed are the rows of ls, with branches if they are wanted.
func (a *app) listed(ctx context.Context, branches bool) ([]listRow, error) {
	out, err := call(ctx, a, api.ProcessList, api.ProcessListInput{})
	if err != nil {
		return nil, err
	}
	list := liveFirst(out.Processes)
	rows := make([]listRow, len(list))
	var folders []string
	for i, p := range list {
		if rows[i].Process = p; !p.State.Ended() {
			folders = append(folders, p.CWD)
		}
	}
	if !branches || len(folders) == 0 {
		return rows, nil
	}
	client, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found := files.Branches(ctx, client, folders)
	for i, p := range list {
		if !p.State.Ended() {
			rows[i].Branch = found[p.CWD]
		}
	}
	return rows, nil
}

// liveFirst orders processes: those that run, then those that have ended, each
// as they came.
func liveFirst(all []api.Process) []api.Process {
	list := make([]api.Process, 0, len(all))
	for _, ended := range [...]bool{false, true} {
		for _, p := range all {
			if p.State.Ended() == ended {
				list = append(list, p)
			}
		}
	}
	return list
}

func sessionTable(out output.Printer, rows []listRow, branches bool, now time.Time) string {
	header := []string{"ID", "NAME", "STATE", "PID", "AGE", "BRANCH", "FOLDER", "COMMAND"}
	if !branches {
		header = slices.Delete(header, 5, 6)
	}
	t := out.Table(header...)
	t.Spare = []string{"FOLDER", "PID", "AGE", "ID"}
	for _, p := range rows {
		pid := "-"
		if p.PID > 0 {
			pid = strconv.Itoa(p.PID)
		}
		cells := []output.Cell{output.Text(p.ID), output.Tinted(output.Visible(p.Name), output.Strong),
			output.Tinted(output.StateText(p.Process), output.StateTint(p.Process)), output.Text(pid), output.Text(output.Age(p.Process, now))}
		if branches {
			cells = append(cells, output.Text(cmp.Or(output.Visible(p.Branch), "-")))
		}
		t.Add(append(cells, output.Text(output.Visible(home(p.CWD))), output.Text(output.Visible(p.Command)))...)
	}
	return t.String()
}
