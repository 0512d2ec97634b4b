package machines

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

const (
	// listWait is how long the list waits for connections in progress.
	listWait = 2 * time.Second
	// agentsWait is how long a machine may take to report its coding agents.
	agentsWait = time.Second
)

func (v *Commands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the machines and their states",
		Long: "Lists the machines of config.toml: connected, connecting, away (offline; Tandem keeps\n" +
			"trying) or needs_you (`tandem machine connect` lets it ask you), and what\n" +
			"the coding agents there are doing.",
		Example: "tandem machine list\ntandem machine list --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.list(cmd.Context()) },
	}
}

// A machineRow is a row of the list.
type machineRow struct {
	api.Machine
	Agents *api.AgentCount `json:"agents,omitempty"` // nil if there are none or the machine did not answer
}

func (v *Commands) list(ctx context.Context) error {
	out, err := factory.Call(ctx, v.f, api.MachineList, api.MachineListInput{WaitMS: int(listWait.Milliseconds())})
	if err != nil {
		return err
	}
	rows := v.withAgents(ctx, out.Machines)
	return output.AnswerList(v.f.Out, rows, "no machines; `tandem machine add NAME USER@HOST` adds one", func() string { return v.formatTable(rows) })
}

// withAgents asks all connected machines for their agents at the same time, so that a slow machine
// does not delay the others.
func (v *Commands) withAgents(ctx context.Context, machines []api.Machine) []machineRow {
	ctx, cancel := context.WithTimeout(ctx, agentsWait)
	defer cancel()
	rows := make([]machineRow, len(machines))
	var all sync.WaitGroup
	for i, m := range machines {
		rows[i].Machine = m
		if m.State == api.MachineConnected {
			all.Go(func() { rows[i].Agents = v.countAgents(ctx, m.Name) })
		}
	}
	all.Wait()
	return rows
}

func (v *Commands) countAgents(ctx context.Context, machine string) *api.AgentCount {
	far, err := v.f.ConnectMachine(ctx, machine)
	if err != nil {
		return nil // the next list shows it as offline
	}
	defer far.Close()
	out, err := api.SessionList.Call(ctx, far, api.Empty{})
	if err != nil {
		return nil
	}
	var count api.AgentCount
	for _, s := range out.Sessions {
		count.Add(s.Agent)
	}
	// Omit the field instead of reporting zeros.
	if count == (api.AgentCount{}) {
		return nil
	}
	return &count
}

func (v *Commands) formatTable(rows []machineRow) string {
	header := []string{"NAME", "STATE", "AGENTS", "VERSION", "RTT", "SEEN", "TARGET", "ERROR"}
	agents := slices.ContainsFunc(rows, func(r machineRow) bool { return r.Agents != nil })
	if !agents {
		header = slices.Delete(header, 2, 3)
	}
	t := v.f.Out.Table(header...)
	t.Spare = []string{"SEEN", "VERSION", "RTT", "TARGET"}
	for _, r := range rows {
		cells := []output.Cell{output.Tinted(r.Name, output.Strong), output.Tinted(string(r.State), stateTint(r.State))}
		if agents {
			cells = append(cells, agentsCell(r.Agents))
		}
		t.Add(append(cells, output.Text(cmp.Or(output.Visible(r.Version), "-")), output.Text(rttText(r.Machine)), output.Text(lastSeen(r.Machine)),
			output.Text(output.Visible(r.Target)), output.Text(cmp.Or(output.Visible(r.Error), "-")))...)
	}
	return t.String()
}

// agentsCell formats the agents of a machine.
func agentsCell(c *api.AgentCount) output.Cell {
	switch {
	case c == nil:
		return output.Text("-")
	case c.Blocked > 0:
		return output.Tinted(c.String(), output.Yellow)
	}
	return output.Text(c.String())
}
