package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/keys"
	"tandem/persist/config/settings"
	"tandem/persist/diag"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/fleet"
	"tandem/ui/cli/logs"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/manual"
	"tandem/ui/cli/output"
	"tandem/ui/cli/ps"
	configverbs "tandem/ui/cli/settings"
	"tandem/ui/cli/tmux"
)

// Options configures the command line. Zero values mean the process's own streams and environment,
// and the engine of the data folder.
type Options struct {
	Version string

	// Connect connects to the engine and starts it if necessary.
	Connect func(ctx context.Context) (*client.Client, error)
	// Reach connects to a running engine; it never starts one.
	Reach func(ctx context.Context) (*client.Client, error)
	// HasProcesses reports whether a process of the data folder runs, or may run, without an engine to
	// look after it; default no.
	HasProcesses func() bool
	// FindLost finds keepers of the data folder that are out of reach for clients; default none.
	FindLost func() []doctor.LostKeeper
	// Dashboard opens the dashboard, for `tandem` without a command and `tandem files`.
	Dashboard func(ctx context.Context, o DashboardOptions) error
	// Serve implements `tandem --serve`; Profiles are the names for its --profile.
	Serve    func(ctx context.Context, o ServeOptions) error
	Profiles []string
	// Prefix returns the prefix keys of attach; default ctrl+b.
	Prefix func() ([]keys.Key, error)
	// Settings reads the settings that commands share with the dashboard; default those of an empty
	// file.
	Settings func() settings.Dashboard
	// Sandbox reports how well agents can be confined here; default nothing.
	Sandbox func() doctor.Sandbox
	// ConnectMachine connects to the engine of another machine; Machines is the machines' part of config.toml.
	ConnectMachine func(ctx context.Context, machine string) (*client.Client, error)
	Machines       machines.Config
	// Fleet is the fleet's part of config.toml.
	Fleet fleet.Config
	// Config gives `tandem config` and the doctor access to config.toml.
	Config configverbs.Files

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "NAME=value"

	onHost string         // machine of this run, if the command runs on several
	gather *output.Gather // collects the tables of such a run
	args   []string       // after the program's name
}

// Main runs the command line with args, the arguments after the program's name, prints errors and
// returns the exit status: 0 for success, 1 for a failure, 2 for a usage error. A signal that ends
// attach gives 128 plus its number. exec has the statuses of its command, and 125 if Tandem itself
// failed.
func Main(ctx context.Context, o Options, args []string) int {
	status, _ := run(ctx, o, args)
	return status
}

// run is Main and also returns the printed error.
func run(ctx context.Context, o Options, args []string) (status int, err error) {
	o = o.complete()
	o.args = args
	if tmux.IsInvocation(args) { // args are tmux's own, and scripts call it often
		return tmux.Main(ctx, o.tmux(), args[1:]), nil
	}
	root := newRoot(o)
	root.SetArgs(args)
	// Completion would print the quotes around the names of values.
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		manual.PlainUsages(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0, nil
	}
	out := o.printer()
	out.JSON = output.WantsJSON(root, args, err)
	out.Error(err)
	var exit *output.ExitError
	if code := output.ExitStatus(err); code != output.StatusFailed || cmd.Name() != verbExec || errors.As(err, &exit) {
		// Status 1 would look like the status of the command.
		return code, err
	}
	return statusExecFailed, err
}

// An app holds the state shared by all commands.
type app struct {
	Options
	completer
	*target
	out output.Printer
}

func (a *app) config() *configverbs.Verbs {
	return &configverbs.Verbs{Files: a.Config, Out: &a.out, Stdin: a.Stdin}
}

// Arguments returns the program's arguments without its name. If that name is tmux, they begin with
// "tmux".
func Arguments(argv []string) []string { return tmux.Arguments(argv) }

func (o Options) tmux() tmux.Options {
	return tmux.Options{Connect: o.Connect, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Environ: o.Environ}
}

func (o Options) printer() output.Printer {
	t := o.env("TERM")
	return output.Printer{Stdout: o.Stdout, Stderr: o.Stderr, Colour: o.env("NO_COLOR") == "" && t != "dumb" && t != "", Host: o.onHost, Gather: o.gather}
}

func (o Options) env(name string) string {
	value, _ := o.lookupEnv(name)
	return value
}

