// Package service implements `tandem service`: a systemd unit of the user that starts the engine at
// boot. Restart policies belong to the engine.
package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewService returns the command service.
func NewService(f *factory.Factory) *cobra.Command {
	cmd := withRun(f, unit.printStatus, &cobra.Command{
		Use:   "service",
		Short: "Start the engine and its processes at boot",
		Long: "Manages a systemd unit of yours that starts the engine at boot. The engine then starts every\n" +
			"session and process with --keep-alive or --restart always that you have not stopped. Without a\n" +
			"subcommand it prints the status.",
		Example:     "tandem service install --linger\ntandem service status\ntandem service remove",
		Annotations: factory.Here.Annotations(),
	})
	cmd.AddCommand(newInstall(f), withRun(f, unit.printStatus, &cobra.Command{
		Use:   "status",
		Short: "Show what a reboot would start",
		Long: "Shows the unit, whether lingering is enabled, and what a reboot would start. It starts no engine.\n" +
			"Exits with 1 if a reboot would not start the engine.",
		Example: "tandem service status\ntandem service status --json",
	}), withRun(f, unit.remove, &cobra.Command{
		Use:   "remove",
		Short: "Remove the unit; everything keeps running",
		Long: "Disables and deletes the unit of this data folder. The engine and everything else keep running.\n" +
			"Lingering stays on, because other units may need it.",
		Example: "tandem service remove\nloginctl disable-linger",
	}))
	return cmd
}

// withRun makes cmd run a function on the unit of this data folder.
func withRun(f *factory.Factory, run func(unit, context.Context) error, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		u, err := findUnit(f)
		if err != nil {
			return err
		}
		return run(u, cmd.Context())
	}
	return cmd
}

// An installation holds the flags of `tandem service install`.
type installation struct{ force, linger, print bool }

func newInstall(f *factory.Factory) *cobra.Command {
	var in installation
	cmd := withRun(f, func(u unit, ctx context.Context) error { return in.run(ctx, u) }, &cobra.Command{
		Use:   "install [--linger] [--force | --print]",
		Short: "Start the engine at boot",
		Long: "Writes a systemd unit for this data folder, enables it, and starts it if lingering is enabled. An\n" +
			"engine that already runs is left alone. Lingering means that systemd starts your units at boot and\n" +
			"keeps them after you log out; without it the unit does nothing. A unit that you edited is kept\n" +
			"unless --force is given. Without systemd it says what to do instead, and exits with 1.",
		Example: "tandem service install\ntandem service install --linger\ntandem service install --print",
	})
	cmd.Flags().BoolVar(&in.linger, "linger", false, "enable lingering, too")
	cmd.Flags().BoolVar(&in.force, "force", false, "replace a unit that was edited")
	cmd.Flags().BoolVar(&in.print, "print", false, "print the unit and change nothing")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if in.print && (in.force || in.linger) {
			return output.Usagef(cmd, "--print cannot be used with --force or --linger")
		}
		return nil
	}
	return cmd
}

