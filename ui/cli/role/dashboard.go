package role

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/keys/keymap"
	"tandem/persist/config"
	"tandem/persist/config/settings"
	"tandem/ui"
	"tandem/ui/cli"
	"tandem/ui/cli/factory"
)

// runDashboard shows the dashboard. An error in the configuration does not keep the dashboard from
// opening: it shows the error, and applies the file once the error is corrected.
func runDashboard(ctx context.Context, version string, begin factory.DashboardOptions) error {
	var file config.File
	conf, err := file.Load()
	dataDir, dirErr := api.DataDir()
	if dirErr != nil {
		return dirErr
	}
	o := savedOptions(conf, dataDir)
	if err != nil {
		o.Settings.Fault = config.Brief(err).Error()
	}
	// Standard output is reserved for the answer.
	if begin.OnLeave != nil {
		if o.Output, err = os.OpenFile("/dev/tty", os.O_RDWR, 0); err != nil {
			return fmt.Errorf("open the dashboard: %w", err)
		}
		defer o.Output.Close()
	}
	if o.Notices, err = factory.OpenNotices(); err != nil {
		return err
	}
	o.Connect = func(ctx context.Context) (*client.Client, error) {
		return client.Activate(ctx, client.Options{Version: version, Name: "dashboard"})
	}
	o.Follow = func(ctx context.Context, tell func(ui.Settings)) {
		file.Follow(ctx, func(c settings.Config, err error) {
			changed := dashboardSettings(c)
			if err != nil {
				changed.Fault = config.Brief(err).Error()
			}
			tell(changed)
		})
	}
	o.Command = withHome(ownCommand(), os.Args[1:])
	o.Files, o.File, o.Left = begin.Folder, begin.Name, begin.OnLeave
	o.InTmux = os.Getenv("TMUX") != ""
	return ui.Run(ctx, o)
}

// savedOptions returns the options that are read from the configuration and the data directory, and
// saved there by the dashboard.
func savedOptions(conf settings.Config, dataDir string) ui.Options {
	o := ui.Options{
		Settings:     dashboardSettings(conf),
		KeepTheme:    config.KeepTheme,
		KeepPrefix:   config.KeepPrefix,
		CreateConfig: config.Create,
	}
	o.ShowTips, o.HideTips = config.Tips(conf.Tips, dataDir)
	o.Recent, o.KeepRecent = config.Recent(dataDir)
	return o
}

// ownCommand returns the command line to run this program again.
func ownCommand() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	// `go run` deletes the program it built.
	if strings.Contains(own, "/go-build") { // it is deleted with the `go run` that built it
		return "go run ."
	}
	if found, err := exec.LookPath(os.Args[0]); err != nil || !sameFile(found, own) {
		return own
	}
	return os.Args[0]
}

// withHome returns command with the --home at the beginning of args, if there is one.
func withHome(command string, args []string) string {
	dir, _, given := cli.CutHome(args)
	if !given {
		return command
	}
	quoted, err := syntax.Quote(dir, syntax.LangPOSIX)
	if err != nil { // cannot be quoted in any shell
		return command
	}
	return cmp.Or(command, "tandem") + " --home " + quoted
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// dashboardSettings returns the settings for the dashboard.
func dashboardSettings(c settings.Config) ui.Settings {
	bindings, _ := c.Bindings() // already checked
	return ui.Settings{
		Dashboard:    c.Dashboard,
		Bindings:     bindings,
		PrefixChosen: c.Prefix != "" || len(c.Keys["prefix"]) > 0,
	}
}

func loadBindings() (keymap.Bindings, error) {
	conf, err := config.Load()
	if err != nil {
		return keymap.Bindings{}, err
	}
	return conf.Bindings()
}
