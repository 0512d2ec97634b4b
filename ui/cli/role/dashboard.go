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
	"tandem/ui"
	"tandem/ui/cli"
)

// runDashboard shows the dashboard. A mistake in the configuration does not keep it from opening;
// it is shown, and the file is applied once it is corrected.
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
		KeepTheme:    config.KeepTheme,
		KeepPrefix:   config.KeepPrefix,
		CreateConfig: config.Create,
		Command:      withHome(ownCommand(), os.Args[1:]),
		Files:        begin.Folder,
		File:         begin.Name,
		Left:         begin.OnLeave,
		Output:       terminal,
		InTmux:       os.Getenv("TMUX") != "",
		Tips:         showTips,
		HideTips:     hideTips,
		Recent:       recent,
		KeepRecent:   keepRecent,
		Version:      version,
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
func dashboardSettings(c config.Config) ui.Settings {
	bindings, _ := c.Bindings() // already checked
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
		Attention:   attentionSettings(c),
	}
}

func attentionSettings(c config.Config) ui.Attention {
	long, quiet := c.Attention.Times()
	return ui.Attention{NoNotify: c.Attention.Notify != nil && !*c.Attention.Notify, LongCommand: long, Quiet: ui.Hours(quiet)}
}

func loadBindings() (keymap.Bindings, error) {
	conf, err := config.Load()
	if err != nil {
		return keymap.Bindings{}, err
	}
	return conf.Bindings()
}
