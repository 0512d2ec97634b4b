package cli

import (
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

func listCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List sessions and processes, the live ones first",
		Example: "tandem ls\ntandem ls --json | jq -r '.[] | select(.state == \"running\").id'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := call(cmd.Context(), a, api.ProcessList, api.ProcessListInput{})
			if err != nil {
				return err
			}
			list := liveFirst(out.Processes)
			const none = "nothing is running yet; `tandem new` starts a session, `tandem start` a process, `tandem` opens the dashboard"
			return output.AnswerList(a.out, list, none, func() string { return sessionTable(a.out, list, time.Now()) })
		},
	}
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

func sessionTable(out output.Printer, list []api.Process, now time.Time) string {
	t := out.Table("ID", "NAME", "STATE", "PID", "AGE", "FOLDER", "COMMAND")
	t.Spare = []string{"FOLDER", "PID", "AGE", "ID"}
	for _, p := range list {
		pid := "-"
		if p.PID > 0 {
			pid = strconv.Itoa(p.PID)
		}
		t.Add(output.Text(p.ID), output.Tinted(output.Visible(p.Name), output.Strong), output.Tinted(output.StateText(p), output.StateTint(p)), output.Text(pid),
			output.Text(output.Age(p, now)), output.Text(output.Visible(home(p.CWD))), output.Text(output.Visible(p.Command)))
	}
	return t.String()
}
