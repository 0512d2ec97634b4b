package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

func newAdd(f *factory.Factory) *cobra.Command {
	var cwd string
	var exit int
	var lasted factory.Duration
	var at factory.Moment
	cmd := &cobra.Command{
		Use:               "add [--cwd D] [--exit N] [--took D] [--at T] [--] COMMAND",
		Short:             "Add a command that was run elsewhere",
		Long:              "Adds a command that was run elsewhere, and prints the number of its row. Several words\nare joined with blanks.",
		Example:           "tandem history add --exit 0 -- 'make && make install'",
		Args:              factory.AtLeast(1, "add what? Give a command."),
		ValidArgsFunction: factory.CompleteProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := f.Folder(cwd)
			if err != nil {
				return err
			}
			in := api.HistoryAddInput{Command: strings.Join(args, " "), CWD: dir, StartedAt: at.Time()}
			if cmd.Flags().Changed("exit") {
				in.ExitCode = &exit
			}
			if ms := int64(lasted.Milliseconds()); ms > 0 {
				in.DurationMS = &ms
			}
			c, err := factory.Call(cmd.Context(), f, api.HistoryAdd, in)
			if err != nil {
				return err
			}
			return f.Out.Answer(c, func() string { return strconv.FormatInt(c.ID, 10) + "\n" })
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags after COMMAND are COMMAND's
	flags.StringVar(&cwd, "cwd", "", "`folder` it ran in (default: this one)")
	flags.IntVar(&exit, "exit", 0, "its exit `code` (default: unknown)")
	flags.Var(&lasted, "took", "how long it ran (default: unknown)")
	flags.Var(&at, "at", "when it began (default: now)")
	return cmd
}

func newRemove(f *factory.Factory) *cobra.Command {
	var line string
	cmd := &cobra.Command{
		Use:               "remove ID… | --command LINE",
		Aliases:           []string{"rm"},
		Short:             "Delete commands",
		Long:              "Deletes single runs by number, or, with --command, every run of a command line.",
		Example:           "tandem history remove 4711 4712\ntandem history remove --command 'ls -la'",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.HistoryRemoveInput{Command: line}
			for _, arg := range args {
				id, err := strconv.ParseInt(arg, 10, 64)
				if err != nil {
					return output.Usagef(cmd, "remove %s: must be the number of a row", output.Visible(arg))
				}
				in.IDs = append(in.IDs, id)
			}
			if len(in.IDs) == 0 && line == "" {
				return output.Usagef(cmd, "remove what? Give the numbers of rows, or --command.")
			}
			out, err := factory.Call(cmd.Context(), f, api.HistoryRemove, in)
			if err != nil {
				return err
			}
			if out.Count == 0 {
				return api.Errorf(api.CodeNotFound, "remove from history: no such command")
			}
			return f.Out.Answer(out, func() string { return countLine(out.Count, "deleted") })
		},
	}
	cmd.Flags().StringVar(&line, "command", "", "every run of this command `line`")
	return cmd
}

func countLine(n int, done string) string {
	if n == 1 {
		return "1 command " + done + "\n"
	}
	return strconv.Itoa(n) + " commands " + done + "\n"
}

// loadedLine says what was loaded from a file.
func loadedLine(out api.HistoryCount) string {
	line := countLine(out.Count, "added")
	if out.LeftOut > 0 {
		line += strconv.Itoa(out.LeftOut) + " left out: damaged lines, or commands of more than 64 KiB\n"
	}
	return line
}

func newClear(f *factory.Factory) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "clear [--yes]",
		Short:   "Delete every command",
		Long:    "Deletes every command of all sessions permanently. Asks first unless --yes is given.",
		Example: "tandem history clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				if err := f.Confirm("clear history", "This deletes every command from the history. Continue?"); err != nil {
					return err
				}
			}
			out, err := factory.Call(cmd.Context(), f, api.HistoryClear, api.Empty{})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return countLine(out.Count, "deleted") })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func newSave(f *factory.Factory) *cobra.Command {
	var overwrite bool
	cmd := &cobra.Command{
		Use:     "save FILE [--overwrite]",
		Short:   "Write all commands to a text file",
		Long:    "Writes all commands to a text file, oldest first, one per line.",
		Example: "tandem history save commands.txt",
		Args:    factory.Exactly(1, "which file? Give a path."),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := f.Folder(args[0])
			if err != nil {
				return err
			}
			out, err := factory.Call(cmd.Context(), f, api.HistorySave, api.HistorySaveInput{Path: path, Overwrite: overwrite})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return countLine(out.Count, "saved") })
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace an existing file")
	return cmd
}

func newLoad(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "load FILE",
		Short: "Add the commands of a text file",
		Long: "Adds the commands of a text file, one per line, or of a bash, zsh, fish or atuin history. Commands\n" +
			"with a time are not added twice. After ctrl+c nothing is added.",
		Example: "tandem history load ~/.zsh_history",
		Args:    factory.Exactly(1, "which file? Give a path."),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := f.Folder(args[0])
			if err != nil {
				return err
			}
			out, err := load(cmd.Context(), f, path, "")
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return loadedLine(out) })
		},
	}
}

