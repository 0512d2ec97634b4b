// Package fleet implements the commands for a fleet: running a hub, joining and leaving, and
// listing machines.
package fleet

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/engine/remote/fleet"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/output"
)

// Commands implements the commands for a fleet.
type Commands struct{ f *factory.Factory }

// NewCommands returns the commands for the fleet that f gives access to.
func NewCommands(f *factory.Factory) *Commands { return &Commands{f} }

// NewFleet returns the command fleet.
func NewFleet(f *factory.Factory) *cobra.Command {
	v := NewCommands(f)
	var labels []string
	cmd := &cobra.Command{
		Use:   "fleet [--label K=V] [NAME…]",
		Short: "List the machines of the fleet",
		Long: "Lists the machines of your fleet as last reported to the hub: connected, or away (offline)\n" +
			"if nothing was heard from them for 12 seconds. Commands work on them with --host NAME or a\n" +
			"pattern such as 'web-*', and with --label role=web,zone!=b.",
		Example: "tandem fleet\ntandem fleet --label role=web --json\ntandem exec --label role=web -- uptime",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: v.Names,
		Annotations: factory.Here.Annotations(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.listMachines(cmd.Context(), api.FleetListInput{Names: args, Labels: labels})
		},
	}
	cmd.Flags().StringSliceVar(&labels, "label", nil, "only machines with these labels: `K=V`, K!=V")
	return cmd
}

// Names completes the names of the fleet's machines.
func (v *Commands) Names(cmd *cobra.Command, args []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	c, err := v.f.Fleet.Load()
	if err != nil || c.Person == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	machines, err := v.Machines(cmd.Context(), api.FleetListInput{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp // completion must not print errors into the line
	}
	for _, m := range machines {
		if !slices.Contains(args, m.Name) {
			found = append(found, cobra.CompletionWithDesc(m.Name, string(m.State)))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Machines returns the machines of the fleet selected by in.
func (v *Commands) Machines(ctx context.Context, in api.FleetListInput) ([]api.FleetMachine, error) {
	own, err := v.f.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	out, err := api.FleetList.Call(ctx, own, in)
	all := out.Machines
	// The number of rows in one answer is limited: ask again for the machines without rows.
	for missing := len(all); in.Rows && err == nil; {
		at, rest := map[string]int{}, api.FleetListInput{Rows: true}
		for i, m := range all {
			if m.Rows == nil {
				at[m.Name], rest.Names = i, append(rest.Names, m.Name)
			}
		}
		// Stop when a round brought no further rows.
		if len(at) == 0 || len(at) == missing {
			break
		}
		missing = len(at)
		out, err = api.FleetList.Call(ctx, own, rest)
		for _, m := range out.Machines {
			all[at[m.Name]] = m
		}
	}
	return all, err
}

// Rows returns the rows of a machine of the fleet. ok is false if the hub may not have all of them,
// so that the machine itself must be asked.
func Rows(m api.FleetMachine) (rows []api.Process, ok bool, err error) {
	switch {
	case m.Rows == nil:
		return nil, false, nil
	case m.State == api.FleetAway:
		return nil, true, fleet.AwaySince(m.Name, m.LastSeen)
	}
	return m.Rows, true, nil
}

// SelectHosts returns the names of all machines, of config.toml and of the fleet, that match any of
// in.Names, which are names or patterns, and all of in.Labels. members has the hub's data about
// those of the fleet, including their rows if requested.
func (v *Commands) SelectHosts(ctx context.Context, known factory.Machines, in api.FleetListInput) (hosts []string, members map[string]api.FleetMachine, err error) {
	hosts, err = machines.MatchNames(known, in.Names, len(in.Labels) > 0)
	if err != nil {
		return nil, nil, err
	}
	c, err := v.f.Fleet.Load()
	if err != nil {
		return nil, nil, err
	}
	members = map[string]api.FleetMachine{}
	if c.Person != "" || len(in.Labels) > 0 {
		found, err := v.Machines(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range found {
			// A machine of config.toml takes precedence over one of the fleet with the same name.
			if !slices.Contains(hosts, m.Name) {
				members[m.Name] = m
			}
		}
		hosts = slices.AppendSeq(hosts, maps.Keys(members))
	}
	if len(hosts) == 0 {
		return nil, nil, api.Errorf(api.CodeNotFound, "find machines: none has these names and labels").WithHint("`tandem fleet` and `tandem machine list` show them")
	}
	return slices.Compact(slices.Sorted(slices.Values(hosts))), members, nil
}

// HostNames completes the names of machines in config.toml and of the fleet.
func HostNames(known, joined cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := known(cmd, args, toComplete)
		if strings.Contains(toComplete, ",") {
			return found, directive
		}
		more, _ := joined(cmd, args, toComplete)
		return append(found, more...), directive
	}
}

// Any returns the name of a machine with a label that has answered, and tells the user.
func (v *Commands) Any(cmd *cobra.Command, label, host string) (string, error) {
	if host != "" {
		return "", output.Usagef(cmd, "give --host or --any, not both")
	}
	own, err := v.f.Connect(cmd.Context())
	if err != nil {
		return "", err
	}
	defer own.Close()
	out, err := api.FleetAny.Call(cmd.Context(), own, api.FleetAnyInput{Label: label})
	if err == nil {
		v.f.Out.Tell("on %s", output.Visible(out.Machine))
	}
	return out.Machine, err
}

func (v *Commands) listMachines(ctx context.Context, in api.FleetListInput) error {
	machines, err := v.Machines(ctx, in)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(machines, func(m api.FleetMachine) bool { return m.State == api.FleetConnected }) {
		v.tellFault(ctx)
	}
	empty := "no machines; `tandem hub invite machine NAME` on the hub invites one"
	if len(in.Names)+len(in.Labels) > 0 {
		empty = "no such machines"
	}
	return output.AnswerList(v.f.Out, machines, empty, func() string {
		t := v.f.Out.Table("NAME", "STATE", "PROCESSES", "VERSION", "SEEN", "LABELS")
		t.Spare = []string{"LABELS", "VERSION", "SEEN"}
		for _, m := range machines {
			tint := output.Green
			if m.State == api.FleetAway {
				tint = output.Faint
			}
			t.Add(output.Tinted(output.Visible(m.Name), output.Strong), output.Tinted(string(m.State), tint), output.Text(strconv.Itoa(m.Processes)),
				output.Text(output.Visible(m.Version)), output.Text(units.Age(time.Since(m.LastSeen))), output.Text(output.Visible(m.LabelText(",", "version", "hostname"))))
		}
		return t.String()
	})
}

// tellFault tells the user if the hub cannot be reached, as the list is then out of date.
func (v *Commands) tellFault(ctx context.Context) {
	own, err := v.f.Connect(ctx)
	if err != nil {
		return // the list came from the same engine
	}
	defer own.Close()
	status, err := api.FleetStatus.Call(ctx, own, api.Empty{})
	if err != nil {
		return
	}
	for _, self := range status.As {
		if self.Kind == string(fleet.KindPerson) && self.Error != "" {
			v.f.Out.Tell("the hub cannot be reached: %s", self.Error)
		}
	}
}
