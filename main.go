// Tandem is a terminal and process manager for a person and their agents.
//
// One executable has several roles. Most calls are clients: the dashboard and
// the command-line verbs. Two roles run in the background and are started by
// the first client: the keeper, which holds terminals and children, and the
// engine, which knows what to do with them. See ARCHITECTURE.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/engine"
	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/fleet"
	"tandem/engine/hosts/transport"
	"tandem/engine/keeper"
	"tandem/engine/mcp"
	"tandem/engine/policy"
	"tandem/engine/sandbox"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/persist/config"
	"tandem/persist/store"
	"tandem/ui"
	"tandem/ui/cli"
	"tandem/ui/cli/doctor"
	fleetverbs "tandem/ui/cli/fleet"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/settings"
)

// version is what --version prints and what decides whether a client replaces
// a running engine. Releases set it with -ldflags "-X main.version=…".
var version = "0.2.0"

func main() {
	os.Exit(run(cli.Arguments(os.Args), version))
}

// run chooses the role and returns the exit status.
func run(args []string, version string) int {
	switch {
	case len(args) == 1 && args[0] == "keeper":
		return background(args[0], runKeeper)
	case len(args) == 1 && args[0] == "engine":
		return background(args[0], func(ctx context.Context, dataDir string) error {
			return runEngine(ctx, dataDir, version)
		})
	case len(args) > 0 && args[0] == "launch":
		return runLaunch(args[1:])
	}
	return runClient(args, version)
}

// runLaunch becomes a confined program. It returns only when that was not
// started, with the exit status that shells, env(1) and timeout(1) have then.
func runLaunch(args []string) int {
	err := sandbox.Launch(args)
	fmt.Fprintf(os.Stderr, "tandem: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// background runs a role that nobody sits in front of, until SIGTERM.
func background(role string, run func(ctx context.Context, dataDir string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	dataDir, err := api.DataDir()
	if err == nil {
		err = run(ctx, dataDir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem %s: %v\n", role, err)
		return 1
	}
	return 0
}

// runKeeper holds terminals and children. Its standard output is the pipe on
// which the client that started it waits for one line.
func runKeeper(ctx context.Context, dataDir string) error {
	_, socket := api.Sockets(dataDir)
	return keeper.Main(ctx, keeper.Options{
		DataDir:   dataDir,
		Socket:    socket,
		Engine:    []string{"engine"},
		EnginePID: engine.KeeperEnginePID(),
	}, os.Stdout)
}

// runEngine serves the data folder. A mistake in the configuration must not
// cost anybody a session, so it is reported and the defaults are used.
func runEngine(ctx context.Context, dataDir, version string) error {
	var file config.File
	conf, err := file.Load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tandem engine: using the defaults: %v\n", err)
	}
	return engine.Run(ctx, engine.Options{
		DataDir:  dataDir,
		Version:  version,
		Settings: engineSettings(conf),
		Policy:   config.PolicyPath(), Agents: config.AgentRules(), Sandbox: ownSandbox,
		Follow: func(ctx context.Context, tell func(engine.Settings, error)) {
			file.Follow(ctx, func(c config.Config, err error) {
				if err != nil {
					err = fmt.Errorf("%w; what held before still does", config.Brief(err))
				}
				tell(engineSettings(c), err)
			})
		},
	})
}

// engineSettings is what the configuration says of what is started.
func engineSettings(c config.Config) engine.Settings {
	reapAfter, _ := c.Agents.Reap() // it was checked
	return engine.Settings{
		Shell: c.Shell, Emulator: c.Emulator, Scrollback: c.Scrollback,
		LogLimit: c.LogLimit, ProcessLogLimit: c.ProcessLogLimit,
		ShellIntegration: c.ShellIntegration, HistoryIgnore: c.History.Ignore,
		ReapAfter: reapAfter, Resume: c.Agents.Resume,
		Machines: machinesOf(c), Fleet: fleet.Config(c.Fleet),
	}
}

// machinesOf are the other machines of the configuration.
func machinesOf(c config.Config) (machines []transport.Machine) {
	for name, m := range c.Machines {
		machines = append(machines, transport.Machine{Name: name, SSH: m.SSH, Transport: m.Transport, Env: m.Env})
	}
	return machines
}

// runClient is every role that somebody sits in front of.
func runClient(args []string, version string) int {
	return cli.Main(context.Background(), cli.Options{
		Version: version,
		Connect: func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: "cli"})
		},
		Reach: func(ctx context.Context) (*client.Client, error) {
			return client.Connect(ctx, client.Options{Version: version, Name: "cli"})
		},
		Alive: somethingLives,
		Lost:  lostKeepers,
		Dashboard: func(ctx context.Context, o cli.DashboardOptions) error {
			return runDashboard(ctx, version, o)
		},
		Serve: func(ctx context.Context, o cli.ServeOptions) error {
			return runServer(ctx, version, o)
		},
		Machines: machines.Config{
			DataDir: api.DataDir,
			Load:    func() ([]transport.Machine, error) { c, err := config.Load(); return machinesOf(c), err },
			Keep: func(m transport.Machine) (string, error) {
				return config.KeepMachine(m.Name, config.Machine{SSH: m.SSH, Transport: m.Transport, Env: m.Env})
			},
			Forget: config.ForgetMachine,
			Named:  config.MachineName,
		},
		Fleet: fleetverbs.Config{
			Load: func() (fleet.Config, error) { c, err := config.Load(); return fleet.Config(c.Fleet), err },
			Keep: func(c fleet.Config) (string, error) { return config.KeepFleet(config.Fleet(c)) },
		},
		Profiles: profileNames(),
		Prefix: func() ([]keys.Key, error) {
			bindings, err := loadBindings()
			return bindings.PrefixKeys(), err
		},
		Attach: func() (noClipboard bool, predict, pictures string) {
			conf, err := config.Load()
			return err != nil || conf.NoClipboard(), conf.Attach.Predict, conf.Pictures // which it says may be what is mistaken
		},
		Quiet: func(at time.Time) bool {
			conf, _ := config.Load()
			return attention(conf).Quiet.Have(at)
		},
		Theme: func(dark bool) string {
			conf, _ := config.Load()
			return dashboardSettings(conf).ThemeFor(dark)
		},
		Sandbox: sandboxHere,
		Config:  configVerbs(),
	}, args)
}

