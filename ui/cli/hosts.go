package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/fleet"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/output"
	"tandem/ui/cli/ps"
)

// A target is the machine, or machines, to run a command on.
type target struct {
	options     Options
	hosts       []string                    // from --host or TANDEM_HOST; none means this machine
	labels      []string                    // label conditions for machines of the fleet
	all         bool                        // all machines of config.toml
	chosen      bool                        // the machines come from a pattern or a label
	hubMachines map[string]api.FleetMachine // the hub's records of the fleet's machines
	parallel    int                         // machines at a time
	here        bool                        // the command works on this machine only, even with TANDEM_HOST
}

func (a *app) addHosts(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringSliceVar(&a.hosts, "host", nil, "run on the machine `NAME`; on several: a,b or 'web-*'")
	flags.StringSliceVar(&a.labels, "label", nil, "run on the fleet's machines with the label `K=V`; K!=V excludes")
	flags.IntVar(&a.parallel, "parallel", defaultParallel, "on `N` machines at a time")
	flags.BoolVar(&a.all, "all-hosts", false, "run on all machines of config.toml")
	_ = root.RegisterFlagCompletionFunc("host", fleet.HostNames(a.machines().Names, a.fleet().Names))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := output.CheckJSON(cmd, a.out.JSON); err != nil {
			return err
		}
		hosts, err := a.resolveHosts(cmd)
		if err == nil && hosts != nil {
			err = a.runOnHosts(cmd, hosts)
		}
		return err
	}
}

func (a *app) machines() *machines.Verbs {
	return &machines.Verbs{Config: a.Machines, Version: a.Version, Out: &a.out, Stdin: a.Stdin, Environ: a.Environ, ConnectOwn: a.Options.Connect, ConnectMachine: a.ConnectMachine}
}

// defaultParallel is the default of --parallel.
const defaultParallel = 64

func (a *app) fleet() *fleet.Verbs {
	return &fleet.Verbs{Config: a.Fleet, DataDir: a.Machines.DataDir, Out: &a.out, Own: a.Options.Connect}
}

// host returns the machine to run a command on; "" for this one.
func (t *target) host() string {
	switch {
	case t.here:
		return ""
	case t.options.onHost != "":
		return t.options.onHost
	case len(t.hosts) > 0:
		return t.hosts[0]
	}
	return t.options.env("TANDEM_HOST")
}

// resolveHosts checks the machine flags against cmd. If the command is to run on several machines,
// it returns their names; otherwise it sets the one machine in t.
func (t *target) resolveHosts(cmd *cobra.Command) ([]string, error) {
	how, asked := machines.ReachOf(cmd), cmd.Flags().Changed("host") || t.all || len(t.labels) > 0
	switch {
	case t.options.onHost != "":
		return nil, nil
	// TANDEM_HOST must not break commands like `machine`, so only flags are an error.
	case how == machines.Here && asked:
		return nil, output.Usagef(cmd, "%s works on this machine only: --host is for commands such as ps, new, attach and exec", cmd.CommandPath())
	case how == machines.Here:
		t.here = true
		return nil, nil
	}
	if !asked && strings.Contains(t.options.env("TANDEM_HOST"), ",") {
		t.hosts = strings.Split(t.options.env("TANDEM_HOST"), ",")
	}
	// A machine named twice must not run the command twice.
	hosts := slices.Compact(slices.Sorted(slices.Values(t.hosts)))
	if len(t.labels) > 0 || slices.ContainsFunc(hosts, machines.IsPattern) {
		return t.selectHosts(cmd, how, hosts)
	}
	switch {
	case t.all && len(hosts) > 0:
		return nil, output.Usagef(cmd, "give --host or --all-hosts, not both")
	case slices.Contains(hosts, "") || asked && !t.all && len(hosts) == 0:
		return nil, output.Usagef(cmd, "read --host: must be a name, or names with commas between them")
	case t.all:
		known, err := t.options.Machines.Load()
		if err != nil {
			return nil, err
		}
		for _, m := range known {
			hosts = append(hosts, m.Name)
		}
		if slices.Sort(hosts); len(hosts) == 0 {
			return nil, api.Errorf(api.CodeNotFound, "find machines: config.toml has none").WithHint("`tandem machine add NAME USER@HOST` adds one")
		}
	case len(hosts) < 2:
		return nil, nil
	}
	if how != machines.Several {
		return nil, output.Usagef(cmd, "%s works on one machine at a time", cmd.CommandPath())
	}
	return hosts, nil
}

