package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/persist/diag"
	"tandem/ui/cli/cast"
	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/engine"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/files"
	"tandem/ui/cli/fleet"
	"tandem/ui/cli/history"
	"tandem/ui/cli/logs"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/manual"
	"tandem/ui/cli/output"
	"tandem/ui/cli/processes"
	"tandem/ui/cli/ps"
	"tandem/ui/cli/requests"
	"tandem/ui/cli/scrub"
	"tandem/ui/cli/search"
	"tandem/ui/cli/service"
	"tandem/ui/cli/sessions"
	"tandem/ui/cli/settings"
	"tandem/ui/cli/tmux"
	"tandem/ui/cli/uninstall"
	"tandem/ui/cli/up"
	"tandem/ui/cli/web"
)

// Main runs the command line with args, the arguments after the program's name, prints errors and
// returns the exit status: 0 for success, 1 for a failure, 2 for a usage error. If a signal ends
// attach, the status is 128 plus the signal's number. exec returns the status of its command, or
// 125 if Tandem itself failed.
func Main(ctx context.Context, o factory.Options, args []string) int {
	status, _ := run(ctx, o, args)
	return status
}

// run is Main and also returns the printed error.
func run(ctx context.Context, o factory.Options, args []string) (status int, err error) {
	o.Args = args
	f := factory.New(o)
	if tmux.IsInvocation(args) { // args are tmux's own, and scripts call it often
		return tmux.Main(ctx, tmux.OptionsOf(f), args[1:]), nil
	}
	root := newRoot(f)
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		root.SetOut(factory.CompletionFilter(f.Stdout, args[len(args)-1]))
		// Completion would print the quotes around the names of values.
		manual.PlainUsages(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0, nil
	}
	out := f.Printer()
	out.JSON = output.WantsJSON(root, args, err)
	out.Error(err)
	var exit *output.ExitError
	if code := output.ExitStatus(err); code != output.StatusFailed || cmd.Name() != processes.CommandExec || errors.As(err, &exit) {
		// Status 1 would look like the status of the command.
		return code, err
	}
	return processes.StatusExecFailed, err
}

// Arguments returns the program's arguments without its name. If that name is tmux, they begin with
// "tmux".
func Arguments(argv []string) []string { return tmux.Arguments(argv) }

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

func newRoot(f *factory.Factory) *cobra.Command {
	var serving serveFlags
	var nested, version bool
	root := &cobra.Command{
		Use:         "tandem",
		Short:       "A terminal and process manager that keeps everything running",
		Long:        "Tandem keeps your terminals and processes running, and shows them in a dashboard.\nWithout a command it opens the dashboard.",
		Example:     "tandem\ntandem new --name build -- make watch\ntandem attach build\ntandem start --name web --keep-alive -- python3 -m http.server 0",
		Annotations: factory.Here.Annotations(),
		Args:        rejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(f)
			}
			// UseHome removed a leading --home, so this one came later and had no effect.
			if cmd.Flags().Changed(homeFlag) {
				return output.Usagef(cmd, "--home must be the first argument")
			}
			return runRoot(cmd, f, &serving, nested)
		},
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(f.Stdin)
	root.SetOut(f.Stdout)
	root.SetErr(f.Stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { manual.Help(f.Out, cmd, factory.UnsupportedFlags(cmd)...) })
	root.SetFlagErrorFunc(flagError)
	serving.add(root.Flags(), f.Profiles)
	serving.complete(root, f.Profiles)
	// Cobra's own Version needs text/template, which looks up methods by name, so the linker would
	// keep every exported method.
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version, and the commit it was built from")
	root.Flags().String(homeFlag, "", "keep data and configuration below `folder`, created if necessary; must be the first argument")
	root.Flags().BoolVar(&nested, "nested", false, "open the dashboard even in a session of another data folder")
	root.PersistentFlags().BoolVar(&f.Out.JSON, "json", false, "print the answer, and errors, as JSON")
	addMachineFlags(root, f)
	for _, newCommand := range commands() {
		cmd := newCommand(f)
		preferProject(f, cmd)
		root.AddCommand(cmd)
	}
	setDefaults(root)
	if f.OnHost == "" { // a run on one of several machines prints no help, and this costs time on each
		manual.NameExtras(root)
	}
	return root
}