func (in installation) run(ctx context.Context, u unit) error {
	text, err := u.render()
	if err != nil {
		return err
	}
	if in.print {
		return u.f.Out.Answer(map[string]any{"path": u.path, "text": text}, func() string { return text })
	}
	if _, err := u.readState(ctx); err != nil { // without systemd, nothing is written
		return err
	}
	if err := u.write(text, in.force); err != nil {
		return err
	}
	steps := [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", u.path}}
	if in.linger {
		steps = append(steps, []string{"loginctl", "enable-linger", userName()})
	}
	// Starting the unit now shows whether it works. Without lingering, the unit's condition skips
	// the start. A restart ends nothing, and starts the engine again after a shutdown.
	steps = append(steps, []string{"systemctl", "--user", "restart", u.name})
	for _, step := range steps {
		if _, err := u.run(ctx, step[0], step[1:]...); err != nil {
			return err
		}
	}
	s, err := u.readState(ctx)
	if err != nil {
		return err
	}
	return u.f.Out.Answer(s, func() string { return u.describe(s) })
}

// write writes the unit. Without force, it keeps an edited one.
func (u unit) write(text string, force bool) error {
	installed, err := u.read()
	switch {
	case err != nil || installed == text:
		return err
	case installed != "" && isEdited(installed) && !force:
		change := string(diff.Diff("installed", []byte(installed), "new", []byte(text)))
		return api.Errorf(api.CodeConflict, "%s was edited; it differs:\n%s", u.path, strings.TrimSuffix(change, "\n")).
			WithHint("--force replaces it")
	}
	if err := os.MkdirAll(filepath.Dir(u.path), 0o755); err != nil {
		return fmt.Errorf("write unit: %w", err)
	}
	if err := renameio.WriteFile(u.path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write unit: %w", err)
	}
	u.f.Out.Tell("wrote %s", output.Visible(u.path))
	return nil
}

func (u unit) printStatus(ctx context.Context) error {
	s, err := u.readState(ctx)
	if err != nil {
		return err
	}
	err = u.f.Out.Answer(s, func() string { return u.describe(s) })
	if err == nil && u.assess(s).Status != doctor.OK {
		return &output.ExitError{Status: output.StatusFailed}
	}
	return err
}

// describe formats a state, with the reason if a reboot does not start the engine.
func (u unit) describe(s state) string {
	yes := map[bool]string{true: "yes", false: "no"}
	path := s.Unit
	switch {
	case !s.Installed:
		path += " (not installed)"
	case s.Edited:
		path += " (edited)"
	}
	started := strings.Join(s.AtBoot, ", ")
	if started == "" {
		started = "nothing; see --keep-alive and --restart of `tandem start`"
	}
	var b strings.Builder
	for _, row := range [][2]string{{"unit", path}, {"enabled", yes[s.Enabled]}, {"state", s.Active}, {"lingering", yes[s.Linger]}, {"at boot", started}} {
		fmt.Fprintf(&b, "%-9s  %s\n", row[0], output.Visible(row[1]))
	}
	if f := u.assess(s); f.Status != doctor.OK {
		fmt.Fprintf(&b, "\n%s\n→ %s\n", f.Detail, f.Fix)
	}
	return b.String()
}

func (u unit) remove(ctx context.Context) error {
	text, err := u.read()
	switch {
	case err != nil:
		return err
	case text == "":
		u.f.Out.Tell("%s is not installed", u.name)
		return u.f.Out.Answer(api.Empty{}, func() string { return "" })
	}
	if err := u.delete(ctx, text); err != nil {
		return err
	}
	return u.f.Out.Answer(map[string]any{"path": u.path}, func() string { return "removed " + output.Visible(u.path) + "\n" })
}

// delete disables and deletes the unit with this text.
func (u unit) delete(ctx context.Context, text string) error {
	if !strings.HasPrefix(text, mark) {
		return fmt.Errorf("remove unit: %s was not written by Tandem", u.path)
	}
	if _, err := u.run(ctx, "systemctl", "--user", "disable", u.name); err != nil {
		return err
	}
	err := os.Remove(u.path)
	_, failed := u.run(ctx, "systemctl", "--user", "daemon-reload")
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("remove unit: %w", err)
	}
	return nil
}

// Installed returns the path of the unit of this data folder, or "" if there is none, and a function
// that disables and deletes it.
func Installed(f *factory.Factory) (path string, remove func(context.Context) error, err error) {
	u, err := findUnit(f)
	if err != nil {
		return "", nil, err
	}
	text, err := u.read()
	if text == "" || err != nil {
		return "", nil, err
	}
	return u.path, func(ctx context.Context) error { return u.delete(ctx, text) }, nil
}

// Examine checks an installed unit for the doctor.
func Examine(ctx context.Context, f *factory.Factory) doctor.Finding {
	u, err := findUnit(f)
	if err != nil {
		return doctor.Finding{Check: check, Status: doctor.Warn, Detail: err.Error(), Fix: "set HOME"}
	}
	text, err := u.read()
	if text == "" && err == nil {
		return doctor.Finding{Check: check, Status: doctor.OK, Detail: "after a reboot, your first tandem command starts the processes to be kept running; with `tandem service install`, they start at boot"}
	}
	var s state
	if err == nil {
		s, err = u.readState(ctx)
	}
	if err != nil {
		return doctor.Finding{Check: check, Status: doctor.Warn, Detail: err.Error(), Fix: api.AsError(err).Hint}
	}
	return u.assess(s)
}