// selectHosts finds the machines that match patterns and labels.
func (t *target) selectHosts(cmd *cobra.Command, how machines.Reach, wanted []string) ([]string, error) {
	if t.all {
		return nil, output.Usagef(cmd, "give --all-hosts, or --host and --label, not both")
	}
	verbs := fleet.Verbs{Config: t.options.Fleet, Own: t.options.Connect}
	hosts, records, err := verbs.SelectHosts(cmd.Context(), t.options.Machines, api.FleetListInput{Names: wanted, Labels: t.labels, Rows: machines.OnlyLists(cmd)})
	switch {
	case err != nil:
		return nil, err
	case how == machines.Several:
		t.chosen, t.hubMachines = true, records
		return hosts, nil
	case len(hosts) > 1:
		return nil, output.Usagef(cmd, "%s works on one machine at a time, and %d match", cmd.CommandPath(), len(hosts))
	}
	t.hosts = hosts
	return nil, nil
}

// runOnHosts runs the whole command line once per machine.
func (a *app) runOnHosts(cmd *cobra.Command, hosts []string) error {
	follows := cmd.Flags().Lookup("follow") != nil && cmd.Flags().Changed("follow") || cmd.Flags().Changed("watch")
	s := machines.Spread{Out: a.out, Stream: follows || cmd.Name() == "logs" || a.chosen, Max: a.parallel, Group: (a.chosen || a.all) && cmd.Name() == verbExec, Run: func(host string, g *output.Gather, stdout, stderr io.Writer) (int, error) {
		// Each run parses the whole command line again, with its own streams and target.
		o := a.Options
		o.onHost, o.gather, o.Stdin, o.Stdout, o.Stderr = host, g, strings.NewReader(""), stdout, stderr
		if ok, err := a.printFromHub(cmd.Name(), host, o.printer()); ok {
			return output.ExitStatus(err), err
		}
		return run(cmd.Context(), o, a.args)
	}}
	if len(hosts) > manyHosts {
		defer debug.SetGCPercent(debug.SetGCPercent(relaxedGCPercent))
	}
	return &output.ExitError{Status: s.On(hosts)}
}

// printFromHub prints a machine's processes as last reported to the hub, or the error it returns. If
// the machine has to be asked, ok is false.
func (a *app) printFromHub(verb, host string, out output.Printer) (ok bool, err error) {
	rows, ok, err := fleet.Rows(a.hubMachines[host])
	if !ok {
		return false, nil
	}
	out.JSON = a.out.JSON
	switch {
	case err != nil:
	case verb == "ls":
		err = (&ls.Verb{Out: &out, Home: home}).PrintReported(rows)
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

// connect connects to the engine of the command's machine, never to another one's.
func (t *target) connect(ctx context.Context) (*client.Client, error) {
	if host := t.host(); host != "" {
		return t.options.ConnectMachine(ctx, host)
	}
	return t.options.Connect(ctx)
}

// connectRunning is like connect, but starts no engine here.
func (t *target) connectRunning(ctx context.Context) (*client.Client, error) {
	if host := t.host(); host != "" {
		return t.options.ConnectMachine(ctx, host)
	}
	return t.options.Reach(ctx)
}

// folder returns the folder to start something in. On another machine cwd must be absolute, or
// empty for its home directory.
func (t *target) folder(cwd string) (string, error) {
	host := t.host()
	switch {
	case host == "":
		dir, err := filepath.Abs(cwd)
		if err != nil {
			return "", fmt.Errorf("find folder %q: %w", cwd, err)
		}
		return dir, nil
	case cwd == "" || filepath.IsAbs(cwd):
		return cwd, nil
	}
	return "", output.UsageError("find folder "+output.Visible(cwd)+" on "+host+": must be an absolute path", "this folder is not on that machine")
}

// environ returns the environment for something to start. It returns nil on another machine, whose
// engine uses its own.
func (t *target) environ() map[string]string {
	if t.host() != "" {
		return nil
	}
	return api.Environ(t.options.Environ)
}

// umask returns the umask for something to start, or "" on another machine, whose engine uses its
// own.
func (t *target) umask() string {
	if t.host() != "" {
		return ""
	}
	return api.Umask()
}