// commands returns the functions that make the commands of tandem.
func commands() []func(*factory.Factory) *cobra.Command {
	return []func(*factory.Factory) *cobra.Command{
		sessions.NewNew, sessions.NewAttach, sessions.NewSend, sessions.NewScreen, sessions.NewKill, sessions.NewRename, sessions.NewRestore, processes.NewRemove,
		processes.NewStart, ps.NewPs, processes.NewStop, processes.NewRestart, processes.NewSignal, logs.NewLogs,
		up.NewUp, up.NewDown, processes.NewWait, processes.NewExec, processes.NewEnv, history.NewHistory, search.NewSearch, scrub.NewScrub,
		files.NewFiles, cast.NewRec, cast.NewPlay, manual.NewCompletion, manual.NewMan, history.NewInit,
		requests.NewRequests, requests.NewAllow, requests.NewDeny, requests.NewAudit, codingagents.NewAgent, codingagents.NewAgents,
		ls.NewLs, codingagents.NewWorktree, engine.NewInfo, engine.NewDoctor, engine.NewShutdown, uninstall.NewUninstall, service.NewService, newShell, settings.NewConfig,
		machines.NewMachine, machines.NewBridge, web.NewWeb, tmux.NewTmux, tmux.NewWithTmux,
		fleet.NewFleet, fleet.NewHub, fleet.NewJoin, fleet.NewLeave,
	}
}

// setDefaults applies the common settings to cmd and its subcommands: usage lines are written by
// hand, and a command without Args takes none.
func setDefaults(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	if cmd.Args == nil {
		cmd.Args, cmd.ValidArgsFunction = factory.Exactly(0, ""), cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		setDefaults(c)
	}
}

// rejectUnknown returns an error for an unknown command, with the nearest known one.
func rejectUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if suggestion, ok := factory.Equivalents[args[0]]; ok {
		return output.UsageError(fmt.Sprintf("unknown command %q", output.Visible(args[0])), suggestion)
	}
	like := cmd.SuggestionsFor(args[0])
	suggestion := diag.Nearest(args[0], like)
	if suggestion == "" && len(like) > 0 {
		suggestion = like[0]
	}
	if suggestion != "" {
		return output.UsageError(fmt.Sprintf("unknown command %q", output.Visible(args[0])), "did you mean `tandem "+suggestion+"`?")
	}
	return output.Usagef(cmd, "unknown command %q", output.Visible(args[0]))
}

// runRoot implements `tandem` without a command: it opens the dashboard or serves agents.
func runRoot(cmd *cobra.Command, f *factory.Factory, serving *serveFlags, nested bool) error {
	if err := serving.check(cmd, f.Profiles); err != nil {
		return err
	}
	if serving.serve && f.Serve != nil {
		return f.Serve(cmd.Context(), serving.o)
	}
	if f.Out.JSON {
		return output.Usagef(cmd, "--json needs a command: the dashboard prints no JSON")
	}
	return f.OpenDashboard(cmd.Context(), factory.DashboardOptions{}, nested)
}

// flagError rephrases an error of pflag for users.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if suggestion := diag.Nearest(unknown.GetSpecifiedName(), flags); suggestion != "" {
			return output.UsageError(err.Error(), "did you mean --"+suggestion+"?")
		}
	}
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return output.Usagef(cmd, "%v", err)
	}
	f := value.GetFlag()
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	want := value.Unwrap().Error()
	switch kind := f.Value.Type(); {
	case errors.Is(value, strconv.ErrRange):
		want = "this number is too large"
	case strings.HasPrefix(kind, "int"):
		want = "must be a whole number"
	case strings.HasPrefix(kind, "float"):
		want = "must be a number"
	case kind == "bool":
		want = "must be true or false"
	}
	return output.Usagef(cmd, "read %s %s: %s", name, output.Visible(value.GetValue()), want)
}
