// Package search implements `tandem search`: a search of the output of all sessions and processes.
package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/units"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

const (
	// maxCall is how many lines to request at once.
	maxCall = 1000
	// callWait is how long a call searches, in milliseconds. The first call has the engine's default.
	callWait = 200
)

type flags struct {
	fixed, exact   bool
	context, limit int
	since, until   factory.Moment
	in             api.OutputSearchInput // the conditions
}

// NewSearch returns the command search.
func NewSearch(f *factory.Factory) *cobra.Command {
	var opts flags
	cmd := &cobra.Command{
		Use:   "search PATTERN [-F] [-C N] [-n N] [--name NAME] [--failed] [--since T]",
		Short: "Search what sessions and processes have printed",
		Long: "Searches the output of all sessions and processes, those of exec and of agents too,\n" +
			"running or not, from before a reboot or after: what `tandem logs --grep` finds in each.\n" +
			"PATTERN is a regular expression (RE2), with -F plain text. Case matters if it has an\n" +
			"upper-case letter. Lines are matched as a terminal would show them, without colours.\n\n" +
			"The newest come first, as they are found: of what runs, the latest started first, then\n" +
			"of what has exited, the latest first; of each from its last line to its first. A\n" +
			"heading names the session or process and, if the shell reported it, the command that\n" +
			"printed the lines below, with its exit status. ~ is before a time that is only known\n" +
			"roughly; --since and --until keep such lines. --json prints an object for each line.\n" +
			"The exit status is 1 if nothing is found.",
		Example: "tandem search 'connection refused'\ntandem search -F 'panic: ' -C 3 --since 2d\n" +
			"tandem search error --name 'web*' --failed\ntandem search -n 0 --json 'status=5..' --all-hosts",
		Annotations:       factory.Several.Annotations(),
		Args:              factory.Exactly(1, "search for what? Give a pattern."),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.check(cmd, args[0]); err != nil {
				return err
			}
			return printHits(cmd.Context(), f, opts)
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&opts.fixed, "fixed", "F", false, "PATTERN is plain text")
	fs.BoolVarP(&opts.exact, "case-sensitive", "s", false, "case matters even without an upper-case letter")
	fs.IntVarP(&opts.context, "context", "C", 0, "`lines` around each match, at most 100")
	fs.IntVarP(&opts.limit, "limit", "n", 100, "`lines` at most; 0 for all")
	fs.StringVar(&opts.in.Name, "name", "", "only sessions and processes with this `name` or id, such as 'web*'")
	fs.StringVar(&opts.in.Project, "project", "", "only those of the project file with this `name`")
	fs.StringVar(&opts.in.Actor, "actor", "", "only of `who`: person, agent (any), or one exactly")
	fs.StringVar(&opts.in.Command, "command", "", "only those whose program and arguments contain this `text`")
	fs.StringVar(&opts.in.Kind, "kind", "", "only of this `kind`: session, process or exec")
	fs.BoolVar(&opts.in.Failed, "failed", false, "only what failed, and was not stopped on purpose")
	fs.BoolVar(&opts.in.Running, "running", false, "only what runs")
	fs.Var(&opts.since, "since", "only lines written since then, such as 30m, 2d, 2026-11-20 or 15:04")
	fs.Var(&opts.until, "until", "only lines written before then")
	completeFlags(f, cmd)
	return cmd
}

func completeFlags(f *factory.Factory, cmd *cobra.Command) {
	for flag, words := range map[string][]string{
		"actor": {api.Person, "agent"}, "kind": {"session", "process", "exec"}, "since": {"1h", "1d", "7d"}, "until": {"1h", "1d", "7d"},
		"context": nil, "limit": nil, "project": nil, "command": nil,
	} {
		factory.CompleteFlag(cmd, flag, words...)
	}
	// Fails only for unknown flags.
	_ = cmd.RegisterFlagCompletionFunc("name", f.CompleteProcesses(factory.AnyProcess))
}

// check completes the input and rejects an invalid one.
func (opts *flags) check(cmd *cobra.Command, pattern string) error {
	opts.in.Pattern = api.Pattern{Text: pattern, Regexp: !opts.fixed, Exact: opts.exact}
	opts.in.Context, opts.in.Since, opts.in.Until = opts.context, opts.since.Time(), opts.until.Time()
	expr, _ := opts.in.Expression()
	if _, err := regexp.Compile(expr); err != nil {
		return output.Usagef(cmd, "read PATTERN: %v", err)
	}
	switch kind := opts.in.Kind; {
	case pattern == "":
		return output.Usagef(cmd, "search for what? PATTERN is empty.")
	case opts.context < 0:
		return output.Usagef(cmd, "read --context %d: must be 0 or more lines", opts.context)
	case opts.limit < 0:
		return output.Usagef(cmd, "read --limit %d: must be 0 or more lines", opts.limit)
	case kind != "" && kind != "session" && kind != "process" && kind != "exec":
		return output.Usagef(cmd, "search kind %s: must be session, process or exec", output.Visible(kind))
	}
	return nil
}

// printHits searches until everything is searched or enough is found, and prints hits as they come.
func printHits(ctx context.Context, f *factory.Factory, opts flags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	ctx, release := output.WhileRead(ctx, f.Out.Stdout)
	defer release()
	conn, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	p := newPrinter(f, opts)
	for in := opts.in; ; in.WaitMS = callWait {
		in.Limit = maxCall
		if opts.limit > 0 {
			in.Limit = min(opts.limit-p.count, maxCall)
		}
		out, err := api.OutputSearch.Call(ctx, conn, in)
		p.clearProgress()
		if err == nil {
			err = p.print(out.Hits)
		}
		if err != nil {
			return interrupted(ctx, err)
		}
		if in.Cursor = out.Cursor; in.Cursor == nil || opts.limit > 0 && p.count >= opts.limit {
			return p.end(out)
		}
		p.showProgress(out)
	}
}

// interrupted returns the exit status of a search ended by ctrl+c, or by a closed pipe; err otherwise.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	var unread *output.ExitError
	if errors.As(context.Cause(ctx), &unread) {
		return unread
	}
	return &output.ExitError{Status: output.StatusSignal + int(syscall.SIGINT)}
}

// showProgress shows on a terminal how much is searched, while nothing is printed.
func (p *printer) showProgress(out api.OutputSearchOutput) {
	p.searched += out.Searched
	if to, ok := output.Terminal(p.out.Stderr); ok && p.count == 0 {
		fmt.Fprintf(to, "\r\x1b[Ksearched %s of %s", units.Bytes(p.searched), units.Bytes(p.searched+out.Left))
		p.progress = true
	}
}

func (p *printer) clearProgress() {
	if p.progress {
		fmt.Fprint(p.out.Stderr, "\r\x1b[K")
		p.progress = false
	}
}

// end reports logs and lines left out, and returns the exit status.
func (p *printer) end(last api.OutputSearchOutput) error {
	if last.Skipped > 0 {
		p.out.Tell("%d logs could not be read", last.Skipped)
	}
	if last.Cursor != nil && !p.out.JSON {
		p.out.Tell("stopped after the newest %d; -n 0 prints all", p.count)
	}
	if p.count == 0 {
		return &output.ExitError{Status: output.StatusFailed}
	}
	return nil
}
