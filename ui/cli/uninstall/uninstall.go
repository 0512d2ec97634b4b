// Package uninstall implements `tandem uninstall`: it lists Tandem's traces on this machine, and
// removes them after the user confirms.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/engine"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

type flags struct{ list, yes, keepProgram bool }

// NewUninstall returns the command uninstall.
func NewUninstall(f *factory.Factory) *cobra.Command {
	var opts flags
	cmd := &cobra.Command{
		Use:   "uninstall [--list | --yes] [--keep-program]",
		Short: "Stop everything and remove what Tandem has on this machine",
		Long: "Lists what it would stop and delete, asks, and does it: sessions, processes, engine and keeper;\n" +
			"entries and hooks in agents' settings; the systemd unit; lines that load Tandem in your shell's\n" +
			"files; the data folder and the configuration; and the program, if it is below your home directory.\n" +
			"Run it before you remove a package, which by itself stops nothing and deletes nothing of yours.\n" +
			"Exits with 1 if it could not delete something.",
		Example:     "tandem uninstall --list\ntandem uninstall\ntandem uninstall --yes --json",
		Annotations: factory.Here.Annotations(),
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.list && opts.yes {
				return output.Usagef(cmd, "give --list or --yes, not both")
			}
			return factory.Exactly(0, "")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return opts.run(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&opts.list, "list", false, "list it, and change nothing")
	cmd.Flags().BoolVarP(&opts.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&opts.keepProgram, "keep-program", false, "leave the program for what installed it")
	return cmd
}

// An answer is the result, or with --list the plan, of an uninstallation.
type answer struct {
	Stops   []string `json:"stops"`
	Deletes []string `json:"deletes"`
	Leaves  []string `json:"leaves"` // to the user
	Done    bool     `json:"done"`
}

func (opts flags) run(ctx context.Context, f *factory.Factory) error {
	r, err := findRunning(ctx, f)
	if err != nil {
		return err
	}
	defer r.close()
	early, late, left, err := opts.findParts(ctx, f)
	if err != nil {
		return err
	}
	a := answer{Stops: r.lines, Deletes: []string{}, Leaves: append([]string{}, left...)}
	for _, p := range append(early, late...) {
		a.Deletes = append(a.Deletes, p.text)
	}
	if opts.list || len(a.Stops)+len(a.Deletes) == 0 {
		return f.Out.Answer(a, a.text)
	}
	if !f.Out.JSON { // with --json the lines are part of the answer
		f.Out.Tell("%s", strings.TrimSuffix(output.VisibleLines(a.text()), "\n"))
	}
	if !opts.yes {
		if err := f.Confirm("uninstall", "Stop and delete all this?"); err != nil {
			return err
		}
	}
	failed := removeAll(ctx, early)
	if err := r.stop(ctx); err != nil {
		// Running programs need their records, and the engine would write them again.
		return errors.Join(failed, fmt.Errorf("uninstall: nothing else was deleted: %w", err))
	}
	if err := errors.Join(failed, removeAll(ctx, late)); err != nil {
		return err
	}
	a.Done = true
	return f.Out.Answer(a, func() string { return "Tandem is uninstalled.\n" })
}

// text formats a as an indented list with headings.
func (a answer) text() string {
	var b strings.Builder
	for _, group := range []struct {
		heading string
		lines   []string
	}{{"Stops", a.Stops}, {"Deletes", a.Deletes}, {"Leaves to you", a.Leaves}} {
		if len(group.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", group.heading)
		for _, line := range group.lines {
			fmt.Fprintf(&b, "  %s\n", output.Visible(line))
		}
	}
	return b.String()
}

// running holds everything to stop.
type running struct {
	f     *factory.Factory
	conn  *client.Client // nil if nothing runs
	info  api.Info
	lost  []doctor.LostKeeper
	lines []string // describe it; never nil
}

// findRunning finds everything to stop. It returns an error if the caller is not the user, or if the
// user's terminal would be stopped.
func findRunning(ctx context.Context, f *factory.Factory) (*running, error) {
	r := &running{f: f, lost: f.FindLost(), lines: []string{}}
	var err error
	if r.conn, err = f.DialIfAlive(ctx, true); err != nil {
		return nil, err
	}
	if r.conn == nil {
		r.describe(nil)
		return r, nil
	}
	if r.info, err = api.EngineInfo.Call(ctx, r.conn, api.Empty{}); err == nil {
		err = r.check(ctx)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *running) close() {
	if r.conn != nil {
		r.conn.Close()
	}
}

// check returns an error if this command may not stop the engine, or would stop its own terminal.
func (r *running) check(ctx context.Context) error {
	// The engine refuses this operation to everybody but the user.
	_, err := api.RequestList.Call(ctx, r.conn, api.Empty{})
	if errors.Is(err, api.CodeForbidden) {
		return api.Errorf(api.CodeForbidden, "uninstall: %s", api.AsError(err).Message).WithHint("ask the user to run it, in a terminal that no agent started or typed into")
	}
	var all api.ProcessListOutput
	if err == nil {
		all, err = api.ProcessList.Call(ctx, r.conn, api.ProcessListInput{})
	}
	if err != nil {
		return err
	}
	for _, p := range all.Processes {
		if !p.State.Ended() && (p.ID == r.f.Env(factory.OwnSession) || factory.LeadsTerminal(r.f.Stdin, p)) {
			return api.Errorf(api.CodeConflict, "uninstall: this terminal is session %s, which would be stopped", output.Visible(p.Name)).
				WithHint("run it in a terminal outside Tandem")
		}
	}
	r.describe(all.Processes)
	return nil
}

// describe fills in lines. all are the engine's sessions and processes.
func (r *running) describe(all []api.Process) {
	for _, p := range all {
		if !p.State.Ended() {
			r.lines = append(r.lines, fmt.Sprintf("%s %s", p.Kind, p.Name))
		}
	}
	if r.conn != nil {
		r.lines = append(r.lines, "the engine and its keeper")
	}
	for _, l := range r.lost {
		r.lines = append(r.lines, "keeper "+l.String())
	}
}

func (r *running) stop(ctx context.Context) error {
	return engine.StopAll(ctx, r.f, r.conn, r.info, r.lost)
}