func (o Options) lookupEnv(name string) (value string, ok bool) {
	// The last setting of a variable wins, as in os/exec.
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

const homeFlag = "home"

// UseHome reads --home DIR at the beginning of args and returns the other arguments. It sets the
// environment so that this process and its children keep data and configuration below DIR.
func UseHome(args []string) (rest []string, err error) {
	dir, rest, given := CutHome(args)
	if !given {
		return args, nil
	}
	if dir == "" {
		return nil, errors.New("--home needs a folder")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find the folder of --home: %w", err)
	}
	for name, below := range map[string]string{"TANDEM_DATA_DIR": "data", "TANDEM_CONFIG_DIR": "config"} {
		path := filepath.Join(dir, below)
		err := os.MkdirAll(path, 0o700)
		if err == nil {
			err = os.Setenv(name, path)
		}
		if err != nil {
			return nil, fmt.Errorf("prepare the folder of --home: %w", err)
		}
	}
	return rest, nil
}

// CutHome splits --home DIR, or --home=DIR, off the beginning of args. If it is absent, given is
// false and rest is args.
func CutHome(args []string) (dir string, rest []string, given bool) {
	if len(args) == 0 {
		return "", args, false
	}
	flag, dir, joined := strings.Cut(args[0], "=")
	if flag != "--"+homeFlag {
		return "", args, false
	}
	if rest = args[1:]; !joined && len(rest) > 0 {
		dir, rest = rest[0], rest[1:]
	}
	return dir, rest, true
}

func newRoot(o Options) *cobra.Command {
	o = o.complete()
	a := &app{Options: o, out: o.printer(), target: &target{options: o}}
	a.completer = completer{a.connectRunning}
	var serving serveFlags
	var nested, version bool
	root := &cobra.Command{
		Use:     "tandem",
		Short:   "A terminal and process manager that keeps everything running",
		Long:    "Tandem keeps your terminals and processes running, and shows them in a dashboard.\nWithout a command it opens the dashboard.",
		Example: "tandem\ntandem new --name build -- make watch\ntandem attach build\ntandem start --name web --keep-alive -- python3 -m http.server 0",
		Args:    rejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				answer := struct {
					Version string `json:"version"`
				}{a.Version}
				return a.out.Answer(answer, func() string { return "tandem " + a.Version + "\n" })
			}
			// UseHome removed a leading --home, so this one came later and had no effect.
			if cmd.Flags().Changed(homeFlag) {
				return output.Usagef(cmd, "--home must be the first argument")
			}
			return a.run(cmd, &serving, nested)
		},
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { manual.Help(a.out, cmd, machines.UnsupportedFlags(cmd)...) })
	root.SetFlagErrorFunc(flagError)
	serving.add(root.Flags(), a.Profiles)
	serving.complete(root, a.Profiles)
	// Cobra's own Version needs text/template, which looks up methods by name, so the linker would
	// keep every exported method.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for tandem")
	root.Flags().String(homeFlag, "", "keep data and configuration below `folder`, which is created; must come first")
	root.Flags().BoolVar(&nested, "nested", false, "open it in a session of another data folder")
	root.PersistentFlags().BoolVar(&a.out.JSON, "json", false, "print the answer, and errors, as JSON")
	a.addHosts(root)
	root.AddCommand(
		newCommand(a), attachCommand(a), sendCommand(a), screenCommand(a), killCommand(a), removeCommand(a),
		startCommand(a), (&ps.Verb{Out: &a.out, Connect: a.connect, Stdout: a.Stdout, Dumb: a.env("TERM") == "dumb"}).Command(), stopCommand(a), restartCommand(a), signalCommand(a), a.logs().Command(),
		upCommand(a), downCommand(a),
		waitCommand(a), execCommand(a), envCommand(a), historyCommand(a),
		filesCommand(a), recCommand(a), playCommand(a), manual.Command(&a.out, a.Version), initCommand(a),
		requestsCommand(a), allowCommand(a), denyCommand(a), auditCommand(a), agentCommand(a), codingagents.List(agentVerbs(a)),
		(&ls.Verb{Out: &a.out, Connect: a.connect, Home: home}).Command(), worktreeCommand(a), infoCommand(a), doctorCommand(a), shutdownCommand(a), shellCommand(a), a.config().Command(),
		a.machines().Command(), machines.Bridge(a.Version), webCommand(a), tmux.Command(o.tmux()), tmux.WithCommand(o.tmux()),
	)
	root.AddCommand(a.fleet().Commands()...)
	// Names mean the current project's entries first, in every command with names of processes.
	for _, cmd := range root.Commands() {
		preferProject(a, cmd)
	}
	setDefaults(root)
	if o.onHost == "" { // a run on one of several machines prints no help, and this costs time on each
		manual.NameExtras(&a.out, root)
	}
	return root
}

// setDefaults applies the common settings to cmd and its subcommands: usage lines are written by
// hand, and a command without Args takes none.
func setDefaults(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	if cmd.Args == nil {
		cmd.Args, cmd.ValidArgsFunction = exactly(0, ""), cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		setDefaults(c)
	}
}

