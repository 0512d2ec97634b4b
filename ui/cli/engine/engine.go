// Package engine implements the commands about the engine itself: info, shutdown and doctor. The checks
// of the doctor are in package doctor.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/machines"
	"tandem/ui/cli/output"
)

// NewInfo returns the command info.
func NewInfo(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:         "info",
		Short:       "Show the engine's version, pids and paths",
		Example:     "tandem info\nkill -9 $(tandem info --json | jq .engine_pid)   # sessions keep running",
		Annotations: factory.Several.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, err := factory.Call(cmd.Context(), f, api.EngineInfo, api.Empty{})
			if err != nil {
				return err
			}
			return f.Out.Answer(info, func() string { return infoText(f.Out, info, f.Version) })
		},
	}
}

// infoText formats i. version is this program's.
func infoText(out output.Printer, i api.Info, version string) string {
	keeper := strconv.Itoa(i.KeeperPID)
	if i.KeeperPID == 0 {
		keeper = "starting"
	}
	rows := [][2]string{
		{"version", i.Version}, {"engine pid", strconv.Itoa(i.EnginePID)}, {"keeper pid", keeper},
		{"running", strconv.Itoa(i.Running)}, {"data folder", i.DataDir}, {"socket", i.Socket}, {"boot id", i.BootID},
	}
	if i.Version != version {
		rows = slices.Insert(rows, 1, [2]string{"program", doctor.Compared(version, i.Version)})
	}
	if i.KeptOutput != nil {
		rows = append(rows, [2]string{"kept output", output.KeptText(i.KeptOutput)})
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%-11s  %s\n", row[0], output.Visible(row[1]))
	}
	return b.String()
}

// NewShutdown returns the command shutdown.
func NewShutdown(f *factory.Factory) *cobra.Command {
	var all, yes bool
	cmd := &cobra.Command{
		Use:   "shutdown [--all] [--yes]",
		Short: "Stop the engine; sessions keep running unless --all is given",
		Long: "Stops the engine. Sessions and processes keep running, and the next tandem command finds\nthem. " +
			"--all stops them first, and the keeper that holds them.",
		Example:     "tandem shutdown\ntandem shutdown --all --yes",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return runShutdown(f, cmd, all, yes) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "stop every session and process, and the keeper")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func runShutdown(f *factory.Factory, cmd *cobra.Command, all, yes bool) error {
	ctx := cmd.Context()
	client, err := f.DialIfAlive(ctx, all)
	if err != nil {
		return err
	}
	var lost []doctor.LostKeeper
	if all {
		lost = f.FindLost()
	}
	var info api.Info
	if client != nil {
		defer client.Close()
		if info, err = api.EngineInfo.Call(ctx, client, api.Empty{}); err != nil {
			return err
		}
	}
	if n := info.Running + countRunning(lost); all && !yes && n > 0 {
		if err := f.Confirm("shut down", fmt.Sprintf("This stops %s. Continue?", runningText(n))); err != nil {
			return err
		}
	}
	if all {
		err = StopAll(ctx, f, client, info, lost)
	} else if client != nil {
		err = stopEngine(ctx, client, info, false)
	}
	if err != nil {
		return err
	}
	if client == nil && len(lost) == 0 {
		f.Out.Tell("no engine is running")
	}
	return f.Out.Answer(api.Empty{}, func() string { return "" })
}

// StopAll stops everything that runs, the engine with its keeper if client is not nil, and the
// keepers in lost. info is that engine's.
func StopAll(ctx context.Context, f *factory.Factory, client *client.Client, info api.Info, lost []doctor.LostKeeper) (err error) {
	if client != nil {
		err = stopEngine(ctx, client, info, true)
	}
	machines.NewCommands(f).EndLogins(ctx)
	for _, l := range lost {
		f.Out.Tell("stopping the keeper that lost its data folder, pid %d", l.Keeper)
		err = errors.Join(err, l.End(ctx))
	}
	return err
}

// stopEngine stops the engine. If everything is set, it also stops everything running, and the
// keeper.
func stopEngine(ctx context.Context, client *client.Client, info api.Info, everything bool) error {
	// A pid may be reused once its process is gone, so the pidfds are opened before the call.
	leaving := []*exitWatch{watchExit("engine", info.EnginePID)}
	if everything {
		leaving = append(leaving, watchExit("keeper", info.KeeperPID))
	}
	_, err := api.EngineStop.Call(ctx, client, api.EngineStopInput{All: everything})
	for _, d := range leaving {
		err = errors.Join(err, d.await(ctx, err == nil))
	}
	return err
}

// countRunning counts the programs held by lost keepers.
func countRunning(lost []doctor.LostKeeper) (n int) {
	for _, l := range lost {
		n += len(l.Programs)
	}
	return n
}

// runningText returns "1 running session or process", or the like for another n.
func runningText(n int) string {
	if n == 1 {
		return "1 running session or process"
	}
	return fmt.Sprintf("%d running sessions and processes", n)
}
