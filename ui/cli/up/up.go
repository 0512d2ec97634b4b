// Package up implements the commands up and down, which start and stop what a project file describes.
// Reading the file, and the order, are in package project.
package up

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"

	"github.com/spf13/cobra"
)

type upFlags struct {
	file                         string
	wait, exitOnFailure          bool
	prune, dryRun, replace, list bool
	trust                        bool
	timeout                      factory.Duration
}

// NewUp returns the command up.
func NewUp(f *factory.Factory) *cobra.Command {
	var opts upFlags
	cmd := &cobra.Command{
		Use:   "up [NAME…] [-f FILE] [--wait] [--timeout D] [--prune] [--dry-run] [--list] [--trust]",
		Short: "Start what a project file describes",
		Long: "Starts the sessions and processes of a project file, each after what it depends\non, " +
			"or those that are named and what they need. Whatever already runs as described is\nleft alone; what has changed is restarted. " +
			"The file is tandem.yaml, a\nprocess-compose file or a Procfile, here or in a folder above. If there is none, the\n" +
			"scripts of package.json that you name are started. A file that others own or can write\nto is refused unless named with -f.",
		Example:           "tandem up\ntandem up web --wait\ntandem up --list\ntandem up -f deploy/tandem.yaml --dry-run",
		Annotations:       factory.Several.Annotations(),
		ValidArgsFunction: completeEntries(f, &opts.file, &opts.trust),
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.exitOnFailure && !opts.wait {
				return output.Usagef(cmd, "--exit-on-failure needs --wait")
			}
			file, err := project.Open(opts.file, opts.trust, f.Env)
			if err != nil {
				return err
			}
			if opts.list {
				return listEntries(f.Out, file, args)
			}
			return runUp(cmd.Context(), f, file, args, opts)
		},
	}
	cmd.Flags().StringVarP(&opts.file, "file", "f", "", "the project `file` (default: the next one above)")
	cmd.Flags().BoolVar(&opts.wait, "wait", false, "return when all with a readiness check are ready; fail if any has failed")
	cmd.Flags().BoolVar(&opts.exitOnFailure, "exit-on-failure", false, "with --wait, return as soon as anything fails")
	cmd.Flags().Var(&opts.timeout, "timeout", "stop watching after this long, and fail (default: never)")
	cmd.Flags().BoolVar(&opts.prune, "prune", false, "stop and delete entries that are no longer in the file")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&opts.list, "list", false, "only list the file's entries")
	addTrust(cmd, &opts.trust)
	cmd.Flags().BoolVar(&opts.replace, "recreate", false, "also restart what has not changed")
	completeFileFlag(cmd)
	return cmd
}

func addTrust(cmd *cobra.Command, trust *bool) {
	cmd.Flags().BoolVar(trust, "trust", false, "read the file found even if others own it or can write to it")
}

// runUp starts the entries of a project file.
func runUp(ctx context.Context, f *factory.Factory, file *project.File, names []string, opts upFlags) error {
	tellNotices(f.Out, file)
	order, err := file.Order(names)
	if err != nil {
		return err
	}
	if len(order) == 0 && !opts.prune {
		return noAutostartError(file)
	}
	if opts.dryRun {
		if err := dryRun(ctx, f, file, order, names, opts); err != nil {
			return err
		}
		return file.OmissionError(names)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	conn, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	list, err := api.ProcessList.Call(ctx, conn, api.ProcessListInput{Metrics: true})
	if err != nil {
		return err
	}
	plan := project.NewPlan(file, order, list.Processes, project.PlanOptions{Named: names, Replace: opts.replace})
	r := &project.Run{Out: f.Out, Size: f.TerminalSize, Conn: conn, File: file, Plan: plan, Wait: opts.wait, ExitOnFailure: opts.exitOnFailure, Timeout: time.Duration(opts.timeout)}
	// Another machine's engine uses its own environment.
	if f.Host() == "" {
		r.Environ, r.Umask, r.Session = f.Environ, f.StartUmask(), f.Env(factory.OwnSession)
	}
	if on, ok := output.Terminal(f.Stdout); ok && !f.Out.JSON && f.Env("TERM") != "dumb" {
		r.Live = on
	}
	if err := r.Up(ctx, opts.prune); err != nil {
		return err
	}
	return file.OmissionError(names)
}

// dryRun prints what up would do. It starts no engine.
func dryRun(ctx context.Context, f *factory.Factory, file *project.File, order []*project.Entry, names []string, opts upFlags) error {
	list, err := f.ListIfRunning(ctx, api.ProcessListInput{})
	if err != nil {
		return err
	}
	plan := project.NewPlan(file, order, list, project.PlanOptions{Named: names, Replace: opts.replace})
	steps := plan.Results(opts.prune)
	return f.Out.Answer(steps, func() string {
		var b strings.Builder
		for _, s := range steps {
			line := fmt.Sprintf("%s: %s", output.Visible(s.Name), s.Action.Planned())
			if len(s.After) > 0 {
				line += ", after " + output.Visible(strings.Join(s.After, ", "))
			}
			b.WriteString(line + "\n")
		}
		return b.String()
	})
}

// completeEntries completes with the names of entries in the project file.
func completeEntries(f *factory.Factory, path *string, trust *bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		file, err := project.Open(*path, *trust, f.Env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []cobra.Completion
		for _, e := range file.Entries {
			if !slices.Contains(args, e.Name) {
				found = append(found, cobra.CompletionWithDesc(e.Name, firstLine(e.Line())))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFileFlag(cmd *cobra.Command) {
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "Procfile") // fails only for an unknown flag
}
