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

// A target is where a verb is carried out.
type target struct {
	options Options
	hosts   []string                    // of --host, or TANDEM_HOST; none: this machine
	labels  []string                    // of machines of the fleet
	all     bool                        // on all of config.toml
	chosen  bool                        // the machines were found by a pattern or a label
	told    map[string]api.FleetMachine // what the hub knows of those of the fleet
	most    int                         // machines at a time
	here    bool                        // the verb is one of this machine, whatever TANDEM_HOST says
}

func (a *app) addHosts(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringSliceVar(&a.hosts, "host", nil, "do it on the machine `NAME`; on several: a,b or 'web-*'")
	flags.StringSliceVar(&a.labels, "label", nil, "do it on the machines of the fleet with `K=V`; K!=V: without")
	flags.IntVar(&a.most, "parallel", mostAtOnce, "on `N` machines at a time")
	flags.BoolVar(&a.all, "all-hosts", false, "do it on all machines of config.toml")
	_ = root.RegisterFlagCompletionFunc("host", fleet.HostNames(a.machines().Names, a.fleet().Names))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := output.CheckJSON(cmd, a.out.JSON); err != nil {
			return err
		}
		hosts, err := a.aim(cmd)
		if err == nil && hosts != nil {
			err = a.spread(cmd, hosts)
		}
		return err
	}
}

// machines is the verbs on other machines.
func (a *app) machines() *machines.Verbs {
	return &machines.Verbs{Config: a.Machines, Version: a.Version, Out: &a.out, Stdin: a.Stdin, Environ: a.Environ, Own: a.Options.Connect, Far: a.Far}
}

// mostAtOnce is how many machines a verb is carried out on at a time.
const mostAtOnce = 64

// fleet is the verbs of the fleet.
func (a *app) fleet() *fleet.Verbs {
	return &fleet.Verbs{Config: a.Fleet, DataDir: a.Machines.DataDir, Out: &a.out, Own: a.Options.Connect}
}

// host is the machine that a verb is carried out on; "" for this one.
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

// aim sees to it that a verb is carried out where it is to be, or not at all,
// and tells the machines where they are several.
func (t *target) aim(cmd *cobra.Command) ([]string, error) {
	how, asked := machines.ReachOf(cmd), cmd.Flags().Changed("host") || t.all || len(t.labels) > 0
	switch {
	case t.options.onHost != "":
		return nil, nil
	case how == machines.Here && asked:
		return nil, output.Usagef(cmd, "%s works on this machine only: --host is for commands such as ps, new, attach and exec", cmd.CommandPath())
	case how == machines.Here:
		t.here = true
		return nil, nil
	}
	if !asked && strings.Contains(t.options.env("TANDEM_HOST"), ",") {
		t.hosts = strings.Split(t.options.env("TANDEM_HOST"), ",")
	}
	hosts := slices.Compact(slices.Sorted(slices.Values(t.hosts)))
	if len(t.labels) > 0 || slices.ContainsFunc(hosts, machines.Pattern) {
		return t.choose(cmd, how, hosts)
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

// choose finds the machines that patterns and labels mean.
func (t *target) choose(cmd *cobra.Command, how machines.Reach, wanted []string) ([]string, error) {
	if t.all {
		return nil, output.Usagef(cmd, "give --all-hosts, or --host and --label, not both")
	}
	verbs := fleet.Verbs{Config: t.options.Fleet, Own: t.options.Connect}
	hosts, told, err := verbs.Meant(cmd.Context(), t.options.Machines, api.FleetListInput{Names: wanted, Labels: t.labels, Rows: machines.OnlyLists(cmd)})
	switch {
	case err != nil:
		return nil, err
	case how == machines.Several:
		t.chosen, t.told = true, told
		return hosts, nil
	case len(hosts) > 1:
		return nil, output.Usagef(cmd, "%s works on one machine at a time, and %d are meant", cmd.CommandPath(), len(hosts))
	}
	t.hosts = hosts
	return nil, nil
}

// spread runs the whole command line again on each machine.
func (a *app) spread(cmd *cobra.Command, hosts []string) error {
	follows := cmd.Flags().Lookup("follow") != nil && cmd.Flags().Changed("follow") || cmd.Flags().Changed("watch")
	s := machines.Spread{Out: a.out, Stream: follows || cmd.Name() == "logs" || a.chosen, Most: a.most, Group: (a.chosen || a.all) && cmd.Name() == verbExec, Run: func(host string, g *output.Gather, stdout, stderr io.Writer) int {
		o := a.Options
		o.onHost, o.gather, o.Stdin, o.Stdout, o.Stderr = host, g, strings.NewReader(""), stdout, stderr
		if status, ok := a.fromHub(cmd.Name(), host, o.printer()); ok {
			return status
		}
		return Main(cmd.Context(), o, a.args)
	}}
	if len(hosts) > manyHosts {
		defer debug.SetGCPercent(debug.SetGCPercent(sparePercent))
	}
	return &output.ExitError{Status: s.On(hosts)}
}

// fromHub prints what a machine has told the hub about what runs there, and gives the exit
// status; ok is false if the machine has to be asked.
func (a *app) fromHub(verb, host string, out output.Printer) (status int, ok bool) {
	rows, ok, err := fleet.Rows(a.told[host])
	if !ok {
		return 0, false
	}
	out.JSON = a.out.JSON
	switch {
	case err != nil:
	case verb == "ls":
		err = (&ls.Verb{Out: &out, Home: home}).Told(rows)
	default:
		err = ps.Told(out, rows)
	}
	if err == nil {
		return 0, true
	}
	out.Error(err)
	return output.Status(err), true
}

// With more machines than manyHosts, memory is collected when it has grown by sparePercent: each
// takes a command line read, a connection and an answer, and is over at once.
const manyHosts, sparePercent = 50, 400

// connect reaches the engine that a verb is carried out by. It is never that of
// another machine than was asked for.
func (t *target) connect(ctx context.Context) (*client.Client, error) {
	if host := t.host(); host != "" {
		return t.options.Far(ctx, host)
	}
	return t.options.Connect(ctx)
}

// running is connect for a running engine: none is started here.
func (t *target) running(ctx context.Context) (*client.Client, error) {
	if host := t.host(); host != "" {
		return t.options.Far(ctx, host)
	}
	return t.options.Reach(ctx)
}

// folder is the folder that something starts in: on another machine an absolute
// one, or the home directory.
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
	return "", output.Misused("find folder "+output.Visible(cwd)+" on "+host+": must be an absolute path", "this folder is not on that machine")
}

// environ is the environment that something starts from: on another machine that
// of its own engine.
func (t *target) environ() map[string]string {
	if t.host() != "" {
		return nil
	}
	return api.Environ(t.options.Environ)
}

// umask is the umask that something starts with: on another machine that of its own engine.
func (t *target) umask() string {
	if t.host() != "" {
		return ""
	}
	return api.Umask()
}