// runDashboard shows the dashboard. A mistake in the configuration keeps nobody
// from their sessions: the dashboard says what it is, and goes on once it is
// mended.
func runDashboard(ctx context.Context, version string, begin cli.DashboardOptions) error {
	var file config.File
	conf, err := file.Load()
	settings := dashboardSettings(conf)
	if err != nil {
		settings.Fault = config.Brief(err).Error()
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	showTips, hideTips := config.Tips(conf, dataDir)
	var terminal *os.File
	if begin.Left != nil { // standard output is for the answer
		if terminal, err = os.OpenFile("/dev/tty", os.O_RDWR, 0); err != nil {
			return fmt.Errorf("open the dashboard: %w", err)
		}
		defer terminal.Close()
	}
	recent, keepRecent := config.Recent(dataDir)
	return ui.Run(ctx, ui.Options{
		Connect: func(ctx context.Context) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: "dashboard"})
		},
		Settings: settings,
		Follow: func(ctx context.Context, tell func(ui.Settings)) {
			file.Follow(ctx, func(c config.Config, err error) {
				settings := dashboardSettings(c)
				if err != nil {
					settings.Fault = config.Brief(err).Error()
				}
				tell(settings)
			})
		},
		KeepTheme:  config.KeepTheme,
		KeepPrefix: config.KeepPrefix,
		Command:    ownCommand(),
		Files:      begin.Folder,
		File:       begin.Name,
		Left:       begin.Left,
		Output:     terminal,
		InTmux:     os.Getenv("TMUX") != "",
		Tips:       showTips,
		HideTips:   hideTips,
		Recent:     recent,
		KeepRecent: keepRecent,
		Version:    version,
	})
}

// ownCommand is what somebody types to run this program again from here.
func ownCommand() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if strings.Contains(own, "/go-build") { // it is deleted with the `go run` that built it
		return "go run ."
	}
	if found, err := exec.LookPath(os.Args[0]); err != nil || !sameFile(found, own) {
		return own
	}
	return os.Args[0]
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// dashboardSettings is what the configuration says of the dashboard.
func dashboardSettings(c config.Config) ui.Settings {
	bindings, _ := c.Bindings() // they were checked
	return ui.Settings{
		Bindings:     bindings,
		PrefixChosen: c.Prefix != "" || len(c.Keys["prefix"]) > 0,
		Theme:        c.Theme, ThemeDark: c.ThemeDark, ThemeLight: c.ThemeLight, Background: c.Background != nil && *c.Background,
		NoMouse:     c.Mouse != nil && !*c.Mouse,
		NoClipboard: c.NoClipboard(),
		NoTabs:      c.Tabs != nil && !*c.Tabs,
		Pictures:    c.Pictures,
		Predict:     c.Attach.Predict,
		FileIcons:   c.Icons != nil && *c.Icons,
		OpenWith:    c.OpenWith,
		Attention:   attention(c),
	}
}

func attention(c config.Config) ui.Attention {
	long, quiet := c.Attention.Times()
	return ui.Attention{NoNotify: c.Attention.Notify != nil && !*c.Attention.Notify, LongCommand: long, Quiet: ui.Hours(quiet)}
}

// loadBindings are the keys as configured.
func loadBindings() (keymap.Bindings, error) {
	conf, err := config.Load()
	if err != nil {
		return keymap.Bindings{}, err
	}
	return conf.Bindings()
}

