// Package history implements `tandem history` and the scripts that open it from a shell.
package history

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type historyFlags struct {
	cwd, process, actor, from, kind, exact string
	here, failed, unique                   bool
	since                                  factory.Moment
	limit                                  int
}

// NewHistory returns the command history.
func NewHistory(f *factory.Factory) *cobra.Command {
	var opts historyFlags
	cmd := &cobra.Command{
		Use:   "history [QUERY…] [--here] [--failed] [--actor A] [--since T] [--limit N]",
		Short: "Search the commands that were run",
		Long: "Searches the commands that you and agents have run, in sessions, with exec and as processes.\n" +
			"The best match comes first or, without QUERY, the newest command. QUERY is fuzzy, in fzf's\n" +
			"syntax: words in any order, 'exact, ^start, end$, !not, and | for or. Put -- before a query\n" +
			"that begins with the name of a command below.",
		Example: "tandem history docker run\ntandem history --failed --here --since 2d\ntandem history --actor agent --json\n" +
			"tandem history load ~/.bash_history",
		Annotations:       factory.Several.Annotations(),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return search(f, cmd, args, opts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.cwd, "cwd", "", "only what ran in this `folder`")
	flags.BoolVar(&opts.here, "here", false, "only what ran in the current folder")
	flags.StringVar(&opts.process, "process", "", "only what ran in the session or process with this `id` or name")
	flags.StringVar(&opts.actor, "actor", anyone, "only of `who`: person, agent, anyone, or an exact name")
	flags.StringVar(&opts.from, "from", "", "only what was run from this other `machine`, user@host or host")
	flags.StringVar(&opts.kind, "kind", "", "only commands of this `kind`: session, exec, process or added")
	flags.BoolVar(&opts.failed, "failed", false, "only what failed, and was not stopped on purpose")
	flags.StringVar(&opts.exact, "exact", "", "only the runs of this command `line`")
	flags.Var(&opts.since, "since", "only what started since then, such as 30m, 2d, 2026-11-20 or 15:04")
	flags.BoolVarP(&opts.unique, "unique", "u", false, "only the newest of equal commands")
	flags.IntVarP(&opts.limit, "limit", "n", 50, "`rows` at most")
	completeFlags(f, cmd)
	cmd.AddCommand(newPick(f), newAdd(f), newRemove(f), newClear(f),
		newSave(f), newLoad(f), newImport(f), newStats(f))
	return cmd
}

// anyone is the value of --actor for everybody's commands.
const anyone = "anyone"

// actorNamed returns the actor in a call's input for a value of --actor.
func actorNamed(flag string) string {
	if flag == anyone {
		return ""
	}
	return flag
}

func completeFlags(f *factory.Factory, cmd *cobra.Command) {
	words := func(all ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"actor":   words("person", "agent", anyone),
		"kind":    words(historyKinds()...),
		"since":   words("1h", "1d", "7d"),
		"exact":   cobra.NoFileCompletions,
		"from":    cobra.NoFileCompletions,
		"limit":   cobra.NoFileCompletions,
		"process": f.CompleteProcesses(factory.AnyProcess),
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // the flag is not defined
		}
	}
	if err := cmd.MarkFlagDirname("cwd"); err != nil {
		panic(err)
	}
}

// historyKinds returns the valid values of --kind.
func historyKinds() []string { return []string{"session", "exec", "process", "added"} }

func search(f *factory.Factory, cmd *cobra.Command, args []string, opts historyFlags) error {
	in := api.HistorySearchInput{Query: strings.Join(args, " "), Actor: actorNamed(opts.actor), From: opts.from, Kind: opts.kind, Failed: opts.failed, Exact: opts.exact,
		Unique: opts.unique, Limit: opts.limit, Since: opts.since.Time()}
	if opts.limit < 1 {
		return output.Usagef(cmd, "show %d rows: must be at least 1", opts.limit)
	}
	if kinds := historyKinds(); opts.kind != "" && !slices.Contains(kinds, opts.kind) {
		return output.Usagef(cmd, "search kind %s: must be %s or %s", output.Visible(opts.kind), strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1])
	}
	if opts.cwd != "" || opts.here {
		dir, err := f.Folder(opts.cwd)
		if err != nil {
			return err
		}
		in.CWD = dir
	}
	client, err := f.Dial(cmd.Context())
	if err != nil {
		return err
	}
	defer client.Close()
	if in.Process = opts.process; in.Process != "" {
		// A process whose record is deleted is in the history by id only.
		if p, err := api.ProcessGet.Call(cmd.Context(), client, api.IDInput{ID: in.Process}); err == nil {
			in.Process = p.ID
		}
	}
	out, err := api.HistorySearch.Call(cmd.Context(), client, in)
	if err != nil {
		return err
	}
	err = output.AnswerList(f.Out, out.Rows, "no command was found"+doctor.HistoryNote(f.Host()), func() string { return historyTable(f.Out, out.Rows, opts.unique, time.Now()) })
	if err != nil {
		return err
	}
	if more := out.Total - len(out.Rows); more > 0 && !f.Out.JSON {
		f.Out.Tell("%d more; --limit shows them", more)
	}
	return nil
}

func historyTable(out output.Printer, rows []api.HistoryRow, unique bool, now time.Time) string {
	header := []string{"ID", "WHEN", "TOOK", "EXIT", "WHO", "FOLDER", "COMMAND"}
	if unique {
		header = slices.Insert(header, 1, "RUNS")
	}
	t := out.Table(header...)
	t.Spare = []string{"FOLDER", "WHO", "TOOK", "RUNS", "ID"}
	for _, r := range rows {
		cells := []output.Cell{output.Text(strconv.FormatInt(r.ID, 10))}
		if unique {
			cells = append(cells, output.Text(strconv.Itoa(r.Runs)))
		}
		exit, tint := output.CommandEnd(r.Command)
		folder := "-"
		if r.CWD != "" {
			folder = output.Visible(factory.TildePath(r.CWD))
		}
		t.Add(append(cells, output.Text(units.Ago(now.Sub(r.StartedAt))), output.Text(cmp.Or(units.Elapsed(r.DurationMS), "-")), output.Tinted(exit, tint),
			output.Text(output.WhoFrom(r.Actor, r.From)), output.Text(folder), output.Tinted(out.Escape(r.Command.Command, ""), output.Strong))...)
	}
	return t.String()
}
