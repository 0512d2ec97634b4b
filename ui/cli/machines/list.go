package machines

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

const (
	// listWait is how long the list waits for machines that are being connected to.
	listWait = 2 * time.Second
	// agentsWait is how long a machine has to tell of its coding agents.
	agentsWait = time.Second
)

func (v *Verbs) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the machines and how they are", Args: arguments(0, 0, ""),
		Long: "Lists the machines of config.toml: connected, connecting, away (it does not answer, and is\n" +
			"tried again by itself) or needs_you (`tandem machine connect` asks what it has to), and what\n" +
			"the coding agents there are doing.",
		Example: "tandem machine list\ntandem machine list --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.list(cmd.Context()) },
	}
}

// A listed machine is a row of the list.
type listed struct {
	api.Machine
	Agents *api.AgentCount `json:"agents,omitempty"` // none where there are none, or it has not told
}

func (v *Verbs) list(ctx context.Context) error {
	own, err := v.Own(ctx)
	if err != nil {
		return err
	}
	defer own.Close()
	out, err := api.MachineList.Call(ctx, own, api.MachineListInput{WaitMS: int(listWait.Milliseconds())})
	if err != nil {
		return err
	}
	rows := v.withAgents(ctx, out.Machines)
	return output.AnswerList(*v.Out, rows, "no machines; `tandem machine add NAME USER@HOST` adds one", func() string { return v.table(rows) })
}

// withAgents asks the machines that are connected what their agents are doing, all at once:
// none waits for another.
func (v *Verbs) withAgents(ctx context.Context, machines []api.Machine) []listed {
	ctx, cancel := context.WithTimeout(ctx, agentsWait)
	defer cancel()
	rows := make([]listed, len(machines))
	var all sync.WaitGroup
	for i, m := range machines {
		rows[i].Machine = m
		if m.State == api.MachineConnected {
			all.Go(func() { rows[i].Agents = v.agents(ctx, m.Name) })
		}
	}
	all.Wait()
	return rows
}

func (v *Verbs) agents(ctx context.Context, machine string) *api.AgentCount {
	far, err := v.Far(ctx, machine)
	if err != nil {
		return nil // the next list has it as away
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
	if count == (api.AgentCount{}) {
		return nil
	}
	return &count
}

func (v *Verbs) table(rows []listed) string {
	header := []string{"NAME", "STATE", "AGENTS", "VERSION", "RTT", "SEEN", "TARGET", "ERROR"}
	agents := slices.ContainsFunc(rows, func(r listed) bool { return r.Agents != nil })
	if !agents {
		header = slices.Delete(header, 2, 3)
	}
	t := v.Out.Table(header...)
	t.Spare = []string{"SEEN", "VERSION", "RTT", "TARGET"}
	for _, r := range rows {
		cells := []output.Cell{output.Tinted(r.Name, output.Strong), output.Tinted(string(r.State), tint(r.State))}
		if agents {
			cells = append(cells, doing(r.Agents))
		}
		t.Add(append(cells, output.Text(dash(output.Visible(r.Version))), output.Text(rtt(r.Machine)), output.Text(seen(r.Machine)),
			output.Text(output.Visible(r.Target)), output.Text(dash(output.Visible(r.Error))))...)
	}
	return t.String()
}

// doing is the cell of what the agents on a machine are doing.
func doing(c *api.AgentCount) output.Cell {
	switch {
	case c == nil:
		return output.Text("-")
	case c.Blocked > 0:
		return output.Tinted(c.String(), output.Yellow)
	}
	return output.Text(c.String())
}