func newImport(f *factory.Factory) *cobra.Command {
	from := []string{"atuin", "bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "import atuin|bash|zsh|fish [FILE]",
		Short: "Add the commands of another program's history",
		Long: "Adds the history of atuin or of a shell. Without FILE it reads the file used by that program.\n" +
			"atuin also supplies times, durations, folders and exit statuses. A file may mix entries\n" +
			"with and without times. Duplicates are skipped; a command without a time is a duplicate\n" +
			"if the history already contains it.",
		Example:   "tandem history import atuin\ntandem history import bash ~/old/.bash_history",
		ValidArgs: from,
		Args:      cobra.MatchAll(factory.AtMost(2), factory.AtLeast(1, "import what? Give atuin, bash, zsh or fish.")),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(from, args[0]) {
				return output.Usagef(cmd, "unknown source %s; must be atuin, bash, zsh or fish", output.Visible(args[0]))
			}
			path := historyFile(f.Env, args[0])
			if len(args) > 1 {
				path = args[1]
			}
			path, err := filepath.Abs(path)
			if err != nil {
				return fmt.Errorf("find %q: %w", path, err)
			}
			format := args[0]
			if format == "atuin" { // the engine detects a database by itself
				format = ""
			}
			out, err := load(cmd.Context(), f, path, format)
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return loadedLine(out) })
		},
	}
}

// historyFile returns the documented path of another program's history.
func historyFile(env func(name string) string, program string) string {
	home := env("HOME")
	data := cmp.Or(env("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	switch program {
	case "atuin":
		return cmp.Or(env("ATUIN_DB_PATH"), filepath.Join(data, "atuin", "history.db"))
	case "fish":
		return filepath.Join(data, "fish", "fish_history")
	case "zsh":
		return cmp.Or(env("HISTFILE"), filepath.Join(home, ".zsh_history"))
	}
	return filepath.Join(home, ".bash_history")
}

// progressGap is the time between two polls of a load's progress.
const progressGap = 200 * time.Millisecond

// load adds the commands of a file. It shows progress if stderr is a terminal.
func load(ctx context.Context, f *factory.Factory, path, format string) (api.HistoryCount, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	conn, err := f.DialRetrying(ctx)
	if err != nil {
		return api.HistoryCount{}, err
	}
	defer conn.Close()
	loading, loaded := context.WithCancel(ctx)
	defer loaded()
	var shown sync.WaitGroup
	if out, ok := output.Terminal(f.Stderr); ok {
		shown.Go(func() { showLoading(loading, conn, path, out) })
	}
	out, err := api.HistoryLoad.Call(ctx, conn, api.HistoryLoadInput{Path: path, At: time.Now(), Format: format})
	// The engine adds all commands of a file or none.
	if err != nil && ctx.Err() != nil {
		err = &output.ExitError{Status: output.StatusSignal + int(syscall.SIGINT), Err: errors.New("load history: interrupted; nothing was loaded")}
	}
	// Wait until the progress line is erased, because the answer is printed next.
	loaded()
	shown.Wait()
	return out, err
}

// showLoading shows a load's progress on one line until ctx ends, then erases the line.
func showLoading(ctx context.Context, conn api.Engine, path string, out io.Writer) {
	for sleep.For(ctx, progressGap) == nil {
		now, err := api.HistoryLoading.Call(ctx, conn, api.Empty{})
		if err != nil {
			break
		}
		for _, l := range now.Loads {
			if l.Path == path {
				fmt.Fprintf(out, "\r\x1b[K%d of %d commands (%d%%)", l.Done, l.Total, 100*l.Done/max(l.Total, 1))
			}
		}
	}
	fmt.Fprint(out, "\r\x1b[K")
}

func newStats(f *factory.Factory) *cobra.Command {
	var since factory.Moment
	var limit int
	var actor string
	cmd := &cobra.Command{
		Use:     "stats [--actor A] [--since T] [--limit N]",
		Short:   "Count the commands you have run, by program, day and folder",
		Example: "tandem history stats --since 7d\ntandem history stats --actor agent",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return output.Usagef(cmd, "show %d rows: must be at least 1", limit)
			}
			out, err := factory.Call(cmd.Context(), f, api.HistoryStats, api.HistoryStatsInput{Since: since.Time(), Limit: limit, Actor: actorNamed(actor)})
			if err != nil {
				return err
			}
			return f.Out.Answer(out, func() string { return statsText(f.Out, out) })
		},
	}
	cmd.Flags().Var(&since, "since", "only what started since then, such as 30m, 2d, 2026-11-20 or 15:04")
	cmd.Flags().IntVarP(&limit, "limit", "n", 10, "length of the lists, in `rows`")
	cmd.Flags().StringVar(&actor, "actor", "person", "only of `who`: person, agent, anyone, or an exact name")
	return cmd
}

func statsText(p output.Printer, out api.HistoryStatsOutput) string {
	var b strings.Builder
	paint := p.Painter()
	fmt.Fprintf(&b, "%d runs of %d commands, %d failed\n", out.Total, out.Unique, out.Failed)
	for _, list := range []struct {
		title string
		rows  []api.NameCount
	}{{"Programs", out.Programs}, {"Commands", out.Commands}, {"Failures", out.Failures}, {"Days", out.Days}, {"Folders", out.Folders}, {"Who", out.Actors}} {
		if len(list.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", paint(output.Strong, list.title))
		for _, row := range list.rows {
			fmt.Fprintf(&b, "%8d  %s\n", row.Count, output.Visible(row.Name))
		}
	}
	return b.String()
}
