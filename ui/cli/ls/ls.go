// Package ls implements the command ls: a table of sessions and processes, with the git branch of
// each folder.
package ls

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// NewLs returns the command ls.
func NewLs(f *factory.Factory) *cobra.Command {
	var verbose, all bool
	cmd := &cobra.Command{
		Use:         "ls [-v] [-a]",
		Aliases:     []string{"list"},
		Short:       "List sessions and processes, the live ones first",
		Long:        "Lists sessions and processes, live ones first. -v and --json add the git branch of each\nfolder. -a includes exited commands of `tandem exec`.",
		Example:     "tandem ls\ntandem ls --json | jq -r '.[] | select(.state == \"running\").id'",
		Annotations: factory.ListAnnotations("verbose"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := listRows(cmd.Context(), f, all, verbose || f.Out.JSON)
			if err != nil {
				return err
			}
			return answer(f.Out, rows, verbose)
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "with the git branch of each folder")
	AddAll(cmd, &all)
	return cmd
}

// AddAll adds the flag -a, which lists exited one-shot commands.
func AddAll(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVarP(all, "all", "a", false, "include exited one-shot commands")
}

// WithoutDone removes exited one-shot commands from list, except stopped ones and those with
// processes still running at the last measurement.
func WithoutDone(list []api.Process) []api.Process {
	return slices.DeleteFunc(list, func(p api.Process) bool {
		done := p.State == api.StateExited || p.State == api.StateFailed
		return done && p.Supervision != nil && p.Supervision.Transient && (p.Metrics == nil || p.Metrics.Processes == 0)
	})
}

// PrintReported lists the processes that a machine of a fleet reported to the hub.
func PrintReported(out output.Printer, all []api.Process) error {
	return answer(out, newRows(output.LiveFirst(all)), false)
}

func answer(out output.Printer, rows []row, verbose bool) error {
	const none = "nothing is running yet; `tandem new` starts a session, `tandem start` a process, `tandem` opens the dashboard"
	return output.AnswerList(out, rows, none, func() string { return formatTable(out, rows, verbose, time.Now()) })
}

func newRows(list []api.Process) []row {
	rows := make([]row, len(list))
	for i, p := range list {
		rows[i].Process = p
	}
	return rows
}

// A row is an element of ls --json.
type row struct {
	api.Process
	Branch string `json:"branch,omitempty"` // git branch of its folder
}

// listRows returns the rows of ls, with branches if requested.
func listRows(ctx context.Context, f *factory.Factory, all, branches bool) ([]row, error) {
	conn, err := f.DialRetrying(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	out, err := api.ProcessList.Call(ctx, conn, api.ProcessListInput{})
	if err != nil {
		return nil, err
	}
	if !all {
		out.Processes = WithoutDone(out.Processes)
	}
	list := output.LiveFirst(out.Processes)
	rows := newRows(list)
	var folders []string
	for _, p := range list {
		if !p.State.Ended() {
			folders = append(folders, p.CWD)
		}
	}
	// Looking up a branch may be slow, so it is done only on request.
	if !branches || len(folders) == 0 {
		return rows, nil
	}
	found := findBranches(ctx, conn.Client, folders)
	for i, p := range list {
		if !p.State.Ended() {
			rows[i].Branch = found[p.CWD]
		}
	}
	return rows, nil
}

func formatTable(out output.Printer, rows []row, branches bool, now time.Time) string {
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
			output.Tinted(output.StateText(p.Process), output.StateTint(p.Process)), output.Text(pid), output.Text(output.ProcessAge(p.Process, now))}
		if branches {
			cells = append(cells, output.Text(cmp.Or(output.Visible(p.Branch), "-")))
		}
		t.Add(append(cells, output.Text(output.Visible(factory.TildePath(p.CWD))), output.Text(output.Visible(p.Command)))...)
	}
	return t.String()
}