// somethingLives reports whether a process of the data folder is alive, whoever
// looks after it. What cannot be found out counts as alive.
func somethingLives() bool {
	dir, err := api.DataDir()
	if err != nil {
		return false
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	data, err := store.Open(dir)
	if err != nil {
		return true
	}
	records, problems := data.Load()
	return len(problems) > 0 || slices.ContainsFunc(records, func(r store.Record) bool {
		if r.Identity == nil {
			return r.State == string(api.StateStarting) || r.State == string(api.StateWaiting)
		}
		return r.Identity.Alive()
	})
}

// lostKeepers are those whose data folder was deleted. Looking for them is no
// reason to fail.
func lostKeepers() []doctor.Lost {
	dir, err := api.DataDir()
	if err != nil {
		return nil
	}
	found, err := engine.FindLost(dir)
	if err != nil {
		return nil
	}
	var lost []doctor.Lost
	for _, l := range found {
		var programs []string
		for _, p := range l.Programs {
			programs = append(programs, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
		}
		lost = append(lost, doctor.Lost{Keeper: l.Keeper, Programs: programs, End: l.End})
	}
	return lost
}

// profileNames are the sets of tools that agents can be offered.
func profileNames() []string {
	var names []string
	for _, p := range mcp.Profiles() {
		names = append(names, string(p))
	}
	return names
}

// runServer serves agents until their input ends or somebody ends it. Standard
// output is the protocol's alone; what there is to say goes to standard error.
func runServer(ctx context.Context, version string, o cli.ServeOptions) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Writing to a client that has left is an error, and no reason to die of.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	web := mcp.HTTPOptions{
		Addr: o.HTTP, DataDir: dataDir, TokenFile: o.TokenFile, Insecure: o.Insecure,
		AllowHosts: o.AllowHosts, AllowOrigins: o.AllowOrigins, Tell: os.Stderr,
	}
	options, err := serverOptions(version, o)
	options.Secrets = web.TokenFiles()
	switch {
	case err != nil:
		return err
	case o.HTTP == "":
		runtime.GOMAXPROCS(1) // it passes on, one call at a time: what is woken to help costs more than it does
		return mcp.Serve(ctx, options, os.Stdin, os.Stdout)
	}
	return mcp.ServeHTTP(ctx, options, web)
}

func serverOptions(version string, o cli.ServeOptions) (mcp.Options, error) {
	profiles, err := mcp.ParseProfiles(o.Profiles)
	if err != nil {
		return mcp.Options{}, err
	}
	conf, err := config.Load()
	if err != nil {
		return mcp.Options{}, err
	}
	sandbox, err := access.ReadSandbox(conf.Agents.Sandbox)
	if err != nil {
		return mcp.Options{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return mcp.Options{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	return mcp.Options{
		Connect: func(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error) {
			return client.Activate(ctx, client.Options{Version: version, Name: name, Owner: owner, Bounds: bounds})
		},
		Far: func(ctx context.Context, machine, name, owner string, bounds *api.Bounds) (*client.Client, error) {
			return client.ConnectMachine(ctx, client.Options{Version: version, Name: name, Owner: owner, Bounds: bounds}, machine)
		},
		Name:       o.As,
		Version:    version,
		Profiles:   profiles,
		ReadOnly:   o.ReadOnly,
		ToolPrefix: o.ToolPrefix,
		Unbounded:  o.ReadUnbounded,
		CWD:        cwd,
		Home:       home,
		Roots:      o.Roots,
		Sandbox:    sandbox,
		NoElicit:   !conf.Agents.Elicits(),
		Log:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, nil
}

// sandboxHere is what confines agents on this machine, for the doctor.
func sandboxHere() doctor.Sandbox {
	here := doctor.Sandbox{}
	for _, p := range sandbox.Promises() {
		here.Promises = append(here.Promises, doctor.Promise{Name: p.Name, Why: p.Why})
	}
	conf, err := config.Load()
	if err == nil {
		here.Profile = conf.Agents.Sandbox
		err = enforceable(conf.Agents)
	}
	here.Fault = err
	return here
}

// enforceable tells why the sandbox of agents could not be enforced here and now.
func enforceable(c config.Agents) error {
	s, err := access.ReadSandbox(c.Sandbox)
	if err != nil || s == nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	profile, err := sandbox.Parse(text)
	if err != nil {
		return err
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	return sandbox.Layers{profile}.Check(dataDir, filepath.Dir(config.PolicyPath()))
}

// configVerbs is what the command line can do with the configuration.
func configVerbs() settings.Files {
	return settings.Files{
		Path:    config.Path,
		Default: config.Default,
		Check: func(text []byte) error {
			_, err := config.Parse(text)
			return err
		},
		Effective: func(text []byte) (string, map[string]any, error) {
			c, err := config.Parse(text)
			return c.Effective(), c.Values(), err
		},
		Policy: config.PolicyPath(),
		CheckPolicy: func(text []byte) error {
			_, err := policy.Parse(text)
			return err
		},
	}
}

// ownSandbox is what agents are held to on this machine; nil for nothing.
func ownSandbox() (*api.Sandbox, error) {
	conf, err := config.Load()
	if err != nil {
		return nil, err
	}
	return access.ReadSandbox(conf.Agents.Sandbox)
}
