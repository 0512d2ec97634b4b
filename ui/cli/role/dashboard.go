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

// runDashboard shows the dashboard. A mistake in the configuration does not keep it from opening;
// it is shown, and the file is applied once it is corrected.
func runDashboard(ctx context.Context, version string, begin factory.DashboardOptions) error {
	var file config.File
	conf, err := file.Load()
	initial := dashboardSettings(conf)
	if err != nil {
		initial.Fault = config.Brief(err).Error()
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	showTips, hideTips := config.Tips(conf.Tips, dataDir)
	var terminal *os.File
	// Standard output is reserved for the answer.
	if begin.OnLeave != nil {
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
		Settings: initial,
		Follow: func(ctx context.Context, tell func(ui.Settings)) {
			file.Follow(ctx, func(c settings.Config, err error) {
				changed := dashboardSettings(c)
				if err != nil {
					changed.Fault = config.Brief(err).Error()
				}
				tell(changed)
			})
		},
		KeepTheme:    config.KeepTheme,
		KeepPrefix:   config.KeepPrefix,
		CreateConfig: config.Create,
		Command:      withHome(ownCommand(), os.Args[1:]),
		Files:        begin.Folder,
		File:         begin.Name,
		Left:         begin.OnLeave,
		Output:       terminal,
		InTmux:       os.Getenv("TMUX") != "",
		ShowTips:     showTips,
		HideTips:     hideTips,
		Recent:       recent,
		KeepRecent:   keepRecent,
	})
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
