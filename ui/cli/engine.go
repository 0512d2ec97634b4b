package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/output"
)

func infoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "info",
		Short:   "Show the engine's version, pids and paths",
		Example: "tandem info\nkill -9 $(tandem info --json | jq .engine_pid)   # sessions keep running",
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, err := call(cmd.Context(), a, api.EngineInfo, api.Empty{})
			if err != nil {
				return err
			}
			return a.out.Answer(info, func() string { return infoText(a.out, info) })
		},
	}
}

func infoText(out output.Printer, i api.Info) string {
	keeper := strconv.Itoa(i.KeeperPID)
	if i.KeeperPID == 0 {
		keeper = "starting"
	}
	var b strings.Builder
	for _, row := range [][2]string{
		{"version", i.Version}, {"engine pid", strconv.Itoa(i.EnginePID)}, {"keeper pid", keeper},
		{"running", strconv.Itoa(i.Running)}, {"data folder", i.DataDir}, {"socket", i.Socket}, {"boot id", i.BootID},
	} {
		fmt.Fprintf(&b, "%-11s  %s\n", row[0], output.Visible(row[1]))
	}
	return b.String()
}

func shutdownCommand(a *app) *cobra.Command {
	var all, yes bool
	cmd := &cobra.Command{
		Use:   "shutdown [--all] [--yes]",
		Short: "Stop the engine; sessions keep running unless --all is given",
		Long: "Stops the engine. Sessions and processes keep running, and the next tandem command finds\nthem. " +
			"--all stops them first, and the keeper that holds them.",
		Example: "tandem shutdown\ntandem shutdown --all --yes",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.shutdown(cmd, all, yes) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "stop every session and process, and the keeper")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) shutdown(cmd *cobra.Command, all, yes bool) error {
	ctx := cmd.Context()
	client, err := a.connectIfAlive(ctx, all)
	if err != nil {
		return err
	}
	var lost []doctor.LostKeeper
	if all {
		lost = a.FindLost()
	}
	var info api.Info
	if client != nil {
		defer client.Close()
		if info, err = api.EngineInfo.Call(ctx, client, api.Empty{}); err != nil {
			return err
		}
	}
	if n := info.Running + runningIn(lost); all && !yes && n > 0 {
		if err := a.confirm("shut down", fmt.Sprintf("This stops %s. Continue?", runningText(n))); err != nil {
			return err
		}
	}
	if client != nil {
		err = stopEngine(ctx, client, info, all)
	}
	if all {
		a.machines().EndLogins(ctx)
	}
	for _, l := range lost {
		a.out.Tell("stopping the keeper that lost its data folder, pid %d", l.Keeper)
		err = errors.Join(err, l.End(ctx))
	}
	if err != nil {
		return err
	}
	if client == nil && len(lost) == 0 {
		a.out.Tell("no engine is running")
	}
	return a.out.Answer(api.Empty{}, func() string { return "" })
}

// stopEngine stops the engine. With all it also stops everything running, and the keeper.
func stopEngine(ctx context.Context, client *client.Client, info api.Info, all bool) error {
	// A pid may be reused once its process is gone, so the pidfds are opened before the call.
	leaving := []*exitWatch{watchExit("engine", info.EnginePID)}
	if all {
		leaving = append(leaving, watchExit("keeper", info.KeeperPID))
	}
	_, err := api.EngineStop.Call(ctx, client, api.EngineStopInput{All: all})
	for _, d := range leaving {
		err = errors.Join(err, d.await(ctx, err == nil))
	}
	return err
}

// runningIn counts the programs held by lost keepers.
func runningIn(lost []doctor.LostKeeper) (n int) {
	for _, l := range lost {
		n += len(l.Programs)
	}
	return n
}

// connectIfAlive connects to the engine. If none runs, it starts one only if needed to report or
// stop something: a live keeper, or with all also processes without a keeper. Otherwise it returns
// a nil client and no error.
func (a *app) connectIfAlive(ctx context.Context, all bool) (*client.Client, error) {
	conn, err := a.connectRunning(ctx)
	if !errors.Is(err, api.CodeUnavailable) {
		return conn, err
	}
	// A keeper without an engine may hold sessions, and only an engine can list or stop them.
	if keeperAnswers() || all && a.HasProcesses() {
		return a.connect(ctx)
	}
	return nil, nil
}

// keeperAnswers reports whether the data folder's keeper answers.
func keeperAnswers() bool {
	dir, err := api.DataDir()
	if err != nil {
		return false
	}
	return client.KeeperAnswers(dir)
}

func runningText(n int) string {
	if n == 1 {
		return "1 running session or process"
	}
	return fmt.Sprintf("%d running sessions and processes", n)
}

// confirm asks question on the terminal before an irreversible change. It returns an error unless
// the answer is yes.
func (a *app) confirm(verb, question string) error {
	if _, ok := output.Terminal(a.Stdin); !ok {
		return output.UsageError(verb+": no terminal to ask on", "give --yes to do it anyway")
	}
	fmt.Fprintf(a.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		// End the line of the prompt after ctrl+d.
		a.out.Tell("")
	}
	return &output.ExitError{Status: output.StatusFailed, Err: errors.New(verb + ": cancelled, nothing was changed")}
}