func (o Options) complete() Options {
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Connect == nil {
		o.Connect = func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: o.Version, Name: "cli"})
		}
	}
	if o.Reach == nil {
		o.Reach = func(ctx context.Context) (*client.Client, error) {
			return client.Connect(ctx, client.Options{Version: o.Version, Name: "cli"})
		}
	}
	if o.ConnectMachine == nil {
		o.ConnectMachine = func(ctx context.Context, machine string) (*client.Client, error) {
			return client.ConnectMachine(ctx, client.Options{Version: o.Version, Name: "cli"}, machine)
		}
	}
	if o.Machines.Load == nil {
		o.Machines = machines.None()
	}
	if o.Fleet.Load == nil {
		o.Fleet = fleet.None()
	}
	if o.FindLost == nil {
		o.FindLost = func() []doctor.LostKeeper { return nil }
	}
	if o.HasProcesses == nil {
		o.HasProcesses = func() bool { return false }
	}
	if o.Prefix == nil {
		o.Prefix = func() ([]keys.Key, error) { return nil, nil }
	}
	if o.Settings == nil {
		o.Settings = func() settings.Dashboard { return settings.Defaults().Dashboard }
	}
	return o
}

// equivalents maps other programs' commands to hints about Tandem's.
var equivalents = map[string]string{
	"run":     "use `tandem exec` to run a command and wait for it, or `tandem start` to start a process",
	"version": "use `tandem --version`",
	"status":  "use `tandem ps` to list processes and sessions, or `tandem info` to show the engine",
	"rename":  "to rename a session, run `tandem` and choose rename in the palette",

	"config edit": "to edit the configuration, run `$EDITOR \"$(tandem config path)\"`",
}

// rejectUnknown returns an error for an unknown command, with the nearest known one.
func rejectUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if suggestion, ok := equivalents[args[0]]; ok {
		return output.UsageError(fmt.Sprintf("unknown command %q", output.Visible(args[0])), suggestion)
	}
	like := cmd.SuggestionsFor(args[0])
	if suggestion := cmp.Or(diag.Nearest(args[0], like), strings.Join(like[:min(len(like), 1)], "")); suggestion != "" {
		return output.UsageError(fmt.Sprintf("unknown command %q", output.Visible(args[0])), "did you mean `tandem "+suggestion+"`?")
	}
	return output.Usagef(cmd, "unknown command %q", output.Visible(args[0]))
}

// run implements `tandem` without a command: it opens the dashboard or serves agents.
func (a *app) run(cmd *cobra.Command, serving *serveFlags, nested bool) error {
	if err := serving.check(cmd, a.Profiles); err != nil {
		return err
	}
	if serving.serve && a.Serve != nil {
		return a.Serve(cmd.Context(), serving.o)
	}
	if a.out.JSON {
		return output.Usagef(cmd, "--json needs a command: the dashboard prints no JSON")
	}
	return openDashboard(cmd.Context(), a, DashboardOptions{}, nested)
}

// openDashboard opens the dashboard, except in one of its own sessions.
func openDashboard(ctx context.Context, a *app, o DashboardOptions, nested bool) error {
	if err := a.refuseNested(ctx, nested); err != nil {
		return err
	}
	if a.Dashboard == nil {
		return errors.New("open dashboard: this program was built without one")
	}
	return a.Dashboard(ctx, o)
}

// call connects and calls an operation. It does not wait for an offline machine.
func call[In, Out any](ctx context.Context, a *app, op api.Operation[In, Out], in In) (Out, error) {
	return callRetrying(ctx, a, op, in, true)
}

// callWaiting calls an operation like call, but waits for an offline machine.
func callWaiting[In, Out any](ctx context.Context, a *app, op api.Operation[In, Out], in In) (Out, error) {
	return callRetrying(ctx, a, op, in, false)
}

// callRetrying calls an operation, and again after a lost connection if that is safe. If hasty is
// set, it does not wait for an offline machine.
func callRetrying[In, Out any](ctx context.Context, a *app, op api.Operation[In, Out], in In, hasty bool) (Out, error) {
	conn, err := a.connectRetrying(ctx)
	if err != nil {
		var none Out
		return none, err
	}
	defer conn.Close()
	conn.Hasty = hasty
	return op.Call(ctx, conn, in)
}

// connectRetrying connects for calls that are retried when safe. It does not wait for an offline
// machine.
func (a *app) connectRetrying(ctx context.Context) (*retry.Conn, error) {
	conn, err := retry.Connect(ctx, a.connect)
	if err == nil {
		conn.Hasty = true
	}
	return conn, err
}

// announceWaits has conn print a note while it waits for an offline machine.
func (a *app) announceWaits(conn *retry.Conn) {
	conn.Away = func() { fmt.Fprintf(a.Stderr, "tandem: %s is offline, waiting\n", conn.Machine()) }
}

func (a *app) logs() *logs.Verb {
	return &logs.Verb{Out: &a.out, Stderr: a.Stderr, Connect: a.connect, AnnounceWaits: a.announceWaits, Complete: a.completeProcesses(anyProcess),
		Project: func(ctx context.Context) (path string, list []api.Process, err error) {
			if list, err = a.listIfRunning(ctx); err == nil {
				path, err = a.projectPath("", list, true, "run this in a project's folder or below")
			}
			return path, list, err
		}}
}
