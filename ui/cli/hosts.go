package cli

import (
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/fleet"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/output"
	"tandem/ui/cli/processes"
	"tandem/ui/cli/ps"
)

// machineFlags select the machines to run a command on.
type machineFlags struct {
	f           *factory.Factory
	labels      []string                    // label conditions for machines of the fleet
	all         bool                        // all machines of config.toml
	chosen      bool                        // the machines come from a pattern or a label
	hubMachines map[string]api.FleetMachine // the hub's records of the fleet's machines
	parallel    int                         // machines at a time
}

func addMachineFlags(root *cobra.Command, f *factory.Factory) {
	m := &machineFlags{f: f}
	flags := root.PersistentFlags()
	flags.StringSliceVar(&f.Hosts, "host", nil, "run on the machine `NAME`; on several: a,b or 'web-*'")
	flags.StringSliceVar(&m.labels, "label", nil, "run on the fleet's machines with the label `K=V`; K!=V excludes")
	flags.IntVar(&m.parallel, "parallel", defaultParallel, "on `N` machines at a time")
	flags.BoolVar(&m.all, "all-hosts", false, "run on all machines of config.toml")
	_ = root.RegisterFlagCompletionFunc("host", fleet.HostNames(machines.NewCommands(f).Names, fleet.NewCommands(f).Names))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := output.CheckJSON(cmd, f.Out.JSON); err != nil {
			return err
		}
		hosts, err := m.resolveHosts(cmd)
		if err == nil && hosts != nil {
			err = m.runOn(cmd, hosts)
		}
		return err
	}
}

// defaultParallel is the default of --parallel.
const defaultParallel = 64

// resolveHosts checks the machine flags against cmd. If the command is to run on several machines,
// it returns their names; otherwise it sets the one machine of the factory.
func (m *machineFlags) resolveHosts(cmd *cobra.Command) ([]string, error) {
	how, asked := factory.ReachOf(cmd), cmd.Flags().Changed("host") || m.all || len(m.labels) > 0
	switch {
	case m.f.OnHost != "":
		return nil, nil
	// TANDEM_HOST must not break commands like `machine`, so only flags are an error.
	case how == factory.Here && asked:
		return nil, output.Usagef(cmd, "%s works on this machine only: --host is for commands such as ps, new, attach and exec", cmd.CommandPath())
	case how == factory.Here:
		m.f.Here = true
		return nil, nil
	}
	if !asked && strings.Contains(m.f.Env("TANDEM_HOST"), ",") {
		m.f.Hosts = strings.Split(m.f.Env("TANDEM_HOST"), ",")
	}
	// A machine named twice must not run the command twice.
	hosts := slices.Compact(slices.Sorted(slices.Values(m.f.Hosts)))
	if len(m.labels) > 0 || slices.ContainsFunc(hosts, machines.IsPattern) {
		return m.selectHosts(cmd, how, hosts)
	}
	switch {
	case m.all && len(hosts) > 0:
		return nil, output.Usagef(cmd, "give --host or --all-hosts, not both")
	case slices.Contains(hosts, "") || asked && !m.all && len(hosts) == 0:
		return nil, output.Usagef(cmd, "read --host: must be a name, or names with commas between them")
	case m.all:
		known, err := m.f.Machines.Load()
		if err != nil {
			return nil, err
		}
		for _, machine := range known {
			hosts = append(hosts, machine.Name)
		}
		if slices.Sort(hosts); len(hosts) == 0 {
			return nil, api.Errorf(api.CodeNotFound, "find machines: config.toml has none").WithHint("`tandem machine add NAME USER@HOST` adds one")
		}
	case len(hosts) < 2:
		return nil, nil
	}
	if how != factory.Several {
		return nil, output.Usagef(cmd, "%s works on one machine at a time", cmd.CommandPath())
	}
	return hosts, nil
}

// selectHosts finds the machines that match patterns and labels.
func (m *machineFlags) selectHosts(cmd *cobra.Command, how factory.Reach, wanted []string) ([]string, error) {
	if m.all {
		return nil, output.Usagef(cmd, "give --all-hosts, or --host and --label, not both")
	}
	hosts, records, err := fleet.NewCommands(m.f).SelectHosts(cmd.Context(), m.f.Machines, api.FleetListInput{Names: wanted, Labels: m.labels, Rows: factory.OnlyLists(cmd)})
	switch {
	case err != nil:
		return nil, err
	case how == factory.Several:
		m.chosen, m.hubMachines = true, records
		return hosts, nil
	case len(hosts) > 1:
		return nil, output.Usagef(cmd, "%s works on one machine at a time, and %d match", cmd.CommandPath(), len(hosts))
	}
	m.f.Hosts = hosts
	return nil, nil
}

// runOn runs the whole command line once per machine.
func (m *machineFlags) runOn(cmd *cobra.Command, hosts []string) error {
	follows := cmd.Flags().Lookup("follow") != nil && cmd.Flags().Changed("follow") || cmd.Flags().Changed("watch")
	s := machines.Spread{Out: m.f.Out, Stream: follows || cmd.Name() == "logs" || cmd.Name() == "search" || m.chosen, Max: m.parallel, Group: (m.chosen || m.all) && cmd.Name() == processes.CommandExec, Run: func(host string, g *output.Gather, stdout, stderr io.Writer) (int, error) {
		// Each run parses the whole command line again, with its own streams and target.
		o := m.f.Options
		o.OnHost, o.Gather, o.Stdin, o.Stdout, o.Stderr = host, g, strings.NewReader(""), stdout, stderr
		if ok, err := m.printFromHub(cmd.Name(), host, o.Printer()); ok {
			return output.ExitStatus(err), err
		}
		return run(cmd.Context(), o, o.Args)
	}}
	if len(hosts) > manyHosts {
		defer debug.SetGCPercent(debug.SetGCPercent(relaxedGCPercent))
	}
	return &output.ExitError{Status: s.On(hosts)}
}

// printFromHub prints a machine's processes as last reported to the hub, or the error it returns. If
// the machine has to be asked, ok is false.
func (m *machineFlags) printFromHub(verb, host string, out output.Printer) (ok bool, err error) {
	rows, ok, err := fleet.Rows(m.hubMachines[host])
	if !ok {
		return false, nil
	}
	out.JSON = m.f.Out.JSON
	switch {
	case err != nil:
	case verb == "ls":
		err = ls.PrintReported(out, rows)
	default:
		err = ps.PrintReported(out, rows)
	}
	if err != nil {
		out.Error(err)
	}
	return true, err
}

// With more than manyHosts machines, the garbage collector runs when memory has grown by
// relaxedGCPercent: each run takes a parsed command line, a connection and an answer, all garbage
// soon after.
const manyHosts, relaxedGCPercent = 50, 400
